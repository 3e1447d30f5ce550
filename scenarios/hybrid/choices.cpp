// Axes of hybrid grids, and parameters derived from their values.
#include "scenarios/hybrid/choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "kernels/base/error.h"
#include "reports/units/units.h"
#include "scenarios/framework/requests.h"
#include "scenarios/models/model_choice.h"
#include "scenarios/plan/schedules/data_parallel.h"
#include "scenarios/training/network_division.h"
#include "scenarios/training/step_choice.h"

namespace parbench {
namespace {

constexpr std::string_view usual_model = "gpt";

/// Value of the axis "bucket".
constexpr std::int64_t one_all_reduce = 0;

std::vector<Value> all_layouts(int devices) {
  std::vector<Value> names;
  for (const DeviceGrid& grid : grids_of(devices)) names.emplace_back(to_string(grid));
  return names;
}

/// Returns the requested layout, or the one chosen for the devices.
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

std::optional<Obstacle> obstacle_of_devices(const Scenario::Request& request,
                                            const DeviceGrid& grid) {
  if (grid.devices() == request.device_count) return std::nullopt;
  return Obstacle{
      {"layout"},
      fmt::format("--layout: {} takes {}, and this run has {}; give "
                  "--devices {}, with --oversubscribe where there are fewer "
                  "cores",
                  to_string(grid),
                  report::format_count(static_cast<std::size_t>(grid.devices()), "device"),
                  request.device_count, grid.devices())};
}

std::optional<Obstacle> obstacle_of_stages(const Network& network, const DeviceGrid& grid) {
  if (grid.stages <= static_cast<int>(network.units.size())) return std::nullopt;
  return Obstacle{{"layout"},
                  fmt::format("--layout: {} has {}, too few for the stages of {}", network.name,
                              report::format_count(network.units.size(), "unit"), to_string(grid))};
}

std::optional<Obstacle> obstacle_of_shards(const Network& network, const std::string& model,
                                           const DeviceGrid& grid) {
  if (grid.shards == 1) return std::nullopt;
  if (const auto reason = obstacle_to_division(network, grid.shards)) {
    return Obstacle{{"layout"},
                    fmt::format("the layers of {} cannot be divided into {} shards: {}", model,
                                grid.shards, *reason)};
  }
  return std::nullopt;
}

std::optional<Obstacle> obstacle_of_samples(const Network& network, const Parameters& parameters) {
  const std::int64_t batch = parameters.integer("batch");
  if (batch > network.max_samples()) {
    return Obstacle{{"batch"},
                    fmt::format("--batch: {} samples of {} are more than kernels can "
                                "count; allowed are 1 to {}",
                                batch, network.name, network.max_samples())};
  }
  const DeviceGrid grid = grid_of(parameters);
  const auto replicas = micro_batches_of_replicas(parameters);
  if (static_cast<int>(replicas.size()) < grid.replicas) {
    return Obstacle{{"batch"},
                    fmt::format("--batch: {} cannot be divided over {} replicas; use more", batch,
                                grid.replicas)};
  }
  std::int64_t smallest = batch;
  for (const auto& of_replica : replicas) {
    smallest = std::min(smallest, *std::ranges::min_element(of_replica));
  }
  if (smallest >= network.min_samples()) return std::nullopt;
  return Obstacle{
      {"batch", "split", "micro-batches", "layout"},
      fmt::format("--batch, --split: a micro-batch of {} leaves batch normalisations of {} one "
                  "value a channel; use micro-batches of at least {}",
                  report::format_count(static_cast<std::size_t>(smallest), "sample"), network.name,
                  network.min_samples())};
}

/// Returns the parameters that all strategies share.
Parameters parameters_of_step(const Scenario::Request& request) {
  Parameters parameters;
  const Parameters& asked = request.spec.parameters;
  const Model model = model_of(request, usual_model);
  add_choice(parameters, "model", model.name, usual_model);
  const Value* batch = asked.find("batch");
  parameters.set("batch", batch != nullptr ? *batch : Value(model.quick_batch));
  add_model_sizes(request, model, parameters);
  add_optimizer_choice(asked, parameters);
  add_clip_choice(asked, parameters);
  add_recompute_choice(asked, parameters);
  return parameters;
}

/// Returns why no single size divides a replica's samples into `count` micro-batches.
std::optional<Obstacle> obstacle_of_micro_batches(std::optional<std::int64_t> count,
                                                  std::int64_t share, const DeviceGrid& grid) {
  if (!count) return std::nullopt;
  const std::string samples =
      fmt::format("the {} of a replica ({})",
                  report::format_count(static_cast<std::size_t>(share), "sample"), to_string(grid));
  if (*count > share) {
    return Obstacle{{"micro-batches"},
                    fmt::format("--micro-batches: {} are more than {}; allowed are 1 to {}", *count,
                                samples, share)};
  }
  if (std::holds_alternative<std::int64_t>(split_into(share, *count))) return std::nullopt;
  return Obstacle{{"micro-batches"},
                  fmt::format("--micro-batches: no size divides {} into {}; use a divisor of {}",
                              samples, *count, share)};
}

/// Returns the size of the micro-batches; nothing if the batch of a replica is not divided.
std::optional<Value> split_of(const Scenario::Request& request, const DeviceGrid& grid,
                              const Network& network, std::int64_t share) {
  if (const auto count = asked_micro_batches(request)) return split_into(share, *count);
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

/// Adds parameters that apply only to stages, or only to replicas.
void add_grid_choices(const Parameters& asked, const DeviceGrid& grid, const Network& network,
                      Parameters& parameters) {
  if (grid.stages > 1) {
    add_choice(parameters, "schedule", asked_or(asked, "schedule", default_schedule),
               default_schedule);
    add_partition_choice(asked, network, grid.stages, parameters);
  }
  if (grid.replicas == 1) return;
  const Value* bucket = asked.find("bucket");
  if (bucket == nullptr || *bucket == Value(one_all_reduce)) {
    parameters.imply("bucket", one_all_reduce);
  } else {
    parameters.set("bucket", *bucket);
  }
}

std::optional<CaseSpec> resolve_divided(const Scenario::Request& request, CaseSpec spec,
                                        const Network& network) {
  if (request.device_count < 2 || !request.devices_alike) {
    return refuse(request, "strategy", needs_alike_devices(request));
  }
  const DeviceGrid grid = read_layout(request);
  for (const auto& obstacle :
       {obstacle_of_devices(request, grid), obstacle_of_stages(network, grid),
        obstacle_of_shards(network, spec.parameters.text("model"), grid)}) {
    if (is_left_out(request, obstacle)) return std::nullopt;
  }
  spec.parameters.set("layout", to_string(grid));
  const std::int64_t share = divided_batch(spec.parameters.integer("batch"), grid.replicas)[0];
  if (is_left_out(request, obstacle_of_micro_batches(asked_micro_batches(request), share, grid))) {
    return std::nullopt;
  }
  if (auto split = split_of(request, grid, network, share)) {
    spec.parameters.set("split", *std::move(split));
  }
  add_grid_choices(request.spec.parameters, grid, network, spec.parameters);
  if (is_left_out(request, obstacle_of_samples(network, spec.parameters))) return std::nullopt;
  return spec;
}

}  // namespace

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
                  .strategies = {std::string(hybrid_divided)},
                  .by_devices = all_layouts});
  axes.push_back({.name = "split",
                  .description = "samples of a micro-batch of each replica; default: each "
                                 "replica's samples in two micro-batches per stage",
                  .kind = AxisKind::sizes,
                  .quick = {},
                  .published = {},
                  .max = 1 << 20,
                  .strategies = {std::string(hybrid_divided)},
                  .role = Role::micro_batch_size});
  axes.push_back(micro_batches_axis({std::string(hybrid_divided)}));
  axes.push_back(schedule_axis({std::string(hybrid_divided)}));
  axes.push_back(partition_axis({std::string(hybrid_divided)}));
  axes.push_back({.name = "bucket",
                  .description = "MiB of gradients that replicas add up together, during the rest "
                                 "of the backward pass; 0: all gradients of a stage at once, after "
                                 "its backward pass",
                  .quick = {one_all_reduce},
                  .published = {one_all_reduce},
                  .min = 0,
                  .max = 1 << 14,
                  .strategies = {std::string(hybrid_divided)},
                  .role = Role::exchange_size});
  axes.push_back(optimizer_axis());
  axes.push_back(clip_axis());
  axes.push_back(recompute_axis());
  return axes;
}

DeviceGrid grid_of(const Parameters& parameters) {
  const Value* layout = parameters.find("layout");
  return layout == nullptr ? DeviceGrid{} : grid_named(std::get<std::string>(*layout));
}

/// Returns the micro-batches of each replica.
std::vector<std::vector<std::int64_t>> micro_batches_of_replicas(const Parameters& parameters) {
  std::vector<std::vector<std::int64_t>> all;
  const Value* split = parameters.find("split");
  for (const std::int64_t share :
       divided_batch(parameters.integer("batch"), grid_of(parameters).replicas)) {
    all.push_back(split == nullptr ? std::vector{share}
                                   : micro_batches_of(share, std::get<std::int64_t>(*split)));
  }
  return all;
}

std::optional<CaseSpec> resolved_grid(const Scenario::Request& request) {
  CaseSpec spec = request.spec;
  spec.parameters = parameters_of_step(request);
  const Network network = network_of(spec.parameters);
  if (spec.strategy == hybrid_divided) return resolve_divided(request, std::move(spec), network);
  if (is_left_out(request, obstacle_of_samples(network, spec.parameters))) return std::nullopt;
  return spec;
}

}  // namespace parbench
