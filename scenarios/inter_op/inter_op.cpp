// Parameters, plans and cases of scenario inter-op.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>

#include "scenarios/answers/best_strategy.h"
#include "scenarios/framework/built_in.h"
#include "scenarios/framework/prepared_case.h"
#include "scenarios/framework/requests.h"
#include "scenarios/inference/inference_network.h"
#include "scenarios/inference/layer_checks.h"
#include "scenarios/inference/network_forward.h"
#include "scenarios/inter_op/layer_costs.h"
#include "scenarios/models/model_choice.h"

namespace parbench {
namespace {

constexpr int first_device = 0;
constexpr const char* branching_model = "googlenet";  // default model
constexpr const char* sequential = "one-stream";
constexpr const char* merging = "merged";
constexpr const char* by_levels = "levels";
constexpr const char* by_list = "list";
constexpr const char* by_fastest_levels = "stages";

/// Suffix of a strategy's reference: the same operations on the same streams, one after the other,
/// so that results are rounded in the same way. On other streams, roundings may differ, and
/// normalisations of few values amplify such differences. Not offered to users.
constexpr std::string_view in_turn_suffix = "-in-turn";

bool is_in_turn(std::string_view strategy) { return strategy.ends_with(in_turn_suffix); }

std::string_view schedule_name(std::string_view strategy) {
  return strategy.substr(0, strategy.size() - (is_in_turn(strategy) ? in_turn_suffix.size() : 0));
}

/// A case with the network and the forward pass that its plan refers to.
struct InterOpParts : CaseParts {
  explicit InterOpParts(Context& with) : CaseParts(with), memory(with, first_device) {}
  Network network;
  StageRange whole;
  InterOpProblem problem;
  ContextMemory memory;
  std::unique_ptr<NetworkForward> forward;
};

/// Adds a schedule as tasks, one for each layer or merge.
class ScheduleWriter {
 public:
  /// `in_turn`: each task waits for the previous one, on any lane.
  ScheduleWriter(InterOpParts& parts, const InterOpProblem& problem, bool in_turn)
      : parts_(parts), problem_(problem), in_turn_(in_turn) {}

  void write(const InterOpSchedule& schedule) {
    for (const InterOpLevel& level : schedule) {
      // last tasks of the previous level, by lane
      const std::map<LaneId, TaskId> before = std::move(last_);
      last_.clear();
      for (const PlacedOp& placed : level) {
        if (!tasks_.contains(placed.op)) write(placed, before);
      }
    }
  }

 private:
  [[nodiscard]] LaneId lane_of(int stream) {
    const auto [found, is_new] = lanes_.try_emplace(stream, LaneId{});
    if (is_new) {
      found->second = stream == whole_device ? add_lane(parts_, first_device, StreamKind::compute)
                                             : add_lane(parts_, first_device, StreamKind::compute,
                                                        stream, problem_.streams);
    }
    return found->second;
  }

  void write(const PlacedOp& placed, const std::map<LaneId, TaskId>& level_before) {
    const LaneId lane = lane_of(placed.stream);
    const std::vector<int> layers =
        placed.merge == not_merged ? std::vector{placed.op}
                                   : problem_.merges[static_cast<std::size_t>(placed.merge)].ops;
    Task task{.name = name_of(layers), .lanes = {lane}, .phase = "forward"};
    for (const int producer : problem_.after[static_cast<std::size_t>(placed.op)]) {
      task.after.push_back(tasks_.at(producer));
    }
    if (!last_.contains(lane)) {
      for (const auto& [other, last] : level_before) task.after.push_back(last);
    }
    if (in_turn_ && count_ > 0) task.after.push_back(count_ - 1);
    std::ranges::sort(task.after);
    const auto repeated = std::ranges::unique(task.after);
    task.after.erase(repeated.begin(), repeated.end());
    Stream& stream = stream_of(parts_, lane);
    const std::vector<OpCall> calls = placed.merge == not_merged
                                          ? parts_.forward->plan(placed.op, stream, parts_.ops)
                                          : parts_.forward->plan_merged(layers, stream, parts_.ops);
    const TaskId id = parts_.plan.add(std::move(task), {calls.begin(), calls.end()});
    for (const int layer : layers) tasks_[layer] = id;
    last_[lane] = id;
    count_ = id + 1;
  }

