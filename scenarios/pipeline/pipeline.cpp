// Parameters and cases of the pipeline scenario.
#include "scenarios/pipeline/pipeline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "kernels/base/error.h"
#include "reports/units/units.h"
#include "scenarios/framework/all_cores.h"
#include "scenarios/framework/requests.h"
#include "scenarios/models/model_choice.h"
#include "scenarios/pipeline/answer.h"
#include "scenarios/plan/schedules/partition.h"
#include "scenarios/training/in_turn.h"
#include "scenarios/training/partition.h"
#include "scenarios/training/step/training_step.h"
#include "scenarios/training/step_choice.h"

namespace parbench {
namespace {

/// The same micro-batches one after the other: the reference of a split, because batch
/// normalisations use statistics of micro-batches. Runs on one device, or on the same stages if
/// devices are unlike. Not offered to users.
constexpr std::string_view gradient_accumulation = "gradient-accumulation";

constexpr std::int64_t published_batch = 120;

// Marks references of cases on unlike devices, which run on the same devices.
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

std::optional<Obstacle> obstacle_of_batch(const Network& network, std::int64_t batch) {
  if (batch <= network.max_samples()) return std::nullopt;
  return Obstacle{{"batch", "image"},
                  fmt::format("--batch: {} samples at --image {} are more than kernels can count; "
                              "allowed are 1 to {}, or a smaller --image",
                              batch, network.input.back(), network.max_samples())};
}

/// `flags`: flags that set the size of the micro-batches.
std::optional<Obstacle> obstacle_of_samples(const Network& network,
                                            const std::vector<std::int64_t>& micro_batches,
                                            std::vector<std::string_view> flags) {
  const std::int64_t smallest = *std::ranges::min_element(micro_batches);
  const std::int64_t min = network.min_samples();
  if (smallest >= min) return std::nullopt;
  return Obstacle{
      std::move(flags),
      fmt::format(
          "--batch, --split: a micro-batch of {} leaves batch normalisations of {} at --image {} "
          "one value a channel; use micro-batches of at least {} or a larger --image",
          report::format_count(static_cast<std::size_t>(smallest), "sample"), network.name,
          network.input.back(), report::format_count(static_cast<std::size_t>(min), "sample"))};
}

std::optional<Obstacle> obstacle_of_devices(const Scenario::Request& request) {
  if (request.device_count >= 2) return std::nullopt;
  return Obstacle{{"strategy", "split", "micro-batches", "partition", "schedule"},
                  too_few_devices(request)};
}

std::optional<Obstacle> obstacle_of_micro_batches(std::int64_t batch,
                                                  std::optional<std::int64_t> count) {
  if (!count || *count <= batch) return std::nullopt;
  return Obstacle{
      {"micro-batches"},
      fmt::format("--micro-batches: {} are more than the samples of --batch {}; allowed "
                  "are 1 to {}",
                  *count, batch, batch)};
}

/// Preset values are for large batches: for a batch that the smallest value does not divide, half
/// of the batch is used instead.
Value split_of(const Scenario::Request& request, const Axis& axis, std::int64_t batch) {
  if (const auto count = asked_micro_batches(request)) return split_into(batch, *count);
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
  // Variants of the step, the same for every strategy.
  std::ranges::move(std::vector{optimizer_axis(), clip_axis(), recompute_axis()},
                    std::back_inserter(axes));
  return axes;
}

class Pipeline final : public Scenario {
 public:
  [[nodiscard]] std::string_view name() const override { return "pipeline"; }
  [[nodiscard]] std::string_view question() const override {
    return "Which split size should my pipeline use, and what is lost on the way?";
  }
  [[nodiscard]] const std::vector<Strategy>& strategies() const override { return strategies_; }
  [[nodiscard]] const std::vector<Axis>& axes() const override { return axes_; }
  [[nodiscard]] std::string_view baseline() const override { return whole_model; }
  [[nodiscard]] int default_devices() const override { return 2; }
  [[nodiscard]] bool runs_over_ranks() const override { return true; }
  [[nodiscard]] int min_devices() const override { return 2; }
  [[nodiscard]] Sampling published_sampling() const override {
    return {.samples = 10, .iterations = 3};
  }
  /// On two slow cores, each case is then measured six times.
  [[nodiscard]] double quick_seconds() const override { return 180; }

