// Axes and layouts of scenario hybrid.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <stdexcept>

#include "kernels/base/error.h"
#include "kernels/base/units/units.h"
#include "scenarios/answers/recommend.h"
#include "scenarios/framework/built_in.h"
#include "scenarios/models/model_choice.h"
#include "scenarios/plan/schedules/data_parallel.h"
#include "scenarios/training/question/question.h"
#include "scenarios/training/question/step_choice.h"

namespace parbench {
namespace {

constexpr const char* divided = "divided";

constexpr const char* usual_model = "gpt";

/// Value of the axis "bucket" with which the gradients of a stage are exchanged all at once.
constexpr std::int64_t one_exchange = 0;

std::vector<Value> all_layouts(int devices) {
  std::vector<Value> names;
  for (const DeviceGrid& grid : grids_of(devices)) names.emplace_back(to_string(grid));
  return names;
}

std::vector<Axis> axes_of_hybrid() {
  return training_axes(
      model_axis(usual_model, {"rnn-lm", usual_model, "resnet50"}), Role::batch,
      {{.name = "layout",
        .description = "how devices divide the step: replicas, stages of a pipeline and shards of "
                       "layers, such as dp2, pp2, dp2xpp2xtp1; default: every one that takes all "
                       "devices",
        .kind = AxisKind::text,
        .strategies = {divided},
        .by_devices = all_layouts},
       step_axis("split", {divided}),
       step_axis("micro-batches", {divided}),
       step_axis("schedule", {divided}),
       step_axis("partition", {divided}),
       {.name = "bucket",
        .description = "MiB of gradients that replicas add up together, during the rest of the "
                       "backward pass; 0: all gradients of a stage at once, after its backward "
                       "pass",
        .quick = {one_exchange},
        .published = {one_exchange},
        .min = 0,
        .max = 1 << 14,
        .strategies = {divided},
        .role = Role::exchange_size},
       step_axis("optimizer"),
       step_axis("clip"),
       step_axis("recompute")});
}

/// Returns the grid of a case; one device if the case has no layout.
DeviceGrid grid_of(const Parameters& parameters) {
  const std::string layout = parameters.text_or("layout", "");
  return layout.empty() ? DeviceGrid{} : grid_named(layout);
}

/// Returns " parbench cannot divide layers of resnet50 into shards." for the models that cannot be
/// divided into shards and have no case with shards; "" if there are none.
std::string undivided_text(const Outcomes& outcomes) {
  std::set<std::string> undivided;
  std::set<std::string> with_shards;
  for (const CaseOutcome* one : outcomes) {
    if (one->spec.strategy != divided) continue;
    const Parameters& parameters = one->spec.parameters;
    const std::string& model = parameters.text("model");
    if (grid_of(parameters).shards > 1) with_shards.insert(model);
    if (obstacle_to_division(network_of(parameters), 2)) undivided.insert(model);
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
             .strategies = {{divided,
                             "the model on a grid of devices that --layout chooses: replicas (dp) "
                             "with parts of the batch, stages (pp) with parts of the layers, "
                             "shards (tp) with parts of each layer; gradients are added up by one "
                             "all-reduce, or in buckets"}},
             .axes = axes_of_hybrid(),
             .words = {.named_by = "layout", .remark = undivided_text}}) {}

 private:
  [[nodiscard]] std::optional<Obstacle> divide(const Request& request, const Network& network,
                                               Parameters& parameters) const override;
  [[nodiscard]] StepLayout layout_of(const CaseSpec& spec) const override {
    return {.grid = grid_of(spec.parameters)};
  }
};

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
        to_string(grid), format_count(grid.devices(), "device"), request.device_count,
        grid.devices());
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

/// Returns the requested number of samples per micro-batch; without a request, for a pipeline, a
/// number that gives about two micro-batches per stage, otherwise nothing. `share`: samples of the
/// largest replica.
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

/// Adds "split", the number of samples per micro-batch. Returns an obstacle if no single number
/// gives the requested number of micro-batches.
std::optional<Obstacle> add_size(const Scenario::Request& request, const DeviceGrid& grid,
                                 const Network& network, Parameters& parameters) {
  const std::int64_t share = divided_batch(parameters.integer("batch"), grid.replicas)[0];
  const std::string samples =
      fmt::format("the {} of a replica ({})", format_count(share, "sample"), to_string(grid));
  const auto split = split_of(request, grid, network, share);
  if (auto obstacle = add_split(request, share, samples, split, parameters)) return obstacle;
  const Value* size = parameters.find("split");
  if (size == nullptr || std::holds_alternative<std::int64_t>(*size)) return std::nullopt;
  return Obstacle{{"micro-batches"},
                  fmt::format("--micro-batches: no size divides {} into {}; use a divisor of {}",
                              samples, request.spec.parameters.integer("micro-batches"), share)};
}

std::optional<Obstacle> Hybrid::divide(const Request& request, const Network& network,
                                       Parameters& parameters) const {
  if (auto obstacle = obstacle_of_devices(request)) return obstacle;
  const DeviceGrid grid = read_layout(request);
  if (auto obstacle = obstacle_of_grid(request, network, parameters.text("model"), grid)) {
    return obstacle;
  }
  parameters.set("layout", to_string(grid));
  if (auto obstacle = add_size(request, grid, network, parameters)) return obstacle;
  const Parameters& asked = request.spec.parameters;
  if (grid.stages > 1) {
    add_asked(asked, "schedule", default_schedule, parameters);
    add_partition_choice(asked, network, grid.stages, parameters);
  }
  if (grid.replicas > 1) add_asked(asked, "bucket", one_exchange, parameters);
  return obstacle_of_replicas(parameters.integer("batch"), grid.replicas);
}

}  // namespace

std::unique_ptr<Scenario> make_hybrid() { return std::make_unique<Hybrid>(); }

}  // namespace parbench
