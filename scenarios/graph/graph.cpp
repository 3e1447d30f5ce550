// Parameters and cases of scenario graph.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/units/units.h"
#include "scenarios/answers/best_strategy.h"
#include "scenarios/answers/wording.h"
#include "scenarios/framework/all_cores.h"
#include "scenarios/framework/built_in.h"
#include "scenarios/framework/prepared_case.h"
#include "scenarios/framework/requests.h"
#include "scenarios/graph/graph_plan.h"
#include "scenarios/graph/matrix_nodes.h"
#include "scenarios/graph/network_nodes.h"
#include "scenarios/inference/inference_network.h"
#include "scenarios/models/model_choice.h"

namespace parbench {
namespace {

constexpr const char* in_program_order = "sequential";
constexpr const char* device_by_device = "per-device";
constexpr const char* whenever_ready = "by-dependency";

constexpr const char* mlp = "mlp";
constexpr const char* diamond = "diamonds";
constexpr const char* random_layers = "layered";
constexpr const char* network = "network";

constexpr const char* branching_model = "googlenet";  // default model
constexpr std::int64_t rows_of_matrices = 256;
constexpr std::int64_t samples_of_network = 8;
constexpr std::int64_t published_samples_of_network = 32;

DispatchOrder dispatch_of(const CaseSpec& spec) {
  if (spec.strategy == in_program_order) return DispatchOrder::sequential;
  return spec.strategy == device_by_device ? DispatchOrder::per_device
                                           : DispatchOrder::by_dependency;
}

/// Returns whether one device replaces all devices of a case (strategy all-cores). `devices`:
/// number of devices of the case's context.
bool is_whole(const Parameters& given, int devices) {
  return devices < given.integer(devices_parameter);
}

/// Returns the graph of matrix operations of a case, placed on the `devices` devices of the case's
/// context.
WorkGraph matrices_of(const Parameters& given, int devices) {
  const WorkSizes sizes{.width = given.integer("features"), .batch = given.integer("batch")};
  const std::string& kind = given.text("dag");
  if (kind == mlp) {
    WorkGraph graph = mlp_step(sizes, static_cast<int>(given.integer(devices_parameter)));
    if (is_whole(given, devices)) {
      for (WorkNode& node : graph.nodes) node.device = 0;
    }
    return graph;
  }
  const int nodes = static_cast<int>(given.integer("nodes"));
  WorkGraph graph = kind == diamond
                        ? diamonds(sizes, nodes)
                        : layered(sizes, nodes, static_cast<std::uint64_t>(given.integer("draw")));
  place(graph, devices);
  return graph;
}

/// Returns the nodes of a case, placed on the devices of its context.
std::unique_ptr<GraphNodes> placed_nodes(const CaseSpec& spec, CaseParts& parts) {
  const Parameters& given = spec.parameters;
  if (given.text("dag") == network) {
    return std::make_unique<NetworkNodes>(parts, for_inference(network_of(given)), spec.format(),
                                          given.integer("batch"));
  }
  return std::make_unique<MatrixNodes>(parts, matrices_of(given, parts.context.device_count()),
                                       spec.format());
}

const std::vector<Strategy> graph_strategies = {
    {in_program_order, "the nodes in program order, each after the previous one"},
    {std::string(all_cores),
     "the same on one device with the cores of all devices (for parts of a GPU: the whole GPU)"},
    {device_by_device,
     "program order on each device; waits for all work submitted to another device before using "
     "one of its results"},
    {whenever_ready, "list scheduling on each device, events only where an edge crosses devices"},
};

const std::vector<Value> all_graphs{mlp, diamond, random_layers, network};

/// Axes that apply only to graphs of matrix operations.
const std::vector<Axis> matrix_axes = {
    {.name = "features",
     .description = "columns of the matrices' activations; weights are square",
     .quick = {512},
     .published = {256, 1024, 4096},
     .max = 65536},
    {.name = "nodes",
     .description = "operations of a graph of diamonds (about) or of random layers",
     .quick = {28},
     .published = {28, 56},
     .max = 2000},
    {.name = "draw",
     .description = "seed of the random graph",
     .quick = {1},
     .published = {1, 2},
     .min = 0,
     .max = 1e9},
};

/// Axes that apply only to networks.
std::vector<Axis> network_axes() {
  std::vector<Axis> axes{model_axis(branching_model)};
  std::ranges::move(model_size_axes(), std::back_inserter(axes));
  return axes;
}

std::vector<Axis> axes_of_graph() {
  std::vector<Axis> axes{
      {.name = "dag",
       .description =
           "mlp: training step of a two-layer perceptron; diamonds: two chains of diamonds "
           "with two reductions; layered: random layers; network: forward pass of a "
           "model",
       .kind = AxisKind::choice,
       .quick = all_graphs,
       .published = all_graphs,
       .choices = {mlp, diamond, random_layers, network}},
      {.name = "batch",
       .description = "of mlp, diamonds and layered: rows of activations (256), which mlp divides "
                      "between devices; of network: samples (8, published 32)",
       .max = 1 << 20}};
  std::ranges::copy(matrix_axes, std::back_inserter(axes));
  std::ranges::move(network_axes(), std::back_inserter(axes));
  return axes;
}

/// Returns the name of the first of `axes` that the user has set; empty if there is none.
std::string given_of(const Scenario::Request& request, const std::vector<Axis>& axes) {
  for (const Axis& axis : axes) {
    if (request.was_given(axis.name)) return axis.name;
  }
  return {};
}

/// Resolves a case with a graph of matrix operations. Keeps only the parameters that apply to this
/// kind of graph.
Resolution resolved_matrices(const Scenario::Request& request) {
  const Parameters& asked = request.spec.parameters;
  const std::string& kind = asked.text("dag");
  if (const std::string other = given_of(request, network_axes()); !other.empty()) {
    return Obstacle{
        {"dag"},
        fmt::format(
            "--{0} applies to --dag {2} only, not to --dag {1}; use --dag {2}, or leave --{0} out",
            other, kind, network)};
  }
  const Value batch = asked.value_or("batch", rows_of_matrices);
  CaseSpec spec = request.spec;
  spec.parameters = {};
  const auto keep = [&](const std::string& name) { spec.parameters.set(name, *asked.find(name)); };
  keep("dag");
  keep("features");
  spec.parameters.set("batch", batch);
  if (kind != mlp) keep("nodes");
  if (kind == random_layers) keep("draw");
  const std::int64_t rows = std::get<std::int64_t>(batch);
  const int parts = mlp_parts(request.device_count);
  if (kind == mlp && rows < parts) {
    return Obstacle{{"batch"},
                    fmt::format("--batch {} cannot be divided into {}, one for each device that "
                                "computes; use at least {}",
                                rows, format_count(parts, "part"), parts)};
  }
  return spec;
}

Resolution resolved_network(const Scenario::Request& request) {
  if (const std::string other = given_of(request, matrix_axes); !other.empty()) {
    return Obstacle{{"dag"},
                    fmt::format("--{0} does not apply to --dag {1}, whose model determines all "
                                "sizes; use another graph, or leave --{0} out",
                                other, network)};
  }
  if (!request.devices_alike) {
    return Obstacle{
        {"model", "dag"},
        fmt::format(
            "--dag {} needs devices of one kind, because layers exchange results in the memory "
            "layout of their device; give --devices of one kind, such as cpu:0,cpu:1",
            network)};
  }
  const Model model = model_of(request, branching_model);
  CaseSpec spec = request.spec;
  spec.parameters = {};
  spec.parameters.set("dag", network);
  add_choice(spec.parameters, "model", model.name, branching_model);
  spec.parameters.set("batch",
                      request.spec.parameters.value_or("batch", request.preset == Preset::published
                                                                    ? published_samples_of_network
                                                                    : samples_of_network));
  add_model_sizes(request, model, spec.parameters);
  const std::string obstacle = obstacle_to_batch(for_inference(network_of(spec.parameters)),
                                                 spec.parameters.integer("batch"));
  if (!obstacle.empty()) return Obstacle{{"batch"}, obstacle};
  return spec;
}

// --- answer ---

/// Lower limits of the time on several devices, as fractions (at most 1) of the measured time in
/// program order; one entry for each setting (values of all parameters except the strategy) with a
/// known bound. An entry is the minimum over the orders measured at that setting, because the costs
/// of tasks are measured for each order.
struct PlanLimits {
  std::vector<double> critical_path;
  std::vector<double> bound;
  std::size_t without = 0;  // number of settings without a known bound
  std::size_t devices = 0;
};

PlanLimits limits_of(const Scenario& scenario, const std::vector<CaseOutcome>& outcomes) {
  PlanLimits limits;
  for (const CaseOutcome& in_turn : outcomes) {
    if (in_turn.spec.strategy != scenario.baseline()) continue;
    double path = 1;
    double bound = 1;
    bool is_known = false;
    for (const CaseOutcome& one : outcomes) {
      if (one.spec.strategy == scenario.baseline() || uses_all_cores(one.spec)) continue;
      if (with_strategy(one.spec, scenario.baseline()) != in_turn.spec) continue;
      if (one.efficiency <= 0) continue;
      is_known = true;
      path = std::min(path, one.critical_path / in_turn.median_seconds);
      bound = std::min(bound, one.efficiency * one.median_seconds / in_turn.median_seconds);
      limits.devices = static_cast<std::size_t>(one.spec.parameters.integer(devices_parameter));
    }
    if (!is_known) {
      ++limits.without;
      continue;
    }
    limits.critical_path.push_back(path);
    limits.bound.push_back(bound);
  }
  return limits;
}

/// Returns "63%", or "40% to 63%" if the shares differ.
std::string shares_text(const std::vector<double>& shares) {
  const auto [min, max] = std::ranges::minmax(shares);
  return range_text(format_percent(min, 0), format_percent(max, 0));
}

std::string limits_text(const PlanLimits& shares) {
  if (shares.bound.empty()) return {};
  const std::size_t known = shares.bound.size();
  const std::string where = shares.without == 0
                                ? " The"
                                : fmt::format(" At {} of {}, the", known,
                                              format_count(known + shares.without, "setting"));
  return fmt::format(
      "{} longest dependency chain takes {} of the sequential time; no order on {} less than {}.",
      where, shares_text(shares.critical_path), format_count(shares.devices, "device"),
      shares_text(shares.bound));
}

/// Recommends an order for each graph, and states the limits of all orders (PlanLimits).
Conclusion graph_answer(const Scenario& scenario, const std::vector<CaseOutcome>& outcomes,
                        const PossiblyFastest& possibly_fastest) {
  Conclusion made = best_strategy(scenario, outcomes, possibly_fastest);
  if (made.is_answered) {
    made.text = joined_sentences({made.text, limits_text(limits_of(scenario, outcomes))});
  }
  return made;
}

// --- scenario ---

class GraphScenario final : public Scenario {
 public:
  [[nodiscard]] std::string_view name() const override { return "graph"; }
  [[nodiscard]] std::string_view question() const override {
    return "What does a graph of operations over several devices gain when dependencies alone "
           "order it?";
  }
  [[nodiscard]] const std::vector<Strategy>& strategies() const override {
    return graph_strategies;
  }
  [[nodiscard]] const std::vector<Axis>& axes() const override { return axes_; }
  [[nodiscard]] std::string_view baseline() const override { return in_program_order; }
  [[nodiscard]] int default_devices() const override { return 3; }
  [[nodiscard]] bool runs_over_ranks() const override { return true; }
  [[nodiscard]] int min_devices() const override { return 2; }