  [[nodiscard]] std::vector<Published> published() const override;
  [[nodiscard]] std::optional<CaseSpec> resolve(const Request& request) const override;
  [[nodiscard]] std::unique_ptr<Case> prepare(const CaseSpec& spec,
                                              Context& context) const override;
  [[nodiscard]] std::optional<CaseSpec> reference(const CaseSpec& spec) const override;
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> model_notes(
      const std::vector<CaseSpec>& specs) const override {
    return notes_on_trained_models(specs);
  }
  [[nodiscard]] bool plans_show_all() const override { return true; }
  [[nodiscard]] Conclusion answer(const std::vector<CaseOutcome>& outcomes,
                                  const PossiblyFastest& possibly_fastest) const override {
    return pipeline_answer(outcomes, possibly_fastest);
  }

 private:
  std::vector<Strategy> strategies_ = {
      {std::string(whole_model), "the whole model on the first device"},
      {std::string(all_cores),
       "the whole model on one device that has the cores of all devices (for parts of a GPU: the "
       "whole GPU)"},
      {std::string(model_parallel), "stages on different devices, one whole batch at a time"},
      {std::string(pipelined_model),
       "stages on different devices, micro-batches of the batch following each other"}};
  std::vector<Axis> axes_ = axes_of_pipeline();
};

/// Three batch sizes on two GPUs.
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
  return {{std::string(whole_model), step, source, 3.75, batches},
          {std::string(model_parallel), step, source, 4.02, batches},
          {std::string(pipelined_model), split(20), source, 2.51, batches},
          {std::string(pipelined_model), split(12), source, 2.43, batches}};
}

std::int64_t batch_of(const Scenario::Request& request, const Model& model) {
  if (const Value* batch = request.spec.parameters.find("batch")) {
    return std::get<std::int64_t>(*batch);
  }
  const bool is_published = request.preset == Preset::published && model.name == default_model();
  return is_published ? published_batch : model.quick_batch;
}

/// Returns the parameters of the step, which all strategies share.
Parameters parameters_of_step(const Scenario::Request& request) {
  Parameters parameters;
  const Model model = model_of(request, default_model());
  add_choice(parameters, "model", model.name, default_model());
  parameters.set("batch", batch_of(request, model));
  add_model_sizes(request, model, parameters);
  const Parameters& asked = request.spec.parameters;
  add_optimizer_choice(asked, parameters);
  add_recompute_choice(asked, parameters);
  add_clip_choice(asked, parameters);
  return parameters;
}

/// Adds parameters for stages on several devices.
void add_stage_parameters(const Scenario::Request& request, const Network& network,
                          Parameters& parameters) {
  const int devices = request.device_count;
  if (devices > static_cast<int>(network.units.size())) {
    throw UsageError(fmt::format("--devices: {} has {}, too few for {}; use fewer devices",
                                 network.name, report::format_count(network.units.size(), "unit"),
                                 report::format_count(static_cast<std::size_t>(devices), "stage")));
  }
  parameters.set("devices", std::int64_t{devices});
  const Parameters& asked = request.spec.parameters;
  add_partition_choice(asked, network, devices, parameters);
  // After fifty layers, gradients depend on every rounding: kernels of another backend differ by
  // more than the tolerance for the same kernels.
  if (!request.devices_alike) parameters.imply(reference_parameter, std::string(same_devices));
  if (request.spec.strategy != pipelined_model) return;
  const std::string schedule = asked_or(asked, "schedule", default_schedule);
  add_choice(parameters, "schedule", schedule, default_schedule);
}

std::optional<CaseSpec> Pipeline::resolve(const Request& request) const {
  CaseSpec spec = request.spec;
  spec.parameters = parameters_of_step(request);
  const Network network = network_of(spec.parameters);
  const std::int64_t batch = spec.parameters.integer("batch");
  if (is_left_out(request, obstacle_of_batch(network, batch))) return std::nullopt;
  std::vector<std::int64_t> micro_batches = {batch};
  if (spec.strategy == pipelined_model) {
    if (is_left_out(request, obstacle_of_micro_batches(batch, asked_micro_batches(request)))) {
      return std::nullopt;
    }
    const auto axis = std::ranges::find(axes_, "split", &Axis::name);
    const Value split = split_of(request, *axis, batch);
    if (is_left_out(request, obstacle_of_split(batch, split))) return std::nullopt;
    spec.parameters.set("split", split);
    micro_batches = micro_batches_of(batch, split);
  }
  const bool is_preset_split = spec.strategy == pipelined_model && !request.was_given("split") &&
                               !request.was_given("micro-batches");
  const std::vector<std::string_view> dividing =
      is_preset_split ? std::vector<std::string_view>{"strategy", "split"}
                      : std::vector<std::string_view>{"batch", "split", "micro-batches", "image"};
  if (is_left_out(request, obstacle_of_samples(network, micro_batches, dividing))) {
    return std::nullopt;
  }
  if (spec.strategy == whole_model) return spec;
  if (is_left_out(request, obstacle_of_devices(request))) return std::nullopt;
  add_stage_parameters(request, network, spec.parameters);
  return spec;
}

std::optional<CaseSpec> Pipeline::reference(const CaseSpec& spec) const {
  if (spec.strategy == whole_model) {
    if (!recomputes(spec.parameters)) return std::nullopt;
    return with_strategy(spec, whole_model, {"recompute"});
  }
  if (spec.parameters.find(reference_parameter) != nullptr) {
    if (spec.strategy == model_parallel) return std::nullopt;  // already runs in turn
    return with_strategy(spec, gradient_accumulation, {"schedule"});
  }
  const std::string_view strategy =
      spec.strategy == pipelined_model ? gradient_accumulation : whole_model;
  return with_strategy(spec, strategy, {"devices", "partition", "schedule", "recompute"});
}

/// Without a pipeline, one micro-batch is processed at a time, whatever the number of stages.
StepLayout layout_of(const CaseSpec& spec, const Network& network, Context& context) {
  const Parameters& parameters = spec.parameters;
  const std::int64_t batch = parameters.integer("batch");
  const Value* split = parameters.find("split");
  std::vector<std::int64_t> micro_batches =
      split != nullptr ? micro_batches_of(batch, *split) : std::vector<std::int64_t>{batch};
  const Value* devices = parameters.find("devices");
  const bool has_stages = spec.strategy != whole_model && devices != nullptr;
  if (spec.strategy == gradient_accumulation && !has_stages) {
    StepLayout layout = in_turn(context, micro_batches);
    layout.recompute = recomputes(parameters);
    return layout;
  }
  StepLayout layout{.recompute = recomputes(parameters)};
  if (has_stages) {
    layout.grid.stages = static_cast<int>(std::get<std::int64_t>(*devices));
    layout.partition =
        chosen_partition(context, network, spec, devices_of_stages(layout.grid), micro_batches);
  }
  if (spec.strategy == pipelined_model) layout.schedule = parameters.text("schedule");
  layout.micro_batches = {std::move(micro_batches)};
  return layout;
}

std::unique_ptr<Case> Pipeline::prepare(const CaseSpec& spec, Context& context) const {
  Network network = network_of(spec.parameters);
  StepLayout layout = layout_of(spec, network, context);
  auto step = prepare_step(context, std::move(network),
                           {.format = spec.format(), .optimizer = optimizer_of(spec.parameters)},
                           std::move(layout));
  const std::int64_t min = step->network.min_samples();
  if (min > 1 && spec.parameters.find("split") != nullptr) {
    step->notes.emplace_back(min_micro_batch_note,
                             report::format_count(static_cast<std::size_t>(min), "sample"));
  }
  return make_case(std::move(step));
}

}  // namespace

std::unique_ptr<Scenario> make_pipeline() { return std::make_unique<Pipeline>(); }

}  // namespace parbench
