// Axes, layouts and answer of scenario hybrid.
#include "scenarios/hybrid/hybrid.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <stdexcept>

#include "kernels/base/error.h"
#include "kernels/base/units/units.h"
#include "scenarios/answers/best_strategy.h"
#include "scenarios/answers/time_shares.h"
#include "scenarios/answers/wording.h"
#include "scenarios/framework/all_cores.h"
#include "scenarios/models/model_choice.h"
#include "scenarios/plan/schedules/data_parallel.h"
#include "scenarios/training/question/question.h"
#include "scenarios/training/question/step_choice.h"

namespace parbench {
namespace {

constexpr std::string_view divided = "divided";

constexpr std::string_view usual_model = "gpt";

/// Value of the axis "bucket" for one exchange of all gradients.
constexpr std::int64_t one_exchange = 0;

std::vector<Value> all_layouts(int devices) {
  std::vector<Value> names;
  for (const DeviceGrid& grid : grids_of(devices)) names.emplace_back(to_string(grid));
  return names;
}

std::vector<Axis> axes_of_hybrid() {
  Axis model = model_axis(usual_model);
  model.published = {std::string("rnn-lm"), std::string(usual_model), std::string("resnet50")};
  std::vector<Axis> axes =
      training_axes(std::move(model),
                    "samples of a training step on all devices together (8 of gpt, 20 of rnn-lm, "
                    "24 of ResNets)",
                    Role::batch);
  axes.push_back({.name = "layout",
                  .description = "how devices divide the step: replicas, stages of a pipeline and "
                                 "shards of layers, such as dp2, pp2, dp2xpp2xtp1; default: "
                                 "every one that takes all devices",
                  .kind = AxisKind::text,
                  .quick = {},
                  .published = {},
                  .strategies = {std::string(divided)},
                  .by_devices = all_layouts});
  axes.push_back({.name = "split",
                  .description = "samples of a micro-batch of each replica; default: each "
                                 "replica's samples in two micro-batches per stage",
                  .kind = AxisKind::sizes,
                  .quick = {},
                  .published = {},
                  .max = 1 << 20,
                  .strategies = {std::string(divided)},
                  .role = Role::micro_batch_size});
  axes.push_back(micro_batches_axis({std::string(divided)}));
  axes.push_back(schedule_axis({std::string(divided)}));
  axes.push_back(partition_axis({std::string(divided)}));
  axes.push_back({.name = "bucket",
                  .description = "MiB of gradients that replicas add up together, during the rest "
                                 "of the backward pass; 0: all gradients of a stage at once, after "
                                 "its backward pass",
                  .quick = {one_exchange},
                  .published = {one_exchange},
                  .min = 0,
                  .max = 1 << 14,
                  .strategies = {std::string(divided)},
                  .role = Role::exchange_size});
  axes.push_back(optimizer_axis());
  axes.push_back(clip_axis());
  axes.push_back(recompute_axis());
  return axes;
}

/// Returns the grid of a case; one device if the case has no layout.
DeviceGrid grid_of(const Parameters& parameters) {
  const Value* layout = parameters.find("layout");
  return layout == nullptr ? DeviceGrid{} : grid_named(std::get<std::string>(*layout));
}

std::string label_of(const CaseSpec& spec, const std::vector<CaseOutcome>& outcomes) {
  if (spec.strategy != divided) return spec.strategy;
  std::string label = spec.parameters.text("layout");
  for (const std::string_view name : {"split", "schedule", "partition", "bucket"}) {
    const Value* value = spec.parameters.find(name);
    if (value == nullptr) continue;
    const bool is_varied = std::ranges::any_of(outcomes, [&](const CaseOutcome& one) {
      const Value* other = one.spec.parameters.find(name);
      return one.spec.strategy == divided && other != nullptr && *other != *value &&
             one.spec.parameters.text("layout") == spec.parameters.text("layout") &&
             one.spec.parameters.text("model") == spec.parameters.text("model");
    });
    if (is_varied) label += fmt::format(", {} {}", name, to_string(*value));
  }
  return label;
}

/// Returns " parbench cannot divide layers of resnet50 into shards." if only replicas and stages
/// were compared.
std::string undivided_text(const std::vector<CaseOutcome>& outcomes) {
  std::set<std::string> undivided;
  std::set<std::string> with_shards;
  for (const CaseOutcome& one : outcomes) {
    if (one.spec.strategy != divided) continue;
    const std::string& model = one.spec.parameters.text("model");
    if (grid_of(one.spec.parameters).shards > 1) with_shards.insert(model);
    if (obstacle_to_division(network_of(one.spec.parameters), 2)) undivided.insert(model);
  }
  std::vector<std::string> names;
  std::ranges::set_difference(undivided, with_shards, std::back_inserter(names));
  if (names.empty()) return {};
  return fmt::format(" parbench cannot divide layers of {} into shards.", format_list(names));
}

class Hybrid final : public TrainingQuestion {
 public:
  Hybrid()
      : TrainingQuestion(
            {.name = "hybrid",
             .question = "Data, pipeline or tensor parallelism, or which mix of them?",
             .whole = "the whole model and batch",
             .strategies = {{std::string(divided),
                             "the model on a grid of devices that --layout chooses: replicas (dp) "
                             "with parts of the batch, stages (pp) with parts of the layers, "
                             "shards (tp) with parts of each layer; gradients are added up by one "
                             "all-reduce, or in buckets"}},
             .axes = axes_of_hybrid()}) {}

