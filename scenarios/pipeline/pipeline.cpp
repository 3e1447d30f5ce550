// Axes, layouts and references of scenario pipeline.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "kernels/base/error.h"
#include "kernels/base/units/units.h"
#include "scenarios/answers/recommend.h"
#include "scenarios/framework/all_cores.h"
#include "scenarios/framework/built_in.h"
#include "scenarios/models/model_choice.h"
#include "scenarios/training/question/question.h"
#include "scenarios/training/question/step_choice.h"

namespace parbench {
namespace {

constexpr const char* model_parallel = "model-parallel";
constexpr const char* pipelined_model = "pipeline";

constexpr std::int64_t published_batch = 120;

// Implied parameter of cases on devices of different kinds, whose reference runs on the same
// devices instead of on one.
constexpr const char* reference_parameter = "reference";
constexpr const char* same_devices = "same devices";

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

/// Returns the value of "split"; nothing if the user gives the number of micro-batches instead. The
/// values of presets are for large batches. If the batch is not larger than the smallest of them,
/// half of the batch replaces this value.
std::optional<Value> split_of(const Scenario::Request& request, const Axis& axis,
                              std::int64_t batch) {
  const Value* given = request.spec.parameters.find("split");
  if (given == nullptr) return std::nullopt;
  const Value& split = *given;
  const std::vector<Value>& values =
      request.preset == Preset::published ? axis.published : axis.quick;
  if (request.was_given("split") || split != values.front()) return split;
  if (batch == 1 || std::get<std::int64_t>(split) < batch) return split;
  return batch / 2;
}

/// Returns the complexity of a case, compared lexicographically: the number of parameters in its
/// name, then the negated number of samples per micro-batch.
std::vector<std::int64_t> complexity(const CaseSpec& spec) {
  const Value* split = spec.parameters.find("split");
  const auto* samples = split == nullptr ? nullptr : std::get_if<std::int64_t>(split);
  return {std::ranges::count(spec.parameters, false, &Parameter::implied),
          samples == nullptr ? std::numeric_limits<std::int64_t>::max() : -*samples};
}

/// Returns ", 90% of what its tasks and their dependencies allow; without micro-batches: 1.02×
/// (0.99–1.04)". The second part is added if micro-batches pay or may pay, and model-parallel was
/// measured with the same batch.
std::string details_of(const Recommendation& found, const Outcomes& outcomes) {
  const CaseOutcome& gaining = *find_outcome(outcomes, found.gaining->name);
  std::string text;
  if (gaining.efficiency > 0) {
    text = fmt::format(", {:.0f}% of what its tasks and their dependencies allow",
                       100 * gaining.efficiency);
  }
  const Payoff payoff = payoff_of(found);
  const bool is_used = payoff >= Payoff::may_pay && payoff != Payoff::undecided;
  if (!is_used || gaining.spec.strategy != pipelined_model) return text;
  const CaseOutcome* whole = fastest_where(outcomes, [&](const CaseSpec& spec) {
    return spec.strategy == model_parallel && single_of(spec) == single_of(gaining.spec);
  });
  if (whole == nullptr) return text;
  return fmt::format("{}; without micro-batches: {}", text, format_ratio(*whole->speedup));
}

std::vector<Axis> axes_of_pipeline() {
  return training_axes(
      model_axis(default_model()), {},
      {step_axis("split", {pipelined_model}, {3, 6, 12, 20}, {1, 3, 5, 8, 10, 12, 20, 40, 60}),
       step_axis("micro-batches", {pipelined_model}),
       step_axis("partition", {model_parallel, pipelined_model}),
       step_axis("schedule", {pipelined_model}), step_axis("optimizer"), step_axis("clip"),
       step_axis("recompute")});
}

class Pipeline final : public TrainingQuestion {
 public:
  Pipeline()
      : TrainingQuestion(
            {.name = "pipeline",
             .question = "Which split size should my pipeline use, and what is lost on the way?",
             .whole = "the whole model",
             .strategies = {{model_parallel,
                             "stages on different devices, one whole batch at a time"},
                            {pipelined_model,
                             "stages on different devices, micro-batches of the batch following "
                             "each other"}},
             .axes = axes_of_pipeline(),
             .words = {.named_by = "split",
                       .name_words = "split ",
                       .complexity = complexity,
                       .details = details_of,
                       .works_in_turn = [](const CaseSpec& spec) {
                         return spec.strategy == model_parallel;
                       }}}) {}

