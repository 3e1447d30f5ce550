// Backward passes whose operations compute gradients in another layout than the store keeps them
// in.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/machine/machine.h"
#include "scenarios/framework/case_data.h"
#include "scenarios/models/layers/convolution.h"
#include "scenarios/models/layers/images.h"
#include "scenarios/models/layers/linear.h"
#include "scenarios/models/models.h"
#include "scenarios/training/program/stage_program.h"

namespace parbench {
namespace {

constexpr std::int64_t samples = 3;

/// Wide enough for blocked weights.
Network convolutions(int count, bool bias = true) {
  Network net;
  net.name = "convolutions";
  net.input = {32, 6, 6};
  net.unit("all");
  int x = network_input;
  for (int i = 0; i < count; ++i) {
    x = net.add(fmt::format("conv{}", i),
                Convolution({.out_channels = 32, .window = {.kernel = 3, .padding = 1}}), {x});
  }
  x = net.add("avgpool", GlobalAveragePool(), {x});
  net.add("fc", Linear(5, bias), {x});
  return net;
}

Network one_convolution(bool bias = true) { return convolutions(1, bias); }

/// Linear layers without a bias, one for each number of outputs.
Network linear_layers_of(const std::vector<std::int64_t>& widths) {
  Network net;
  net.name = "linear layers";
  net.input = {widths.front()};
  net.unit("all");
  int x = network_input;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    x = net.add(fmt::format("linear{}", i), Linear(widths[i], false), {x});
  }
  return net;
}

/// A stage of the whole network with memory of its own, filled with random numbers.
class WholeNetwork {
 public:
  /// `own_layouts`: masters lie as operations compute gradients; else canonically. `is_read_once`:
  /// as of a ParameterStore.
  WholeNetwork(Context& context, const Network& network, bool own_layouts,
               bool is_read_once = false)
      : stream_(context.stream(0, StreamKind::compute)),
        data_(context),
        store_(stream_, is_read_once) {
    const StageRange range{.network = &network,
                           .first = 0,
                           .last = static_cast<int>(network.layers.size()) - 1,
                           .batch = samples};
    if (own_layouts) {
      StageProgram::add_parameters(stream_, range, samples, store_);
    } else {
      for (const ParameterSpec& spec : network.parameters())
        store_.add(spec, canonical(spec.shape));
    }
    program_ = std::make_unique<StageProgram>(stream_, range, samples, store_);
    make(Space::input, program_->inputs().bytes());
    make(Space::target, program_->desc_of(range.last).bytes);
    make(Space::loss, sizeof(float));
    make(Space::parameters, store_.bytes());
    make(Space::gradients, store_.bytes());
    make(Space::packed, store_.packed_bytes());
    make(Space::activations, program_->activation_bytes());
    make(Space::transient, program_->transient_bytes());
    fill(1, program_->inputs().tensors().front().desc, Space::input, 0);
    fill(2, program_->desc_of(range.last), Space::target, 0);
    std::uint64_t subsequence = 3;
    for (const ParameterStore::Entry& entry : store_.entries()) {
      fill(subsequence++, entry.master, Space::parameters, entry.offset);
    }
    run(store_.packing());
  }

  void step(bool accumulate) {
    run(program_->forward().calls);
    run(program_->backward(accumulate).calls);
  }
  [[nodiscard]] const StageProgram& program() const { return *program_; }
  [[nodiscard]] const ParameterStore& store() const { return store_; }

  [[nodiscard]] std::vector<float> gradient(const std::string& name) {
    const auto entry = std::ranges::find_if(store_.entries(),
                                            [&](const auto& one) { return one.spec.name == name; });
    return data_.read({.device = 0,
                       .desc = entry->master,
                       .view = base(Space::gradients).part(entry->offset, entry->master.bytes)});
  }

  [[nodiscard]] std::vector<float> values(Space space, const TensorDesc& tensor,
                                          std::size_t offset = 0) {
    return data_.read(
        {.device = 0, .desc = tensor, .view = base(space).part(offset, tensor.bytes)});
  }

  /// The parameters whose masters are not canonical.
  [[nodiscard]] long own_layouts() const {
    return std::ranges::count_if(store_.entries(),
                                 [](const auto& one) { return !one.master.layout.is_canonical(); });
  }

  /// Whether a call of any pass has an argument of that role.
  [[nodiscard]] bool has_argument(std::string_view role) const {
    const auto in = [&](const std::vector<SymbolicCall>& calls) {
      return std::ranges::any_of(calls,
                                 [&](const SymbolicCall& call) { return call.op->has(role); });
    };
    return in(program_->forward().calls) || in(program_->backward(false).calls) ||
           in(program_->backward(true).calls);
  }