  /// Returns "a", or "a + b" for merged layers.
  [[nodiscard]] std::string name_of(const std::vector<int>& layers) const {
    std::string name;
    for (const int layer : layers) {
      name += (name.empty() ? "" : " + ") + parts_.network.layer(layer).name;
    }
    return name;
  }

  InterOpParts& parts_;
  const InterOpProblem& problem_;
  bool in_turn_;
  TaskId count_ = 0;               // number of tasks so far
  std::map<int, LaneId> lanes_;    // by stream
  std::map<int, TaskId> tasks_;    // by layer
  std::map<LaneId, TaskId> last_;  // last task of each lane in this level
};

/// Returns the schedule of a strategy. Sets the costs of the problem if the schedule depends on
/// them.
InterOpSchedule schedule_of(const CaseSpec& spec, const InterOpParts& parts,
                            InterOpProblem& problem) {
  const std::string_view name = schedule_name(spec.strategy);
  if (name == sequential) return sequential_schedule(problem);
  if (name == merging) return merged_schedule(problem);
  if (name == by_levels) return topological_schedule(problem);
  set_costs(problem, parts.context, first_device, parts.whole);
  return name == by_list ? list_schedule(problem) : fastest_schedule(problem);
}

bool has_branches(const Network& network) {
  const InterOpProblem problem = inter_op_problem(network, 2);
  return topological_schedule(problem) != sequential_schedule(problem);
}

bool has_merges(const Network& network) { return !inter_op_problem(network, 2).merges.empty(); }

/// Returns "12 of 69 layers on streams that share the device, in 9 of 40 levels; 9 merged into 3".
std::string described(const InterOpSchedule& schedule) {
  std::size_t layers = 0;
  std::size_t beside = 0;
  std::size_t parallel = 0;
  std::size_t merged = 0;
  std::size_t merges = 0;
  for (const InterOpLevel& level : schedule) {
    layers += level.size();
    if (level.front().merge != not_merged) {
      merged += level.size();
      ++merges;
    }
    const int first = level.front().stream;
    if (std::ranges::all_of(level, [&](const PlacedOp& one) { return one.stream == first; })) {
      continue;
    }
    beside += level.size();
    ++parallel;
  }
  return fmt::format(
      "{} of {} layers on streams that share the device, in {} of {} levels; {} merged into {}",
      beside, layers, parallel, schedule.size(), merged, merges);
}

const std::vector<Strategy> inter_op_strategies = {
    {sequential, "one layer after the other on all cores of the device"},
    {merging,
     "the same, with convolutions merged that read the same input and differ only in output "
     "channels"},
    {by_levels,
     "level by level of the graph: the layers of a level distributed over --streams streams"},
    {by_list,
     "branches list-scheduled on --streams streams, by the measured costs of their layers"},
    {by_fastest_levels,
     "the fastest sequence of levels by dynamic programming on measured costs (the stages of "
     "IOS)"}};

std::vector<Axis> axes_of_inter_op() {
  std::vector<Axis> axes = {model_axis(branching_model),
                            {.name = "batch",
                             .description = "samples of the forward pass",
                             .quick = {1, 8},
                             .published = {1, 16, 32, 64, 128},
                             .max = 1 << 20}};
  std::ranges::move(model_size_axes(), std::back_inserter(axes));
  axes.push_back({.name = "streams",
                  .description = "streams that share the device",
                  .quick = {2},
                  .published = {2, 4},
                  .min = 2,
                  .max = 64,
                  .strategies = {by_levels, by_list, by_fastest_levels}});
  return axes;
}

class InterOp final : public Scenario {
 public:
  [[nodiscard]] std::string_view name() const override { return "inter-op"; }
  [[nodiscard]] std::string_view question() const override {
    return "Do the branches of my network gain from running in parallel on one device, and by "
           "which schedule?";
  }
  [[nodiscard]] const std::vector<Strategy>& strategies() const override {
    return inter_op_strategies;
  }
  [[nodiscard]] const std::vector<Axis>& axes() const override { return axes_; }
  [[nodiscard]] std::string_view baseline() const override { return sequential; }

