// No operation of a model that ships runs on a reference implementation of oneDNN, whatever the
// size of image and batch, and none on instructions that oneDNN must not use.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/cpu/runtime/instruction_sets.h"
#include "kernels/ops/operands.h"
#include "scenarios/framework/symbolic.h"
#include "scenarios/models/layers/composition.h"
#include "scenarios/models/layers/passes.h"
#include "scenarios/models/models.h"
#include "tests/support/cpu_devices.h"

namespace parbench {
namespace {

using Setting = std::tuple<DType, int>;  // element type, threads

std::string name_of_setting(const testing::TestParamInfo<Setting>& information) {
  const auto [dtype, threads] = information.param;
  return std::string(to_string(dtype)) + "_" + std::to_string(threads) + "threads";
}

/// Plans the operations that a pass of a layer asks for; there is no memory behind its views.
template <class Pass>
class PlanningPass : public Pass {
 public:
  using Plan = std::function<Op&(const OpDesc&)>;

  PlanningPass(const Device& device, LayerWork work, Plan plan)
      : device_(device), work_(std::move(work)), plan_(std::move(plan)) {}

  [[nodiscard]] const LayerWork& work() const override { return work_; }
  [[nodiscard]] Op& prepare(const OpDesc& desc) override { return plan_(desc); }
  void emit(Op& /*op*/, const std::vector<SymbolicBinding>& /*bindings*/) override {}
  [[nodiscard]] TensorDesc activation(const Shape& shape) const override {
    return device_.activation(shape, work_.dtype);
  }
  [[nodiscard]] SymbolicView input(std::size_t /*which*/) const override { return nowhere(); }
  [[nodiscard]] SymbolicView parameter(std::string_view /*role*/,
                                       const TensorDesc& /*wanted*/) override {
    return nowhere();
  }

 protected:
  [[nodiscard]] static SymbolicView nowhere() { return {Space::transient, 0, 1U << 31U}; }

 private:
  const Device& device_;
  LayerWork work_;
  Plan plan_;
};

class PlanningForward final : public PlanningPass<ForwardPass> {
 public:
  using PlanningPass::PlanningPass;
  [[nodiscard]] SymbolicView place_output(std::size_t /*bytes*/) override { return nowhere(); }
  [[nodiscard]] SymbolicView keep(std::string_view /*name*/, std::size_t /*bytes*/) override {
    return nowhere();
  }
  [[nodiscard]] SymbolicView scratch(std::size_t /*bytes*/) override { return nowhere(); }
  [[nodiscard]] SymbolicView statistics() const override { return nowhere(); }
};

/// The gradient of the output comes from so many readers.
class PlanningBackward final : public PlanningPass<BackwardPass> {
 public:
  PlanningBackward(const Device& device, LayerWork work, Plan plan, std::size_t readers)
      : PlanningPass(device, std::move(work), std::move(plan)), readers_(readers) {}

  [[nodiscard]] bool accumulates() const override { return false; }
  [[nodiscard]] SymbolicView output() const override { return nowhere(); }
  [[nodiscard]] SymbolicView kept(std::string_view /*name*/) const override { return nowhere(); }
  [[nodiscard]] Gradient gradient() override { return {nowhere()}; }
  [[nodiscard]] std::vector<Gradient> gradient_in_parts() override {
    return std::vector<Gradient>(readers_, {nowhere()});
  }
  [[nodiscard]] bool is_wanted(std::size_t /*which*/) const override { return true; }
  [[nodiscard]] bool is_exclusive(const Gradient& /*gradient*/) const override { return false; }
  [[nodiscard]] Gradient make(std::size_t /*which*/, std::size_t /*bytes*/) override {
    return {nowhere()};
  }
  [[nodiscard]] Gradient reuse(const Gradient& taken, std::size_t /*which*/,
                               std::size_t /*bytes*/) override {
    return taken;
  }
  [[nodiscard]] Gradient make_temporary(std::size_t /*bytes*/) override { return {nowhere()}; }
  void share(const Gradient& /*gradient*/) override {}
  void release(const Gradient& /*gradient*/) override {}
  void contribute(std::size_t /*which*/, const Gradient& /*gradient*/) override {}
  [[nodiscard]] SymbolicView parameter_gradient(std::string_view /*role*/) override {
    return nowhere();
  }
  void emit_parameter_gradients(const OpDesc& overwriting, const OpDesc& adding,
                                std::vector<SymbolicBinding> /*bindings*/,
                                const std::vector<std::string_view>& /*roles*/) override {
    (void)prepare(overwriting);
    (void)prepare(adding);
  }

