// Parameters and cases of scenario graph.
#include "scenarios/graph/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/units/units.h"
#include "scenarios/framework/prepared_case.h"
#include "scenarios/framework/requests.h"
#include "scenarios/graph/answer.h"
#include "scenarios/graph/graph_plan.h"
#include "scenarios/graph/work_graph.h"

namespace parbench {
namespace {

constexpr std::string_view in_program_order = "sequential";
constexpr std::string_view device_by_device = "per-device";
constexpr std::string_view whenever_ready = "by-dependency";

constexpr std::string_view mlp = "mlp";
constexpr std::string_view diamond = "diamonds";
constexpr std::string_view random_layers = "layered";

DispatchOrder dispatch_of(const CaseSpec& spec) {
  if (spec.strategy == in_program_order) return DispatchOrder::sequential;
  return spec.strategy == device_by_device ? DispatchOrder::per_device
                                           : DispatchOrder::by_dependency;
}

/// The graph of a case, its nodes on so many devices.
WorkGraph graph_of(const CaseSpec& spec, int devices) {
  const Parameters& given = spec.parameters;
  const WorkSizes sizes{.width = given.integer("features"), .batch = given.integer("batch")};
  const std::string& kind = given.text("dag");
  if (kind == mlp) return mlp_step(sizes, devices);
  const int nodes = static_cast<int>(given.integer("nodes"));
  WorkGraph graph = kind == diamond
                        ? diamonds(sizes, nodes)
                        : layered(sizes, nodes, static_cast<std::uint64_t>(given.integer("draw")));
  place(graph, devices);
  return graph;
}

const std::vector<Strategy> graph_strategies = {
    {std::string(in_program_order), "the nodes in program order, each behind the one before"},
    {std::string(device_by_device),
     "program order on each device; all that another device was given is waited for before one of "
     "its results is taken"},
    {std::string(whenever_ready),
     "list scheduling on each device, events only where an edge crosses devices"},
};

const std::vector<Axis> graph_axes = {
    {.name = "dag",
     .description = "the graph: the training step of a perceptron of two layers, two chains of "
                    "diamonds with two reductions, or random layers",
     .kind = AxisKind::choice,
     .quick = {std::string(mlp), std::string(diamond)},
     .published = {std::string(mlp), std::string(diamond), std::string(random_layers)},
     .choices = {std::string(mlp), std::string(diamond), std::string(random_layers)}},
    {.name = "features",
     .description = "columns of activations; weights are square",
     .quick = {512},
     .published = {256, 1024, 4096},
     .max = 65536},
    {.name = "batch",
     .description = "rows of activations; the perceptron divides them between devices",
     .quick = {256},
     .published = {256},
     .max = 1 << 20},
    {.name = "nodes",
     .description = "operations of a graph of diamonds (about) or of random layers",
     .quick = {28},
     .published = {28, 56},
     .max = 2000},
    {.name = "draw",
     .description = "which random graph",
     .quick = {1},
     .published = {1, 2},
     .min = 0,
     .max = 1e9},
};

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
  [[nodiscard]] const std::vector<Axis>& axes() const override { return graph_axes; }
  [[nodiscard]] std::string_view baseline() const override { return in_program_order; }
  [[nodiscard]] int default_devices() const override { return 3; }
  [[nodiscard]] int min_devices() const override { return 2; }

  /// A graph keeps the parameters that it has.
  [[nodiscard]] std::optional<CaseSpec> resolve(const Request& request) const override {
    CaseSpec spec = request.spec;
    if (request.device_count < min_devices() && spec.strategy != in_program_order) {
      return refuse(request, "strategy",
                    fmt::format("--strategy {} needs at least two devices, and this run has {}; "
                                "give --devices 2 or more",
                                spec.strategy, request.device_count));
    }
    const std::string kind = spec.parameters.text("dag");  // outlives what is replaced below
    spec.parameters = spec.parameters.where([&](std::string_view name) {
      if (name == "draw") return kind == random_layers;
      return name != "nodes" || kind != mlp;
    });
    const std::int64_t batch = spec.parameters.integer("batch");
    const int parts = mlp_parts(request.device_count);
    if (kind == mlp && batch < parts) {
      return refuse(
          request, "batch",
          fmt::format("--batch {} cannot be divided into {}, one for each device that "
                      "computes; use at least {}",
                      batch, report::format_count(static_cast<std::size_t>(parts), "part"), parts));
    }
    spec.parameters.set("devices", std::int64_t{request.device_count});
    return spec;
  }

  [[nodiscard]] std::unique_ptr<Case> prepare(const CaseSpec& spec,
                                              Context& context) const override {
    auto parts = std::make_unique<CaseParts>(context);
    plan_graph(*parts, graph_of(spec, context.device_count()), spec.format(), dispatch_of(spec));
    // All orders have the same operations on the same lanes: their results are the same bits.
    parts->tolerance = {.relative = 0, .absolute = 0};
    parts->amount = {parts->plan.graph().work().flops, "FLOP"};
    return make_case(std::move(parts));
  }

  [[nodiscard]] std::optional<CaseSpec> reference(const CaseSpec& spec) const override {
    if (spec.strategy == in_program_order) return std::nullopt;
    return with_strategy(spec, in_program_order);
  }

  [[nodiscard]] Conclusion answer(const std::vector<CaseOutcome>& outcomes,
                                  const PossiblyFastest& possibly_fastest) const override {
    return graph_answer(*this, outcomes, possibly_fastest);
  }
};

}  // namespace

std::unique_ptr<Scenario> make_graph() { return std::make_unique<GraphScenario>(); }

}  // namespace parbench