  [[nodiscard]] long reorders(bool accumulate) const {
    return std::ranges::count_if(
        program_->backward(accumulate).calls,
        [](const SymbolicCall& call) { return call.op->name() == "reorder"; });
  }

 private:
  BufferView& base(Space space) { return bases_.at(static_cast<std::size_t>(space)); }

  void make(Space space, std::size_t bytes) {
    Buffer& buffer = buffers_.at(static_cast<std::size_t>(space));
    buffer = stream_.device().allocate(std::max<std::size_t>(bytes, 64), MemoryKind::device);
    base(space) = BufferView(buffer);
  }

  /// The same numbers in canonical order whatever the layout.
  void fill(std::uint64_t subsequence, const TensorDesc& tensor, Space space, std::size_t offset) {
    const TensorDesc plain = canonical(tensor.shape);
    const Buffer staging = stream_.device().allocate(plain.bytes, MemoryKind::device);
    const BufferView whole(staging);
    Op& draw = ops_.prepare(stream_,
                            Fill{.count = element_count(tensor.shape), .subsequence = subsequence});
    Op& reorder = ops_.prepare(stream_, Reorder{.source = plain, .destination = tensor});
    run({bind<SymbolicView>(draw, {{"destination", whole}}),
         bind<SymbolicView>(reorder, {{"source", whole},
                                      {"destination", base(space).part(offset, tensor.bytes)}})});
  }

  void run(const std::vector<SymbolicCall>& calls) {
    for (const Call& call : rebase(calls, bases_)) {
      const auto& op = std::get<OpCall>(call);
      op.op->enqueue(stream_, op.views);
    }
    stream_.synchronize();
  }