 private:
  std::size_t readers_;
};

/// An operation by its name and operands.
std::string key_of(const OpDesc& desc) {
  std::string key{name_of(desc)};
  for (const Operand& operand : operands_of(desc)) {
    key += fmt::format(" {} {} {}", operand.role, to_string(operand.tensor.shape),
                       operand.access == Access::read_write ? "added to" : "");
  }
  return key;
}

/// As the names of oneDNN's kernels have them: "avx512_core_bf16".
std::vector<std::string> instruction_sets_not_in_use() {
  const auto used = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  std::vector<std::string> names;
  for (const cpu::InstructionSet& set : cpu::instruction_sets()) {
    if ((static_cast<unsigned>(set.isa) & ~used) == 0) continue;
    names.emplace_back(set.limit);
    for (char& letter : names.back()) letter = static_cast<char>(std::tolower(letter));
  }
  return names;
}

/// Plans the operations of models, each of them once.
class OptimisedKernels : public testing::TestWithParam<Setting> {
 protected:
  OptimisedKernels() : dtype_(std::get<0>(GetParam())), threads_(std::get<1>(GetParam())) {}

  void SetUp() override {
    try {
      (void)device_->prepare(LinearForward{.shape = {1, 8, 8}, .dtype = dtype_}, threads_);
    } catch (const Unsupported& reason) {
      GTEST_SKIP() << reason.what();
    }
  }

  void plan(const Network& network, std::int64_t samples) {
    for (const Layer& layer : network.layers) {
      if (samples >= layer.kind->min_samples(layer.output)) plan(network, layer, samples);
    }
    const Shape output = with_samples(samples, network.layers.back().output);
    (void)planned(MseLoss{output, dtype_, element_count(output)}, network.name + ", loss");
    for (const Layer& layer : network.layers) {  // gradients that meet
      const Shape shape = with_samples(samples, layer.output);
      (void)planned(Add{shape, dtype_}, network.name + " behind " + layer.name);
    }
  }

  [[nodiscard]] std::size_t planned_count() const { return planned_.size(); }
  /// Layers of general operations that reorder what they read or write.
  [[nodiscard]] const std::set<std::string>& reordered() const { return reordered_; }

 private:
  void plan(const Network& network, const Layer& layer, std::int64_t samples) {
    const LayerWork work = network.work_of(layer, samples, {dtype_});
    const std::string name =
        network.name + " " + layer.name + " on " + to_string(work.inputs.front());
    const bool is_composed = as<Composition>(layer) != nullptr;
    const auto plan_op = [&](const OpDesc& desc) -> Op& {
      if (is_composed && std::holds_alternative<Reorder>(desc)) reordered_.insert(name);
      return planned(desc, name);
    };
    PlanningForward forward(*device_, work, plan_op);
    layer.kind->write_forward(forward);
    for (const std::size_t readers : {1, 2}) {
      PlanningBackward backward(*device_, work, plan_op, readers);
      layer.kind->write_backward(backward);
    }
  }

  Op& planned(const OpDesc& desc, const std::string& layer) {
    auto& op = planned_[key_of(desc)];
    if (op) return *op;
    op = device_->prepare(desc, threads_);
    EXPECT_FALSE(op->is_reference())
        << op->name() << " of " << layer << ": " << op->implementation();
    for (const std::string& isa : forbidden_) {
      EXPECT_EQ(op->implementation().find(isa), std::string::npos) << op->implementation();
    }
    return *op;
  }

  DType dtype_;
  int threads_;
  const std::vector<std::string> forbidden_ = instruction_sets_not_in_use();
  std::unique_ptr<Device> device_ = std::move(test::cpu_devices(1).front());
  std::map<std::string, std::unique_ptr<Op>> planned_;
  std::set<std::string> reordered_;
};

TEST_P(OptimisedKernels, ComputeEveryLayerOfResNet50) {
  for (const std::int64_t image : {32, 64, 80, 96, 112, 128, 224}) {
    const Network network = resnet(50, image);
    for (const std::int64_t samples : {1, 2, 6, 12, 24}) plan(network, samples);
  }
  EXPECT_GT(planned_count(), 2000);
}

TEST_P(OptimisedKernels, ComputeEveryLayerOfTheOtherModels) {
  for (const Model& model : models()) {
    if (model.name != "resnet50") plan(model.make(model.sizes), 6);
  }
  EXPECT_GT(planned_count(), 50);
  EXPECT_THAT(reordered(), testing::IsEmpty()) << "layers compute in the device's layout";
}

TEST_P(OptimisedKernels, ComputeEveryLayerOfThePerceptron) {
  for (const std::int64_t samples : {1, 3, 20}) plan(toy_model(), samples);
  EXPECT_GT(planned_count(), 10);
}

INSTANTIATE_TEST_SUITE_P(Settings, OptimisedKernels,
                         testing::Combine(testing::Values(DType::f32, DType::bf16),
                                          testing::Values(1, 2)),
                         name_of_setting);

}  // namespace
}  // namespace parbench
