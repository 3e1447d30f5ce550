// Parameters and cases of the hybrid scenario.
#include "scenarios/hybrid/hybrid.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/base/error.h"
#include "reports/units/units.h"
#include "scenarios/answers/best_strategy.h"
#include "scenarios/answers/time_shares.h"
#include "scenarios/answers/wording.h"
#include "scenarios/framework/requests.h"
#include "scenarios/models/model_choice.h"
#include "scenarios/plan/schedules/data_parallel.h"
#include "scenarios/plan/schedules/device_grid.h"
#include "scenarios/plan/schedules/partition.h"
#include "scenarios/training/gradient_accumulation.h"
#include "scenarios/training/grid/grid.h"
#include "scenarios/training/partition.h"
#include "scenarios/training/step_checks.h"
#include "scenarios/training/step_choice.h"

namespace parbench {
namespace {

constexpr std::string_view one_device = "single";
constexpr std::string_view divided = "divided";

/// The reference of models that compute something else on a part of a batch than on all of it: the
/// same micro-batches one after the other. Not offered to users.
constexpr std::string_view parts_in_turn = "parts-in-turn";

constexpr std::string_view usual_model = "gpt";

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
                                 "ranks of divided layers, such as dp2, pp2, dp2xpp2xtp1; default: "
                                 "every one that takes all devices",
                  .kind = AxisKind::text,
                  .quick = {},
                  .published = {},
                  .strategies = {std::string(divided)},
                  .by_devices = all_layouts});
  axes.push_back({.name = "split",
                  .description = "samples of a micro-batch of each replica; default: a replica's "
                                 "share in two for each stage",
                  .kind = AxisKind::sizes,
                  .quick = {},
                  .published = {},
                  .max = 1 << 20,
                  .strategies = {std::string(divided)},
                  .role = Role::micro_batch_size});
  axes.push_back(schedule_axis({std::string(divided)}));
  axes.push_back(optimizer_axis());
  axes.push_back(clip_axis());
  return axes;
}

DeviceGrid grid_of(const Parameters& parameters) {
  const Value* layout = parameters.find("layout");
  return layout == nullptr ? DeviceGrid{} : grid_named(std::get<std::string>(*layout));
}

/// The micro-batches of each replica.
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

