// Training in stages against a naive network: loss, gradients by finite differences, the update.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "bench/execution/executor.h"
#include "kernels/base/error.h"
#include "kernels/core/crossing.h"
#include "kernels/machine/machine.h"
#include "scenarios/training/checks/step_checks.h"
#include "scenarios/training/checks/update_checks.h"
#include "scenarios/training/completion.h"
#include "scenarios/training/step/training_step.h"
#include "tests/scenarios/training/naive_network.h"
#include "tests/scenarios/training/small_networks.h"
#include "tests/support/cpu_devices.h"
#include "tests/support/other_device.h"
#include "tests/support/required_devices.h"

namespace parbench {
namespace {

constexpr float learning_rate = 0.01F;

/// Whose devices the stages are on, by turns.
enum class Backends { cpu, cpu_and_other, other_and_cpu, cpu_and_cuda, cuda_and_cpu };

/// None, with the reason, where this machine does not have them.
/// In the order of the stages; nothing for devices that tests make themselves.
std::string gpu_devices(Backends backends) {
  switch (backends) {
    case Backends::cpu_and_cuda:
      return "cpu:0,cuda:0";
    case Backends::cuda_and_cpu:
      return "cuda:0,cpu:0";
    case Backends::cpu:
    case Backends::cpu_and_other:
    case Backends::other_and_cpu:
      break;
  }
  return "";
}

std::vector<std::unique_ptr<Device>> open_devices(Backends backends, int stages, std::string& why) {
  const Machine machine;
  if (const std::string names = gpu_devices(backends); !names.empty()) {
    const Backend* cuda = machine.find("cuda");
    if (cuda != nullptr && cuda->device_count() > 0) return machine.open(names);
    why = "this machine has no device cuda:0";
    return {};
  }
  if (stages > machine.find("cpu")->device_limit()) {
    why = "this machine has fewer cores than the setting has stages";
    return {};
  }
  if (backends == Backends::cpu) return test::cpu_devices(stages);
  return test::mixed_devices(stages, backends == Backends::other_and_cpu);
}

struct Setting {
  std::string name;
  std::string model;
  std::vector<std::int64_t> micro_batches;
  std::string schedule;
  std::vector<int> partition;
  DType dtype = DType::f32;
  Backends backends = Backends::cpu;
  bool recompute = false;
};
void PrintTo(const Setting& setting, std::ostream* out) { *out << setting.name; }

std::vector<double> widened(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}

/// How far training may be from the naive network, which computes in double on the same images,
/// target and parameters.
struct Closeness {
  double loss = 0;      // relative
  double gradient = 0;  // of a tensor's root mean square
};

Closeness closeness_of(DType dtype) {
  // Every activation, weight and gradient is rounded to 8 bits, layer after layer.
  if (dtype == DType::bf16) return {.loss = 1e-2, .gradient = 0.03};
  return {.loss = 1e-4, .gradient = 2e-3};
}

class TrainingTest : public ::testing::TestWithParam<Setting> {
 protected:
  void SetUp() override {
    const Setting& setting = GetParam();
    network_ = test::small_network(setting.model);
    const int stages = static_cast<int>(setting.partition.size()) + 1;
    std::string why;
    std::vector<std::unique_ptr<Device>> devices = open_devices(setting.backends, stages, why);
    if (devices.empty()) SKIP_WITHOUT_DEVICES(gpu_devices(setting.backends), why);
    context_ = std::make_unique<Context>(std::move(devices), Context::Options{});
    if (!has_dtype()) GTEST_SKIP() << "this machine has no native " << to_string(setting.dtype);
    context_->begin_case();
    parts_ = prepare_step(
        *context_, network_,
        {.format = {.dtype = setting.dtype}, .optimizer = {.learning_rate = learning_rate}},
        {.grid = {.stages = stages},
         .partition = setting.partition,
         .schedule = setting.schedule,
         .micro_batches = {setting.micro_batches},
         .recompute = setting.recompute});
    batch_ = parts_->layout.samples();
    parts_->data.finish();
    context_->commit();
    parts_->data.reset();
  }

  [[nodiscard]] bool has_dtype() const {
    Stream& stream = context_->stream(0, StreamKind::compute);
    try {
      static_cast<void>(
          OpSet().prepare(stream, LinearForward{.shape = {}, .dtype = GetParam().dtype}));
    } catch (const Unsupported&) {
      return false;
    }
    return true;
  }