  [[nodiscard]] std::vector<Metric> metrics(const CaseSpec& spec) const override {
    if (spec.strategy == single_device) return {};
    const bool is_divided = spec.strategy == divided;
    return {scaling_efficiency(single_of(spec), is_divided
                                                    ? grid_of(spec.parameters).devices()
                                                    : spec.parameters.integer(devices_parameter))};
  }
  [[nodiscard]] Conclusion answer(const std::vector<CaseOutcome>& outcomes,
                                  const PossiblyFastest& possibly_fastest) const override {
    const auto label = [&](const CaseSpec& spec) { return label_of(spec, outcomes); };
    Conclusion made = best_strategy(*this, outcomes, possibly_fastest, label);
    if (!made.is_answered) return made;
    made.text = joined_sentences({made.text, undivided_text(outcomes)});
    return with_time_shares(std::move(made), *this, outcomes, label);
  }

 private:
  [[nodiscard]] std::optional<Obstacle> divide(const Request& request, const Network& network,
                                               Parameters& parameters) const override;
  [[nodiscard]] StepLayout layout_of(const CaseSpec& spec) const override {
    return {.grid = grid_of(spec.parameters)};
  }
};

/// Returns the grid of the requested layout.
DeviceGrid read_layout(const Scenario::Request& request) {
  const std::string& text = request.spec.parameters.text("layout");
  try {
    return grid_named(text);
  } catch (const std::invalid_argument&) {
    throw UsageError(
        fmt::format("--layout: '{}' is not a layout; allowed are factors as dp2, pp2 and "
                    "tp2, several joined by 'x', each once",
                    text));
  }
}

/// Returns why the devices of the run or the model do not fit the grid.
std::optional<Obstacle> obstacle_of_grid(const Scenario::Request& request, const Network& network,
                                         const std::string& model, const DeviceGrid& grid) {
  std::string message;
  if (grid.devices() != request.device_count) {
    message = fmt::format(
        "--layout: {} takes {}, and this run has {}; give --devices {}, with --oversubscribe where "
        "there are fewer cores",
        to_string(grid), format_count(static_cast<std::size_t>(grid.devices()), "device"),
        request.device_count, grid.devices());
  } else if (grid.stages > static_cast<int>(network.units.size())) {
    message = fmt::format("--layout: {} has {}, too few for the stages of {}", network.name,
                          format_count(network.units.size(), "unit"), to_string(grid));
  } else if (const auto reason = obstacle_to_division(network, grid.shards)) {
    message = fmt::format("the layers of {} cannot be divided into {} shards: {}", model,
                          grid.shards, *reason);
  }
  if (message.empty()) return std::nullopt;
  return Obstacle{{"layout"}, std::move(message)};
}

/// Returns the number of samples per micro-batch; nothing if the batch of a replica stays whole.
std::optional<Value> split_of(const Scenario::Request& request, const DeviceGrid& grid,
                              const Network& network, std::int64_t share) {
  if (const Value* split = request.spec.parameters.find("split")) {
    if (std::get_if<std::int64_t>(split) == nullptr) {
      throw UsageError("--split: replicas need one size of micro-batches each; use a number");
    }
    return *split;
  }
  if (grid.stages == 1) return std::nullopt;
  const std::int64_t parts = std::int64_t{2} * grid.stages;
  return std::max((share + parts - 1) / parts, network.min_samples());
}

/// Adds the number of samples per micro-batch; returns why no single number gives the requested
/// count of micro-batches.
std::optional<Obstacle> add_split(const Scenario::Request& request, const DeviceGrid& grid,
                                  const Network& network, Parameters& parameters) {
  const std::int64_t share = divided_batch(parameters.integer("batch"), grid.replicas)[0];
  const auto count = asked_micro_batches(request);
  const std::string samples =
      fmt::format("the {} of a replica ({})",
                  format_count(static_cast<std::size_t>(share), "sample"), to_string(grid));
  if (auto obstacle = obstacle_of_micro_batches(count, share, samples)) return obstacle;
  const std::optional<Value> split =
      count ? split_into(share, *count) : split_of(request, grid, network, share);
  if (split && count && !std::holds_alternative<std::int64_t>(*split)) {
    return Obstacle{{"micro-batches"},
                    fmt::format("--micro-batches: no size divides {} into {}; use a divisor of {}",
                                samples, *count, share)};
  }
  if (split) parameters.set("split", *split);
  return std::nullopt;
}

std::optional<Obstacle> Hybrid::divide(const Request& request, const Network& network,
                                       Parameters& parameters) const {
  if (auto obstacle = obstacle_of_devices(request)) return obstacle;
  const DeviceGrid grid = read_layout(request);
  if (auto obstacle = obstacle_of_grid(request, network, parameters.text("model"), grid)) {
    return obstacle;
  }
  parameters.set("layout", to_string(grid));
  if (auto obstacle = add_split(request, grid, network, parameters)) return obstacle;
  const Parameters& asked = request.spec.parameters;
  if (grid.stages > 1) {
    add_choice(parameters, "schedule", asked_or(asked, "schedule", default_schedule),
               default_schedule);
    add_partition_choice(asked, network, grid.stages, parameters);
  }
  if (grid.replicas > 1) {
    const Value* bucket = asked.find("bucket");
    add_choice(parameters, "bucket", bucket != nullptr ? *bucket : one_exchange, one_exchange);
  }
  return obstacle_of_replicas(parameters.integer("batch"), grid.replicas);
}

}  // namespace

std::unique_ptr<Scenario> make_hybrid() { return std::make_unique<Hybrid>(); }

}  // namespace parbench
