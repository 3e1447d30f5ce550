// Parameters and cases of the pipeline scenario.
#include "scenarios/pipeline/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "kernels/base/error.h"
#include "kernels/base/units/units.h"
#include "scenarios/framework/all_cores.h"
#include "scenarios/models/model_choice.h"
#include "scenarios/pipeline/answer.h"
#include "scenarios/training/question/question.h"
#include "scenarios/training/question/step_choice.h"

namespace parbench {
namespace {

constexpr std::int64_t published_batch = 120;

// Parameter of cases on unlike devices, whose references run on the same devices.
constexpr const char* reference_parameter = "reference";
constexpr std::string_view same_devices = "same devices";

std::optional<Obstacle> obstacle_of_split(std::int64_t batch, const Value& split) {
  if (batch == 1 && split != Value(batch)) {
    return Obstacle{{"split"},
                    "--batch 1: one sample cannot be divided into micro-batches; use --batch 2 or "
                    "more"};
  }
  if (const auto* text = std::get_if<std::string>(&split)) {
    const std::vector<std::int64_t> sizes = sizes_in(*text);
    const std::int64_t sum = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
    if (sum == batch) return std::nullopt;
    return Obstacle{
        {"split"},
        fmt::format("--split: {} adds up to {}, but --batch is {}; the sizes must add up "
                    "to the batch",
                    *text, sum, batch)};
  }
  const std::int64_t size = std::get<std::int64_t>(split);
  if (size <= batch) return std::nullopt;
  return Obstacle{
      {"split"},
      fmt::format("--split: {} is above --batch {}; allowed are 1 to {}", size, batch, batch)};
}

/// Returns the number of samples per micro-batch. Preset values are for large batches: if the batch
/// is not larger than the smallest value, half of the batch is used instead.
Value split_of(const Scenario::Request& request, const Axis& axis, std::int64_t batch) {
  const Value& split = *request.spec.parameters.find("split");
  const std::vector<Value>& values =
      request.preset == Preset::published ? axis.published : axis.quick;
  if (request.was_given("split") || split != values.front()) return split;
  if (batch == 1 || std::get<std::int64_t>(split) < batch) return split;
  return batch / 2;
}

/// Axes after the model, its batch and its sizes.
std::vector<Axis> stage_axes() {
  return {{.name = "split",
           .description = "samples of a micro-batch, or several micro-batch sizes as a+b+c",
           .kind = AxisKind::sizes,
           .quick = {std::int64_t{3}, std::int64_t{6}, std::int64_t{12}, std::int64_t{20}},
           .published = {std::int64_t{1}, std::int64_t{3}, std::int64_t{5}, std::int64_t{8},
                         std::int64_t{10}, std::int64_t{12}, std::int64_t{20}, std::int64_t{40},
                         std::int64_t{60}},
           .max = 1 << 20,
           .strategies = {std::string(pipelined_model)},
           .role = Role::micro_batch_size},
          micro_batches_axis({std::string(pipelined_model)}),
          partition_axis({std::string(model_parallel), std::string(pipelined_model)}),
          schedule_axis({std::string(pipelined_model)})};
}

std::vector<Axis> axes_of_pipeline() {
  std::vector<Axis> axes =
      training_axes(model_axis(default_model()),
                    "samples of a training step; default: the model's, such as 24 of ResNets "
                    "(published: 120), 8 of gpt and llama, 2 of gpt2-124m");
  std::ranges::move(stage_axes(), std::back_inserter(axes));
  // Variants of the step, which all strategies have in common.
  std::ranges::move(std::vector{optimizer_axis(), clip_axis(), recompute_axis()},
                    std::back_inserter(axes));
  return axes;
}

class Pipeline final : public TrainingQuestion {
 public:
  Pipeline()
      : TrainingQuestion(
            {.name = "pipeline",
             .question = "Which split size should my pipeline use, and what is lost on the way?",
             .whole = "the whole model",
             .strategies = {{std::string(model_parallel),
                             "stages on different devices, one whole batch at a time"},
                            {std::string(pipelined_model),
                             "stages on different devices, micro-batches of the batch following "
                             "each other"}},
             .axes = axes_of_pipeline()}) {}