  [[nodiscard]] test::NamedParameters read_parameters() const {
    test::NamedParameters found;
    for (const auto& stage : parts_->stages) {
      for (const Stage::TrainedParameter& parameter : stage->parameters()) {
        found[parameter.spec.name] = widened(parts_->data.read(parameter.master));
      }
    }
    return found;
  }

  [[nodiscard]] std::map<std::string, std::vector<double>> read_outputs() const {
    std::map<std::string, std::vector<double>> found;
    for (const Output& output : parts_->outputs) found[output.name] = widened(output.read());
    return found;
  }

  /// Mean squared error of the batch, micro-batch by micro-batch.
  [[nodiscard]] double naive_loss(const test::NamedParameters& parameters) const {
    const std::vector<double> target = widened(parts_->data.read(parts_->stages.back()->target()));
    const std::int64_t values = static_cast<std::int64_t>(target.size()) / batch_;  // of a sample
    double sum = 0;
    std::int64_t first = 0;
    for (std::size_t micro_batch = 0; micro_batch < GetParam().micro_batches.size();
         ++micro_batch) {
      const std::int64_t count = GetParam().micro_batches[micro_batch];
      const Stage& stage = *parts_->stages.front();
      const Stage::Passing input = stage.inputs(static_cast<int>(micro_batch)).front();
      const std::vector<double> images =
          widened(parts_->data.read(Tensor{.device = 0, .desc = input.desc, .view = input.values}));
      sum += test::total_loss(
          network_, parameters, images,
          {target.begin() + first * values, target.begin() + (first + count) * values}, count);
      first += count;
    }
    const auto is_counted = [&](double value) {
      return network_.loss != Loss::cross_entropy || value >= 0;
    };
    return sum / static_cast<double>(std::ranges::count_if(target, is_counted));
  }