  Stream& stream_;
  CaseData data_;
  ParameterStore store_;
  OpSet ops_;
  std::unique_ptr<StageProgram> program_;
  std::array<Buffer, space_count> buffers_;
  Bases bases_;
};

void expect_close(const std::vector<float>& got, const std::vector<float>& want, float factor) {
  ASSERT_EQ(got.size(), want.size());
  float largest = 0;
  for (const float value : want) largest = std::max(largest, std::abs(factor * value));
  ASSERT_GT(largest, 0);
  for (std::size_t i = 0; i < want.size(); ++i) {
    ASSERT_NEAR(got[i], factor * want[i], 1e-5 * largest) << i;
  }
}

TEST(TunedProducts, AreEveryPassOfEveryConvolutionAndLinearLayer) {
  const Network network = resnet(50, 64);
  const StageRange whole{.network = &network,
                         .first = 0,
                         .last = static_cast<int>(network.layers.size()) - 1,
                         .dtype = DType::bf16,
                         .batch = samples};
  std::map<std::string_view, int> counts;
  for (const OpDesc& desc : StageProgram::products(whole, samples)) {
    ++counts[std::visit([](const auto& one) { return name_of(one); }, desc)];
  }
  const std::map<std::string_view, int> expected{
      {"convolution_forward", 53},          {"convolution_backward_data", 52},
      {"convolution_backward_weights", 53}, {"linear_forward", 1},
      {"linear_backward_data", 1},          {"linear_backward_weights", 1}};
  EXPECT_EQ(counts, expected) << "nothing reads the gradient of the images";
}

TEST(StageProgram, ComputesNothingForABiasThatALayerDoesNotHave) {
  Context context(Machine().open("cpu:0"), {});
  const Network with = one_convolution(true);
  const Network without = one_convolution(false);
  const WholeNetwork biased(context, with, true);
  EXPECT_TRUE(biased.has_argument("bias"));
  EXPECT_TRUE(biased.has_argument("diff_bias"));
  const WholeNetwork unbiased(context, without, true);
  EXPECT_FALSE(unbiased.has_argument("bias"));
  EXPECT_FALSE(unbiased.has_argument("diff_bias"));
}

TEST(BackwardWriter, GradientsGoThroughTemporariesIntoAnotherLayout) {
  Context context(Machine().open("cpu:0"), {});
  const Network network = one_convolution();
  WholeNetwork direct(context, network, true);
  WholeNetwork canonical_masters(context, network, false);
  if (direct.own_layouts() == 0) GTEST_SKIP() << "operations compute canonical gradients here";
  ASSERT_EQ(direct.reorders(false), 0);
  ASSERT_EQ(canonical_masters.own_layouts(), 0);
  ASSERT_GE(canonical_masters.reorders(false), direct.own_layouts());
  ASSERT_EQ(canonical_masters.reorders(true), direct.own_layouts()) << "others are added up";

  direct.step(false);
  canonical_masters.step(false);
  for (const ParameterSpec& spec : network.parameters()) {
    SCOPED_TRACE(spec.name);
    expect_close(canonical_masters.gradient(spec.name), direct.gradient(spec.name), 1);
  }
  canonical_masters.step(true);
  for (const ParameterSpec& spec : network.parameters()) {
    SCOPED_TRACE(spec.name + ", added to");
    expect_close(canonical_masters.gradient(spec.name), direct.gradient(spec.name), 2);
  }
}

TEST(BackwardWriter, OfTheOnlyMicroBatchMakesTheCopiesThatItAloneReads) {
  Context context(Machine().open("cpu:0"), {});
  const Network network = convolutions(4);
  WholeNetwork often(context, network, true);
  WholeNetwork once(context, network, true, true);
  if (once.store().packed_bytes() == often.store().packed_bytes()) {
    GTEST_SKIP() << "the data's gradient reads the weights as another pass does here";
  }
  EXPECT_LT(once.store().packed_bytes(), often.store().packed_bytes());
  EXPECT_EQ(often.reorders(false), 0);
  EXPECT_EQ(once.reorders(false), 3) << "nothing reads the gradient of the images";
  often.step(false);
  once.step(false);
  for (const ParameterSpec& spec : network.parameters()) {
    SCOPED_TRACE(spec.name);
    EXPECT_EQ(once.gradient(spec.name), often.gradient(spec.name));
  }
}

using Rows = std::vector<std::vector<double>>;

Rows rows_of(const std::vector<float>& values, std::size_t count) {
  Rows rows(count);
  const std::size_t width = values.size() / count;
  for (std::size_t i = 0; i < values.size(); ++i) rows[i / width].push_back(values[i]);
  return rows;
}

/// The gradients of linear layers by definition, in the order of the layers.
std::vector<std::vector<double>> naive_gradients(WholeNetwork& whole) {
  const StageProgram& program = whole.program();
  const auto& input = program.inputs().tensors().front().desc;
  std::vector<Rows> sources{rows_of(whole.values(Space::input, input), samples)};
  std::vector<Rows> weights;
  for (const ParameterStore::Entry& entry : whole.store().entries()) {
    weights.push_back(rows_of(whole.values(Space::parameters, entry.master, entry.offset),
                              static_cast<std::size_t>(entry.spec.shape.front())));
    Rows output;
    for (const std::vector<double>& source : sources.back()) {
      std::vector<double>& sample = output.emplace_back();
      for (const std::vector<double>& row : weights.back()) {
        sample.push_back(std::inner_product(row.begin(), row.end(), source.begin(), 0.0));
      }
    }
    sources.push_back(std::move(output));
  }
  const TensorDesc output = program.desc_of(static_cast<int>(weights.size()) - 1);
  Rows gradient = rows_of(whole.values(Space::target, output), samples);
  for (std::size_t n = 0; n < samples; ++n) {
    for (std::size_t i = 0; i < gradient[n].size(); ++i) {
      gradient[n][i] = 2 * (sources.back()[n][i] - gradient[n][i]) /
                       static_cast<double>(samples * gradient[n].size());
    }
  }
  std::vector<std::vector<double>> found(weights.size());
  for (std::size_t layer = weights.size(); layer-- > 0;) {
    Rows next(samples, std::vector<double>(sources[layer].front().size()));
    for (std::size_t o = 0; o < weights[layer].size(); ++o) {
      for (std::size_t i = 0; i < next.front().size(); ++i) {
        double sum = 0;
        for (std::size_t n = 0; n < samples; ++n) {
          sum += gradient[n][o] * sources[layer][n][i];
          next[n][i] += gradient[n][o] * weights[layer][o][i];
        }
        found[layer].push_back(sum);
      }
    }
    gradient = std::move(next);
  }
  return found;
}

TEST(BackwardWriter, GradientsTakeThePlaceOfActivationsThatAreBehind) {
  Context context(Machine().open("cpu:0"), {});
  const std::vector<std::int64_t> widths{64, 64, 64, 64, 32, 32, 32, 32, 16, 16, 16, 16, 16};
  const Network network = linear_layers_of(widths);
  WholeNetwork whole(context, network, true);
  constexpr std::size_t row = samples * sizeof(float);
  EXPECT_EQ(whole.program().activation_bytes(),
            row * static_cast<std::size_t>(std::reduce(widths.begin(), widths.end())));
  EXPECT_EQ(whole.program().transient_bytes(), row * 16 * 2)
      << "those of the last two layers, whose activations checks read behind the step";
  const auto gradients = naive_gradients(whole);
  whole.step(false);
  for (std::size_t layer = 0; layer < network.layers.size(); ++layer) {
    SCOPED_TRACE(layer);
    const std::vector<float> want(gradients[layer].begin(), gradients[layer].end());
    expect_close(whole.gradient(fmt::format("linear{}.weight", layer)), want, 1);
  }
}

}  // namespace
}  // namespace parbench