/// Reads what is asked for, or has been chosen for the devices.
DeviceGrid read_layout(const Scenario::Request& request) {
  const std::string& text = request.spec.parameters.text("layout");
  try {
    return grid_named(text);
  } catch (const std::invalid_argument&) {
    throw UsageError(
        fmt::format("--layout: '{}' is no layout; allowed are factors as dp2, pp2 and "
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

std::optional<Obstacle> obstacle_of_ranks(const Scenario::Request& request, const Network& network,
                                          const DeviceGrid& grid) {
  if (grid.ranks == 1) return std::nullopt;
  if (const auto reason = obstacle_to_division(network, grid.ranks)) {
    return Obstacle{{"layout"}, fmt::format("--layout: {}", *reason)};
  }
  if (request.spec.dtype != DType::f32) {
    return Obstacle{{"layout"},
                    fmt::format("--layout: {} adds up activations, which collectives do "
                                "in f32 alone; use --dtype f32",
                                to_string(grid))};
  }
  const Value* clip = request.spec.parameters.find("clip");
  if (clip == nullptr || std::get<double>(*clip) == 0) return std::nullopt;
  return Obstacle{{"layout"},
                  fmt::format("--layout: {} does not compute the norm of divided layers; leave "
                              "--clip out",
                              to_string(grid))};
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
      {"batch", "split", "layout"},
      fmt::format("--batch, --split: a micro-batch of {} leaves batch normalisations of {} one "
                  "value a channel; use micro-batches of at least {}",
                  report::format_count(static_cast<std::size_t>(smallest), "sample"), network.name,
                  network.min_samples())};
}

std::string label_of(const CaseSpec& spec, const std::vector<CaseOutcome>& outcomes) {
  if (spec.strategy != divided) return spec.strategy;
  std::string label = spec.parameters.text("layout");
  for (const std::string_view name : {"split", "schedule"}) {
    const Value* value = spec.parameters.find(name);
    if (value == nullptr) continue;
    const bool is_varied = std::ranges::any_of(outcomes, [&](const CaseOutcome& one) {
      const Value* other = one.spec.parameters.find(name);
      return other != nullptr && *other != *value &&
             one.spec.parameters.text("layout") == spec.parameters.text("layout") &&
             one.spec.parameters.text("model") == spec.parameters.text("model");
    });
    if (is_varied) label += fmt::format(", {} {}", name, to_string(*value));
  }
  return label;
}

/// " No layers of resnet50 are divided." where only replicas and stages could be compared.
std::string undivided_text(const std::vector<CaseOutcome>& outcomes) {
  std::set<std::string> undivided;
  std::set<std::string> with_ranks;
  for (const CaseOutcome& one : outcomes) {
    if (one.spec.strategy != divided) continue;
    const std::string& model = one.spec.parameters.text("model");
    if (grid_of(one.spec.parameters).ranks > 1) with_ranks.insert(model);
    if (obstacle_to_division(network_of(one.spec.parameters), 2)) undivided.insert(model);
  }
  std::vector<std::string> names;
  std::ranges::set_difference(undivided, with_ranks, std::back_inserter(names));
  if (names.empty()) return {};
  return fmt::format(" Ranks cannot divide layers of {}.", report::format_list(names));
}

class Hybrid final : public Scenario {
 public:
  [[nodiscard]] std::string_view name() const override { return "hybrid"; }
  [[nodiscard]] std::string_view question() const override {
    return "Data, pipeline or tensor parallelism, or which mix of them?";
  }
  [[nodiscard]] const std::vector<Strategy>& strategies() const override { return strategies_; }
  [[nodiscard]] const std::vector<Axis>& axes() const override { return axes_; }
  [[nodiscard]] std::string_view baseline() const override { return one_device; }
  [[nodiscard]] int default_devices() const override { return 2; }
  [[nodiscard]] int min_devices() const override { return 2; }
  [[nodiscard]] bool runs_over_ranks() const override { return true; }

  [[nodiscard]] std::optional<CaseSpec> resolve(const Request& request) const override;
  [[nodiscard]] std::unique_ptr<Case> prepare(const CaseSpec& spec,
                                              Context& context) const override;
  [[nodiscard]] std::optional<CaseSpec> reference(const CaseSpec& spec) const override;
  [[nodiscard]] std::vector<Metric> metrics(const CaseSpec& spec) const override {
    if (spec.strategy != divided) return {};
    return {scaling_efficiency(single_of(spec), grid_of(spec.parameters).devices())};
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
  [[nodiscard]] static CaseSpec single_of(const CaseSpec& spec) {
    return with_strategy(spec, one_device, {"layout", "split", "schedule"});
  }
  [[nodiscard]] static std::optional<CaseSpec> resolve_divided(const Request& request,
                                                               CaseSpec spec,
                                                               const Network& network);

  std::vector<Strategy> strategies_ = {
      {std::string(one_device), "the whole model and batch on the first device"},
      {std::string(divided),
       "replicas of the model in stages whose layers ranks divide, as --layout says; gradients are "
       "added up by one all-reduce"}};
  std::vector<Axis> axes_ = axes_of_hybrid();
};

std::optional<CaseSpec> Hybrid::resolve(const Request& request) const {
  CaseSpec spec = request.spec;
  spec.parameters = {};
  const Parameters& asked = request.spec.parameters;
  const Model model = model_of(request, usual_model);
  add_choice(spec.parameters, "model", model.name, usual_model);
  const Value* batch = asked.find("batch");
  spec.parameters.set("batch", batch != nullptr ? *batch : Value(model.quick_batch));
  add_model_sizes(request, model, spec.parameters);
  add_optimizer_choice(asked, spec.parameters);
  add_clip_choice(asked, spec.parameters);
  const Network network = network_of(spec.parameters);
  if (spec.strategy == divided) return resolve_divided(request, std::move(spec), network);
  if (is_left_out(request, obstacle_of_samples(network, spec.parameters))) return std::nullopt;
  return spec;
}

std::optional<CaseSpec> Hybrid::resolve_divided(const Request& request, CaseSpec spec,
                                                const Network& network) {
  if (request.device_count < 2 || !request.devices_alike) {
    return refuse(request, "strategy", needs_alike_devices(request));
  }
  const DeviceGrid grid = read_layout(request);
  for (const auto& obstacle :
       {obstacle_of_devices(request, grid), obstacle_of_stages(network, grid),
        obstacle_of_ranks(request, network, grid)}) {
    if (is_left_out(request, obstacle)) return std::nullopt;
  }
  const Parameters& asked = request.spec.parameters;
  spec.parameters.set("layout", to_string(grid));
  if (const Value* split = asked.find("split")) {
    if (std::get_if<std::int64_t>(split) == nullptr) {
      throw UsageError("--split: replicas need one size of micro-batches each; use a number");
    }
    spec.parameters.set("split", *split);
  } else if (grid.stages > 1) {
    const std::int64_t share = divided_batch(spec.parameters.integer("batch"), grid.replicas)[0];
    const std::int64_t parts = std::int64_t{2} * grid.stages;
    spec.parameters.set("split", std::max((share + parts - 1) / parts, network.min_samples()));
  }
  if (grid.stages > 1) {
    add_choice(spec.parameters, "schedule", asked_or(asked, "schedule", default_schedule),
               default_schedule);
  }
  if (is_left_out(request, obstacle_of_samples(network, spec.parameters))) return std::nullopt;
  return spec;
}

std::optional<CaseSpec> Hybrid::reference(const CaseSpec& spec) const {
  if (spec.strategy == one_device) return std::nullopt;
  if (!depends_on_division(network_of(spec.parameters))) return single_of(spec);
  CaseSpec reference = with_strategy(spec, parts_in_turn, {"schedule"});
  reference.parameters.set("layout",
                           to_string(DeviceGrid{.replicas = grid_of(spec.parameters).replicas}));
  return reference;
}

/// The first units of the later stages: as published, or of equal cost on the first replica.
std::vector<int> partition_of(GridParts& parts, const CaseSpec& spec) {
  std::vector<int> devices;
  for (int stage = 0; stage < parts.grid.stages; ++stage) {
    devices.push_back(parts.grid.device(0, stage, 0));
  }
  const auto& micro_batches = parts.micro_batches.front();
  return chosen_partition(parts.context, parts.network,
                          default_partition(parts.network, parts.grid.stages), devices,
                          {.dtype = spec.dtype,
                           .math = spec.math,
                           .samples = micro_batches.front(),
                           .accumulate = micro_batches.size() > 1});
}

/// All micro-batches one after the other.
std::unique_ptr<Case> prepare_in_turn(std::unique_ptr<GridParts> parts, const CaseSpec& spec,
                                      const GridStep& step) {
  std::vector<std::int64_t> in_turn;
  for (const auto& of_replica : parts->micro_batches) {
    in_turn.insert(in_turn.end(), of_replica.begin(), of_replica.end());
  }
  const StageRange whole{.network = &parts->network,
                         .first = 0,
                         .last = static_cast<int>(parts->network.layers.size()) - 1,
                         .dtype = spec.dtype,
                         .math = spec.math,
                         .batch = step.batch};
  parts->pipelines.push_back(add_gradient_accumulation(*parts, whole, in_turn, step.optimizer));
  add_step_checks(*parts, parts->network, spec.format(), parts->pipelines.front(),
                  static_cast<int>(in_turn.size()));
  parts->tolerance = tolerance_of(spec.format());
  parts->reads_borrowed_memory = step.optimizer.reads_borrowed_memory();
  return make_case(std::move(parts));
}

std::unique_ptr<Case> Hybrid::prepare(const CaseSpec& spec, Context& context) const {
  auto parts = std::make_unique<GridParts>(context);
  parts->network = network_of(spec.parameters);
  parts->micro_batches = micro_batches_of_replicas(spec.parameters);
  const GridStep step{.batch = spec.parameters.integer("batch"),
                      .format = spec.format(),
                      .optimizer = optimizer_of(spec.parameters)};
  if (spec.strategy == parts_in_turn) return prepare_in_turn(std::move(parts), spec, step);
  parts->grid = grid_of(spec.parameters);
  if (parts->grid.stages > 1) {
    parts->schedule = spec.parameters.text("schedule");
    parts->partition = partition_of(*parts, spec);
    parts->notes.emplace_back(cut_note, units_text(parts->network, parts->partition));
  }
  prepare_grid(*parts, step);
  return make_case(std::move(parts));
}

}  // namespace

std::unique_ptr<Scenario> make_hybrid() { return std::make_unique<Hybrid>(); }

}  // namespace parbench