  [[nodiscard]] bool plans_show_all() const override { return true; }

  [[nodiscard]] Resolution resolve(const Request& request) const override {
    const std::string& strategy = request.spec.strategy;
    if (request.device_count < min_devices() && strategy != in_program_order) {
      return Obstacle{{"strategy"}, too_few_devices(request)};
    }
    Resolution resolution = request.spec.parameters.text("dag") == network
                                ? resolved_network(request)
                                : resolved_matrices(request);
    if (auto* const spec = std::get_if<CaseSpec>(&resolution)) {
      spec->parameters.set("devices", std::int64_t{request.device_count});
    }
    return resolution;
  }

  [[nodiscard]] std::unique_ptr<Case> prepare(const CaseSpec& spec,
                                              Context& context) const override {
    auto parts = std::make_unique<GraphParts>(context);
    parts->nodes = placed_nodes(spec, *parts);
    plan_graph(*parts, dispatch_of(spec));
    // All orders have the same operations on the same lanes, so their results are bitwise equal.
    // One device for all (strategy all-cores) may round differently.
    parts->tolerance = is_whole(spec.parameters, context.device_count())
                           ? tolerance_of(spec.format())
                           : Tolerance{.relative = 0, .absolute = 0};
    parts->amount = {parts->plan.graph().work().flops, "FLOP"};
    return make_case(std::move(parts));
  }

  [[nodiscard]] std::optional<CaseSpec> reference(const CaseSpec& spec) const override {
    if (spec.strategy == in_program_order) return std::nullopt;
    return with_strategy(spec, in_program_order);
  }

  /// Keeps parameter `devices`, because the number of parts of the perceptron's batch depends on it
  /// (`mlp_parts`).
  [[nodiscard]] CaseSpec undivided(const CaseSpec& spec) const override {
    return with_strategy(spec, in_program_order);
  }

  [[nodiscard]] Conclusion answer(const std::vector<CaseOutcome>& outcomes,
                                  const PossiblyFastest& possibly_fastest) const override {
    return graph_answer(*this, outcomes, possibly_fastest);
  }

 private:
  std::vector<Axis> axes_ = axes_of_graph();
};

}  // namespace

std::unique_ptr<Scenario> make_graph() { return std::make_unique<GraphScenario>(); }

}  // namespace parbench