  [[nodiscard]] Sampling published_sampling() const override {
    return {.samples = 10, .iterations = 3};
  }
  /// Returns a limit that suffices for six samples of each case on two slow cores.
  [[nodiscard]] double quick_seconds() const override { return 180; }
  [[nodiscard]] std::vector<Published> published() const override;
  [[nodiscard]] std::optional<CaseSpec> reference(const CaseSpec& spec) const override;
  /// Returns no scaling efficiency: stages that wait for each other cannot scale linearly, and the
  /// report compares them with their bounds.
  [[nodiscard]] std::vector<Metric> metrics(const CaseSpec& /*spec*/) const override { return {}; }

 private:
  [[nodiscard]] std::int64_t usual_batch(const Request& request,
                                         const Model& model) const override {
    const bool is_published = request.preset == Preset::published && model.name == default_model();
    return is_published ? published_batch : model.quick_batch;
  }
  [[nodiscard]] std::optional<Obstacle> divide(const Request& request, const Network& network,
                                               Parameters& parameters) const override;
  [[nodiscard]] StepLayout layout_of(const CaseSpec& spec) const override {
    return {.grid = {.stages = devices_in(spec.parameters)}};
  }
  /// Returns true for a pipeline: batch normalisations use the statistics of its micro-batches.
  [[nodiscard]] bool compares_parts(const CaseSpec& spec) const override {
    return spec.strategy == pipelined_model;
  }
};

/// Returns published times of three batches on two GPUs.
std::vector<Published> Pipeline::published() const {
  const std::vector<Parameter> step{
      {"model", default_model()}, {"batch", published_batch}, {"image", 128}};
  const auto split = [&](int samples) {
    std::vector<Parameter> parameters = step;
    parameters.push_back({"split", samples});
    return parameters;
  };
  const std::string source = "PyTorch tutorial on single-machine model parallelism";
  constexpr int batches = 3;
  return {{std::string(single_device), step, source, 3.75, batches},
          {model_parallel, step, source, 4.02, batches},
          {pipelined_model, split(20), source, 2.51, batches},
          {pipelined_model, split(12), source, 2.43, batches}};
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
    const std::string samples = fmt::format("the samples of --batch {}", batch);
    const auto split = split_of(request, axis("split"), batch);
    if (auto obstacle = add_split(request, batch, samples, split, parameters)) return obstacle;
    if (auto obstacle = obstacle_of_split(batch, *parameters.find("split"))) return obstacle;
  }
  const int devices = request.device_count;
  if (devices > static_cast<int>(network.units.size())) {
    throw UsageError(fmt::format("--devices: {} has {}, too few for {}; use fewer devices",
                                 network.name, format_count(network.units.size(), "unit"),
                                 format_count(devices, "stage")));
  }
  parameters.set(std::string(devices_parameter), std::int64_t{devices});
  add_partition_choice(asked, network, devices, parameters);
  // Devices of different kinds may have different backends, whose roundings change the gradients of
  // a network of fifty layers by more than the tolerance.
  if (!request.devices_alike) parameters.imply(reference_parameter, same_devices);
  if (is_pipeline) add_asked(asked, "schedule", default_schedule, parameters);
  return std::nullopt;
}

std::optional<CaseSpec> Pipeline::reference(const CaseSpec& spec) const {
  if (spec.parameters.find(reference_parameter) == nullptr) {
    return TrainingQuestion::reference(spec);
  }
  if (spec.strategy == model_parallel) return std::nullopt;  // its reference would be itself
  return with_strategy(spec, in_turn_strategy, {"schedule"});
}

}  // namespace

std::unique_ptr<Scenario> make_pipeline() { return std::make_unique<Pipeline>(); }

}  // namespace parbench