  Network network_;
  std::int64_t batch_ = 0;
  std::unique_ptr<Context> context_;
  std::unique_ptr<TrainingStep> parts_;
};

TEST_P(TrainingTest, LossGradientsAndUpdateAreThoseOfTheNaiveNetwork) {
  const test::NamedParameters before = read_parameters();
  Executor(parts_->plan).run();
  const auto outputs = read_outputs();
  const Closeness close = closeness_of(GetParam().dtype);
  EXPECT_NEAR(outputs.at("loss")[0], naive_loss(before), close.loss * naive_loss(before));

  for (const auto& [name, values] : before) {
    const std::vector<double>& gradient = outputs.at("gradient of " + name);
    ASSERT_EQ(gradient.size(), values.size());
    double square = 0;
    for (const double element : gradient) square += element * element;
    const double scale = std::sqrt(square / static_cast<double>(gradient.size()));
    for (const std::size_t element : {std::size_t{0}, values.size() / 3, values.size() - 1}) {
      // Small enough that few ReLUs change sides, large enough for double precision.
      constexpr double step = 1e-6;
      test::NamedParameters moved = before;
      moved[name][element] += step;
      const double above = naive_loss(moved);
      moved[name][element] -= 2 * step;
      const double slope = (above - naive_loss(moved)) / (2 * step);
      EXPECT_NEAR(gradient[element], slope, close.gradient * scale + 1e-7)
          << name << " " << element;
    }
  }

  const test::NamedParameters after = read_parameters();
  for (const auto& [name, values] : before) {
    const std::vector<double>& gradient = outputs.at("gradient of " + name);
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_NEAR(after.at(name)[i], values[i] - learning_rate * gradient[i],
                  1e-6 * (1 + std::abs(values[i])))
          << name << " " << i;
    }
  }
}

TEST_P(TrainingTest, SecondStepStartsFromTheUpdatedParameters) {
  Executor executor(parts_->plan);
  executor.run();
  const test::NamedParameters after_first = read_parameters();
  executor.run();
  // Gradients and loss are overwritten, not added to, and copies of parameters are up to date.
  EXPECT_NEAR(read_outputs().at("loss")[0], naive_loss(after_first),
              closeness_of(GetParam().dtype).loss * naive_loss(after_first));
}

/// What the checks of a step find wrong; empty: nothing.
std::string findings(const std::vector<Check>& checks) {
  for (const Check& check : checks) {
    if (const auto wrong = check.run()) return *wrong;
  }
  return "";
}

/// The first element of a tensor, in memory of a CPU device. In every layout it comes first.
float& first_of(const Tensor& tensor) { return *reinterpret_cast<float*>(tensor.view.data()); }

TEST_P(TrainingTest, ChecksFindEveryDamage) {
  const Setting& setting = GetParam();
  for (int device = 0; device < context_->device_count(); ++device) {
    if (context_->device(device).info().backend == "cuda") GTEST_SKIP() << "no memory of the host";
  }
  const std::vector<Check>& checks = parts_->checks;
  EXPECT_NE(findings(checks), "") << "what has not run passes for right";
  Executor executor(parts_->plan);
  executor.run();
  ASSERT_EQ(findings(checks), "");

  const Stage& last = *parts_->stages.back();
  const bool recomputes = setting.model == "toy" || last.holds_whole_batch();
  const auto damaged = [&](const Tensor& tensor, float by) {
    float& value = first_of(tensor);
    const float intact = std::exchange(value, value + by);
    std::string found = findings(checks);
    value = intact;
    return found;
  };
  const float loss = first_of(last.loss());
  if (recomputes) {
    EXPECT_THAT(damaged(last.loss(), 0.05F * loss), testing::HasSubstr("loss"));
  }
  EXPECT_THAT(damaged(last.loss(), -2 * loss), testing::HasSubstr("loss"));
  for (const Stage::TrainedParameter& parameter : last.parameters()) {
    EXPECT_THAT(damaged(parameter.master, 1e-3F), testing::HasSubstr(parameter.spec.name));
    const bool of_last_layer = parameter.spec.layer == static_cast<int>(network_.layers.size()) - 1;
    if (!recomputes || !of_last_layer || parameter.spec.role != "weights") continue;
    EXPECT_THAT(damaged(parameter.gradient, 0.1F), testing::HasSubstr(parameter.spec.name));
  }

  executor.run();
  const auto update =
      std::ranges::find(checks, "sampled parameters after the update", &Check::what);
  ASSERT_NE(update, checks.end());
  EXPECT_THAT(findings({*update}), testing::HasSubstr("after the update"))
      << "two updates pass for one";
}

/// The small network partition once, in f32, over two backends.
Setting mixed(const std::string& name, std::vector<std::int64_t> micro_batches,
              const std::string& schedule, int partition, Backends backends) {
  return {name, "small", std::move(micro_batches), schedule, {partition}, DType::f32, backends};
}

/// Only what crosses units is kept, on CPU devices.
Setting recomputed(const std::string& name, const std::string& model,
                   std::vector<std::int64_t> micro_batches, std::vector<int> partition) {
  return {name,          model, std::move(micro_batches), "gpipe", std::move(partition), DType::f32,
          Backends::cpu, true};
}

/// Whether a call converts a tensor from one layout to another.
bool changes_layout(const OpCall& reorder) {
  return reorder.op->tensor("source") != reorder.op->tensor("destination");
}

/// The reorders that boundaries between stages need: where the two sides of a tensor differ, each
/// side that is not canonical has one for the values and one for their gradient.
int needed_at_boundaries(const std::vector<std::unique_ptr<Stage>>& stages, int micro_batches) {
  int needed = 0;
  for (std::size_t s = 1; s < stages.size(); ++s) {
    for (int micro_batch = 0; micro_batch < micro_batches; ++micro_batch) {
      const std::vector<Stage::Passing> from = stages[s - 1]->outputs(micro_batch);
      const std::vector<Stage::Passing> to = stages[s]->inputs(micro_batch);
      for (std::size_t i = 0; i < to.size(); ++i) {
        if (from[i].desc == to[i].desc) continue;
        const int directions = to[i].gradient.bytes > 0 ? 2 : 1;
        for (const TensorDesc& side : {from[i].desc, to[i].desc}) {
          needed += side.layout.is_canonical() ? 0 : directions;
        }
      }
    }
  }
  return needed;
}

/// Gradients of parameters lie as the first micro-batch's operations compute them, except those of
/// a tied head, which lie like the table. Operations on another number of samples may compute
/// another layout.
TEST_P(TrainingTest, OnlyUnlikeLayoutsAreReordered) {
  const std::vector<std::int64_t>& micro_batches = GetParam().micro_batches;
  int at_boundaries = 0;
  int copies = 0;
  std::map<std::pair<TaskId, std::string>, bool> changes;  // by task and layer: a layout
  for (std::size_t i = 0; i < parts_->plan.calls().size(); ++i) {
    const Task& task = parts_->plan.graph().tasks[i];
    if (!task.name.starts_with("forward") && !task.name.starts_with("backward")) continue;
    const auto samples = micro_batches.at(static_cast<std::size_t>(task.micro_batch.value()));
    for (const Call& call : parts_->plan.calls()[i]) {
      const auto* op = std::get_if<OpCall>(&call);
      if (op == nullptr || op->op->name() != "reorder" || op->layer == "flatten" ||
          op->layer == "mirrored") {  // general operations read tensors in canonical order
        continue;
      }
      if (std::ranges::any_of(parts_->stages, [&](const auto& stage) {  // a copy of a parameter
            return overlap(op->views.front(), stage->region().parameters);
          })) {
        continue;
      }
      if (op->layer.empty()) {
        ++(changes_layout(*op) ? at_boundaries : copies);
        continue;
      }
      bool& changed = changes[{static_cast<TaskId>(i), op->layer}];
      changed = changed || changes_layout(*op);
      EXPECT_TRUE(op->layer == "lm_head" || samples != micro_batches[0])
          << task.name << " " << op->layer;
    }
  }
  const auto count = static_cast<int>(micro_batches.size());
  EXPECT_EQ(at_boundaries, needed_at_boundaries(parts_->stages, count));
  EXPECT_TRUE(GetParam().backends != Backends::cpu || at_boundaries == 0) << "alike devices";
  // A sum gives its gradient to two layers: one of them has it copied to the boundary.
  EXPECT_EQ(copies, GetParam().model == "skips" ? count : 0);
  for (const auto& [layer, changed] : changes) {
    EXPECT_TRUE(changed) << layer.second << " reorders gradients that lie as they should";
  }
}

TEST_P(TrainingTest, EachCopyReachesBothEnds) {
  for (const Task& task : parts_->plan.graph().tasks) {
    if (task.kind != TaskKind::copy) continue;
    const Device& from = parts_->plan.stream(task.lanes.front()).device();
    for (const auto& stage : parts_->stages) {
      EXPECT_TRUE(reaches(from, context_->device(stage->device()))) << task.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Settings, TrainingTest,
    ::testing::Values(
        Setting{"OneStageWholeBatch", "small", {6}, "gpipe", {}},
        Setting{"OneStageInMicroBatches", "small", {4, 4, 2}, "gpipe", {}},
        Setting{"CutBeforeProjection", "small", {4, 4, 2}, "gpipe", {1}},
        Setting{"CutBeforeIdentity", "small", {4, 4, 2}, "gpipe", {2}},
        Setting{"CutBeforeHead", "small", {3, 2}, "gpipe", {3}},
        Setting{"AlternatingSchedule", "small", {2, 2, 2, 1}, "1f1b", {2}},
        mixed("CpuThenOther", {4, 4, 2}, "gpipe", 2, Backends::cpu_and_other),
        mixed("OtherThenCpu", {4, 4, 2}, "1f1b", 1, Backends::other_and_cpu),
        mixed("CpuThenOtherBeforeHead", {3, 2}, "gpipe", 3, Backends::cpu_and_other),
        mixed("CpuThenCuda", {4, 4, 2}, "gpipe", 2, Backends::cpu_and_cuda),
        mixed("CudaThenCpu", {4, 4, 2}, "1f1b", 1, Backends::cuda_and_cpu),
        Setting{
            "ToyOnCpuAndOther", "toy", {7, 7, 6}, "1f1b", {1}, DType::f32, Backends::cpu_and_other},
        Setting{"Toy", "toy", {20}, "gpipe", {1}}, Setting{"Plain", "plain", {3}, "gpipe", {}},
        Setting{"PlainInStages", "plain", {2, 2}, "1f1b", {1}},
        Setting{"Branches", "branches", {4}, "gpipe", {}},
        Setting{"BranchesInStages", "branches", {2, 2, 1}, "1f1b", {2}},
        Setting{"BranchesOnCpuAndOther",
                "branches",
                {3, 2},
                "gpipe",
                {1},
                DType::f32,
                Backends::cpu_and_other},
        Setting{"Channels", "channels", {3}, "gpipe", {}},
        Setting{"ChannelsInStages", "channels", {2, 2, 1}, "1f1b", {2}},
        Setting{"ChannelsOnCpuAndOther",
                "channels",
                {2, 2},
                "gpipe",
                {1},
                DType::f32,
                Backends::cpu_and_other},
        Setting{"Bf16Channels", "channels", {3}, "gpipe", {}, DType::bf16},
        recomputed("RecomputedChannels", "channels", {2, 1}, {1}),
        Setting{"Columns", "columns", {3, 2}, "gpipe", {}},
        Setting{"ColumnsInStages", "columns", {2, 2}, "gpipe", {1}},
        Setting{"Unet", "unet", {3}, "gpipe", {}},
        Setting{"UnetInStages", "unet", {2, 2}, "gpipe", {1}},
        Setting{"UnetInManyStages", "unet", {2, 2, 3}, "1f1b", {3}},
        Setting{"UnetOnCpuAndOther",
                "unet in blocks",
                {2, 2},
                "gpipe",
                {1},
                DType::f32,
                Backends::cpu_and_other},
        recomputed("RecomputedUnet", "unet", {2, 2}, {3}),
        Setting{"Bf16Plain", "plain", {3}, "gpipe", {}, DType::bf16},
        Setting{"ComposedSequences", "composed sequences", {3}, "gpipe", {}},
        Setting{"ComposedSequencesInStages", "composed sequences", {2, 1}, "1f1b", {1}},
        Setting{"ComposedImages", "composed images", {3}, "gpipe", {}},
        Setting{"ComposedImagesInStages", "composed images", {2, 2}, "1f1b", {1}},
        Setting{"Transformer", "gpt", {3}, "gpipe", {}},
        Setting{"TransformerInStages", "gpt", {2, 1}, "gpipe", {2}},
        Setting{"TransformerInManyStages", "gpt", {2, 2}, "1f1b", {1}},
        Setting{"Bf16Transformer", "one block", {2, 1}, "gpipe", {2}, DType::bf16},
        Setting{"TiedHead", "tied gpt", {3}, "gpipe", {}},
        Setting{"TiedHeadInMicroBatches", "tied gpt", {2, 1}, "gpipe", {}},
        Setting{"TiedHeadInStages", "tied gpt", {2, 2}, "gpipe", {1}},
        Setting{"TiedHeadInManyStages", "tied gpt", {2, 2, 1}, "1f1b", {2}},
        Setting{"TiedHeadOnCpuAndOther",
                "tied gpt",
                {2, 2},
                "gpipe",
                {2},
                DType::f32,
                Backends::cpu_and_other},
        Setting{"Bf16TiedHead", "tied gpt", {2, 1}, "gpipe", {2}, DType::bf16},
        recomputed("RecomputedTiedHead", "tied gpt", {2, 1}, {2}),
        Setting{"Skips", "skips", {3, 2}, "gpipe", {2}},
        recomputed("Recomputed", "small", {4, 2}, {}),
        recomputed("RecomputedInStages", "small", {4, 4, 2}, {2}),
        recomputed("RecomputedPlain", "plain", {2, 2}, {1}),
        recomputed("RecomputedComposition", "composed sequences", {2, 1}, {1}),
        recomputed("RecomputedTransformer", "gpt", {2, 1}, {2}),
        recomputed("RecomputedRecurrent", "rnn-lm", {2, 2, 1}, {2}),
        Setting{"Recurrent", "rnn-lm", {4}, "gpipe", {}},
        Setting{"RecurrentInStages", "rnn-lm", {3, 2}, "gpipe", {1}},
        Setting{"RecurrentInManyStages", "rnn-lm", {2, 2, 1}, "1f1b", {2}},
        Setting{"Bf16Recurrent", "rnn-lm", {3, 2}, "gpipe", {2}, DType::bf16},
        Setting{"ToyInMicroBatches", "toy", {7, 7, 6}, "1f1b", {1}},
        Setting{"Bf16Toy", "toy", {20}, "gpipe", {1}, DType::bf16},
        Setting{"Bf16ToyInMicroBatches", "toy", {7, 7, 6}, "1f1b", {1}, DType::bf16}),
    [](const auto& information) { return information.param.name; });

}  // namespace
}  // namespace parbench