  [[nodiscard]] Resolution resolve(const Request& request) const override {
    if (request.device_count > 1 && request.was_given("devices")) {
      throw UsageError(
          fmt::format("--devices: {} devices are named, and inter-op measures the streams of one; "
                      "name one, such as --devices cpu:0 or --devices cuda:0",
                      request.device_count));
    }
    CaseSpec spec = request.spec;
    const Model model = model_of(request, branching_model);
    Parameters parameters;
    add_choice(parameters, "model", model.name, branching_model);
    parameters.set("batch", *request.spec.parameters.find("batch"));
    add_model_sizes(request, model, parameters);
    if (const Value* streams = request.spec.parameters.find("streams")) {
      parameters.set("streams", *streams);
    }
    spec.parameters = parameters;
    const Network network = for_inference(network_of(parameters));
    const std::string obstacle = obstacle_to_batch(network, parameters.integer("batch"));
    if (!obstacle.empty()) return Obstacle{{"batch"}, obstacle};
    if (spec.strategy != sequential && !has_branches(network)) {
      return Obstacle{{"strategy"},
                      fmt::format("--strategy {}: {} has no layers that could run at once; use a "
                                  "network with branches, or --strategy {}",
                                  spec.strategy, network.name, sequential)};
    }
    if (spec.strategy == merging && !has_merges(network)) {
      return Obstacle{{"strategy"},
                      fmt::format("--strategy {}: {} has no convolutions that read the same input "
                                  "and differ only in output channels; use another strategy",
                                  spec.strategy, network.name)};
    }
    return spec;
  }

  [[nodiscard]] std::unique_ptr<Case> prepare(const CaseSpec& spec,
                                              Context& context) const override {
    auto parts = std::make_unique<InterOpParts>(context);
    parts->network = for_inference(network_of(spec.parameters));
    const std::int64_t batch = spec.parameters.integer("batch");
    parts->whole = whole_range(parts->network, spec.format(), batch);
    parts->problem = inter_op_problem(parts->network,
                                      static_cast<int>(spec.parameters.integer_or("streams", 1)));
    const InterOpSchedule schedule = schedule_of(spec, *parts, parts->problem);
    parts->forward = std::make_unique<NetworkForward>(
        parts->whole, context.stream(first_device, StreamKind::compute), first_device,
        context.options().seed, parts->memory);
    parts->forward->draw_input(context.perturbation());
    ScheduleWriter(*parts, parts->problem, is_in_turn(spec.strategy)).write(schedule);
    parts->notes.emplace_back("schedule", described(schedule));
    add_outputs(*parts);
    add_layer_checks(*parts, parts->whole,
                     [forward = parts->forward.get()](int /*layer*/) -> const NetworkForward& {
                       return *forward;
                     });
    // The reference has the same operations on the same streams, so results are bitwise equal.
    parts->tolerance = {.relative = 0, .absolute = 0};
    parts->amount = {.value = static_cast<double>(batch),
                     .unit = parts->network.vocabulary > 0 ? "samples" : "images"};
    parts->reads_borrowed_memory = false;
    return make_case(std::move(parts));
  }

  [[nodiscard]] std::optional<CaseSpec> reference(const CaseSpec& spec) const override {
    const bool has_one_stream = spec.parameters.find("streams") == nullptr;
    if (has_one_stream || is_in_turn(spec.strategy)) return std::nullopt;
    return with_strategy(spec, spec.strategy + std::string(in_turn_suffix));
  }

  [[nodiscard]] bool plans_show_all() const override { return true; }
  [[nodiscard]] Conclusion answer(const std::vector<CaseOutcome>& outcomes,
                                  const PossiblyFastest& possibly_fastest) const override {
    return best_strategy(*this, outcomes, possibly_fastest);
  }

 private:
  /// Adds the network's output, and fills the outputs of all layers with NaN, so that verification
  /// fails if a layer reads an input too early.
  static void add_outputs(InterOpParts& parts) {
    for (int layer = 0; layer <= parts.whole.last; ++layer) {
      parts.data.poison(parts.forward->tensor(layer));
    }
    const Tensor output = parts.forward->tensor(parts.whole.last);
    parts.outputs.push_back(
        {"output of the network", [&parts, output] { return parts.data.read(output); }});
  }

  std::vector<Axis> axes_ = axes_of_inter_op();
};

}  // namespace

std::unique_ptr<Scenario> make_inter_op() { return std::make_unique<InterOp>(); }

}  // namespace parbench