  [[nodiscard]] Sampling published_sampling() const override {
    return {.samples = 10, .iterations = 3};
  }
  /// Enough for six samples of each case on two slow cores.
  [[nodiscard]] double quick_seconds() const override { return 180; }
  [[nodiscard]] std::vector<Published> published() const override;
  [[nodiscard]] std::optional<CaseSpec> reference(const CaseSpec& spec) const override;
  [[nodiscard]] Conclusion answer(const std::vector<CaseOutcome>& outcomes,
                                  const PossiblyFastest& possibly_fastest) const override {
    return pipeline_answer(outcomes, possibly_fastest);
  }

 private:
  [[nodiscard]] std::int64_t usual_batch(const Request& request,
                                         const Model& model) const override {
    const bool is_published = request.preset == Preset::published && model.name == default_model();
    return is_published ? published_batch : model.quick_batch;
  }
  [[nodiscard]] std::optional<Obstacle> divide(const Request& request, const Network& network,
                                               Parameters& parameters) const override;
  [[nodiscard]] StepLayout layout_of(const CaseSpec& spec) const override {
    const Value* devices = spec.parameters.find(devices_parameter);
    StepLayout layout;
    if (devices != nullptr) layout.grid.stages = static_cast<int>(std::get<std::int64_t>(*devices));
    return layout;
  }
  /// Batch normalisations use the statistics of micro-batches.
  [[nodiscard]] bool compares_parts(const CaseSpec& spec) const override {
    return spec.strategy == pipelined_model;
  }
};

/// Published results: three batches on two GPUs.
std::vector<Published> Pipeline::published() const {
  const std::vector<Parameter> step{{"model", default_model()},
                                    {"batch", std::int64_t{published_batch}},
                                    {"image", std::int64_t{128}}};
  const auto split = [&](std::int64_t samples) {
    std::vector<Parameter> parameters = step;
    parameters.push_back({"split", samples});
    return parameters;
  };
  const std::string source = "PyTorch tutorial on single-machine model parallelism";
  constexpr int batches = 3;
  return {{std::string(single_device), step, source, 3.75, batches},
          {std::string(model_parallel), step, source, 4.02, batches},
          {std::string(pipelined_model), split(20), source, 2.51, batches},
          {std::string(pipelined_model), split(12), source, 2.43, batches}};
}

std::optional<Obstacle> Pipeline::divide(const Request& request, const Network& network,
                                         Parameters& parameters) const {
  if (request.device_count < 2) {
    return Obstacle{{"strategy", "split", "micro-batches", "partition", "schedule"},
                    too_few_devices(request)};
  }
  const Parameters& asked = request.spec.parameters;
  const bool is_pipeline = request.spec.strategy == pipelined_model;
  const std::int64_t batch = parameters.integer("batch");
  if (is_pipeline) {
    const auto count = asked_micro_batches(request);
    const std::string samples = fmt::format("the samples of --batch {}", batch);
    if (auto obstacle = obstacle_of_micro_batches(count, batch, samples)) return obstacle;
    const Value split = count ? split_into(batch, *count) : split_of(request, axis("split"), batch);
    if (auto obstacle = obstacle_of_split(batch, split)) return obstacle;
    parameters.set("split", split);
  }
  const int devices = request.device_count;
  if (devices > static_cast<int>(network.units.size())) {
    throw UsageError(fmt::format("--devices: {} has {}, too few for {}; use fewer devices",
                                 network.name, format_count(network.units.size(), "unit"),
                                 format_count(static_cast<std::size_t>(devices), "stage")));
  }
  parameters.set(std::string(devices_parameter), std::int64_t{devices});
  add_partition_choice(asked, network, devices, parameters);
  // After fifty layers, gradients depend on every rounding: kernels of another backend differ by
  // more than the tolerance for the same kernels.
  if (!request.devices_alike) parameters.imply(reference_parameter, std::string(same_devices));
  if (is_pipeline) {
    add_choice(parameters, "schedule", asked_or(asked, "schedule", default_schedule),
               default_schedule);
  }
  return std::nullopt;
}

std::optional<CaseSpec> Pipeline::reference(const CaseSpec& spec) const {
  if (spec.parameters.find(reference_parameter) == nullptr) {
    return TrainingQuestion::reference(spec);
  }
  if (spec.strategy == model_parallel) return std::nullopt;  // already runs in turn
  return with_strategy(spec, in_turn_strategy, {"schedule"});
}

}  // namespace

std::unique_ptr<Scenario> make_pipeline() { return std::make_unique<Pipeline>(); }

}  // namespace parbench
