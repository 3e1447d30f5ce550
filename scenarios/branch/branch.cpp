// Scenario branch: independent convolutions with one input, in different ways on one device.
#include <fmt/format.h>

#include <span>

#include "scenarios/branch/branch_layers.h"
#include "scenarios/branch/strategies.h"
#include "scenarios/framework/built_in.h"
#include "scenarios/framework/requests.h"

namespace parbench {
namespace {

constexpr int branch_device = 0;

/// Bytes that a process can address with 47 bits. Sums and products of smaller sizes fit 64-bit
/// integers.
constexpr double max_bytes = 0x1p47;

/// Throws UsageError for layers larger than any process's memory, before sizes are computed from
/// them.
void check_size(const BranchSizes& sizes) {
  const double bytes = sizes.bytes();
  if (bytes <= max_bytes) return;
  throw UsageError(fmt::format(
      "--batch {} --channels {} --image {} --branches {} make {:.3g} TiB of outputs and weights; a "
      "process can address {:.0f} TiB, use smaller values",
      sizes.batch, sizes.channels, sizes.image, sizes.branches, bytes * 0x1p-40,
      max_bytes * 0x1p-40));
}

/// Adds the task of a planned convolution, without a cost key: every layer writes memory of its
/// own, so the costs of layers may differ.
void add_layer(CaseParts& parts, const BranchLayer& layer, LaneId lane) {
  std::string name = layer.count == 1 ? fmt::format("convolution {}", layer.first)
                                      : fmt::format("convolutions {}-{}", layer.first,
                                                    layer.first + layer.count - 1);
  parts.plan.add({.name = std::move(name), .lanes = {lane}}, {layer.call()});
}

/// Plans a convolution for each layer; layer i runs on lane i mod `lane_count`. All layers read the
/// input; in a chain, each layer after the first reads the output of the previous one.
std::vector<BranchLayer> plan_lanes(CaseParts& parts, const BranchSizes& sizes, int lane_count,
                                    bool is_chain = false) {
  std::vector<LaneId> lanes;
  for (int i = 0; i < lane_count; ++i) {
    lanes.push_back(add_lane(parts, branch_device, StreamKind::compute, i, lane_count));
  }
  Tensor source = make_input(parts, branch_device, sizes);
  std::vector<BranchLayer> layers;
  for (std::int64_t i = 0; i < sizes.branches; ++i) {
    const LaneId lane = lanes[i % lane_count];
    layers.push_back(make_layer(parts, stream_of(parts, lane), branch_device, sizes,
                                sizes.convolution(), source, i));
    if (is_chain) source = layers.back().destination;
    add_layer(parts, layers.back(), lane);
  }
  return layers;
}

/// Plans all layers as one convolution.
std::vector<BranchLayer> plan_one(CaseParts& parts, const BranchSizes& sizes, bool grouped) {
  const LaneId lane = add_lane(parts, branch_device, StreamKind::compute);
  const Tensor input = grouped ? make_repeated_input(parts, branch_device, sizes)
                               : make_input(parts, branch_device, sizes);
  const ConvolutionForward desc = sizes.convolution(sizes.branches, grouped ? sizes.branches : 1);
  std::vector<BranchLayer> layers = {
      make_layer(parts, stream_of(parts, lane), branch_device, sizes, desc, input, 0)};
  add_layer(parts, layers.front(), lane);
  return layers;
}

/// Returns the case with the same layers under a strategy with a single stream.
CaseSpec single_stream(const CaseSpec& spec, std::string_view strategy) {
  return with_strategy(spec, strategy, {"streams"});
}

std::vector<BranchLayer> plan_strategy(CaseParts& parts, const CaseSpec& spec) {
  const BranchSizes sizes = branch_sizes_of(spec);
  const std::string_view arrangement = arrangement_of(spec.strategy);
  if (is_graph(spec.strategy)) parts.plan.submit_as(SubmitMode::graph);
  if (arrangement == "chain") return plan_lanes(parts, sizes, 1, true);
  if (arrangement == "merged") return plan_one(parts, sizes, false);
  if (arrangement == "grouped") return plan_one(parts, sizes, true);
  if (arrangement == "streams") {
    return plan_lanes(parts, sizes, static_cast<int>(spec.parameters.integer("streams")));
  }
  if (arrangement == "threads") {
    parts.plan.submit_as(SubmitMode::thread_per_lane);
    return plan_lanes(parts, sizes, static_cast<int>(sizes.branches));
  }
  return plan_lanes(parts, sizes, 1);
}

const std::vector<Strategy> branch_strategies = {
    {"chain", "each convolution reads the one before: equal work that cannot run in parallel"},
    {"one-stream", "the branches one after the other on all cores of the device"},
    {"streams", "the branches distributed over --streams streams that share the device"},
    {"threads", "a stream and a launching host thread for every branch"},
    {"merged", "one convolution with the channels of all branches: possible as they share input"},
    {"grouped", "one grouped convolution, as for branches with inputs of their own"},
    {"graph-chain",
     "chain, captured once and launched as one graph: shows the launch overhead of a chain"},
    {"graph-one-stream", "one-stream as a graph: the gain of graph launch without any parallelism"},
    {"graph-streams", "streams as a graph: the gains of graph launch and of parallelism together"},
};

/// Figures from a GitHub issue. There are none for streams and threads, because the program of the
/// issue launched all branches by one thread.
std::vector<Published> branch_figures() {
  const std::vector<Parameter> layers = {{"batch", std::int64_t{128}},
                                         {"channels", std::int64_t{16}},
                                         {"image", std::int64_t{128}},
                                         {"branches", std::int64_t{20}}};
  constexpr int executions = 1000;
  return {{"one-stream", layers, "PaddlePaddle issue 40435, GPU", 33, executions},
          {"chain", layers, "PaddlePaddle issue 40435, GPU", 35, executions},
          {"one-stream", layers, "PaddlePaddle issue 40435, CPU", 20.4, executions},
          {"chain", layers, "PaddlePaddle issue 40435, CPU", 27.7, executions}};
}

const std::vector<Axis> branch_axes = {
    {.name = "batch", .description = "images", .quick = {4}, .published = {128}, .max = 65536},
    {.name = "channels",
     .description = "channels of the input and of every branch",
     .quick = {16},
     .published = {16},
     .max = 65536},
    {.name = "image",
     .description = "height and width",
     .quick = {8, 32, 128},
     .published = {128},
     .max = 65536},
    {.name = "branches",
     .description = "number of convolutions",
     .quick = {20},
     .published = {20},
     .min = 2,
     .max = 1024},
    {.name = "streams",
     .description = "streams that share the device; at most one per branch",
     .quick = {2},  // `threads` has a lane for every branch
     .published = {2, 4, 8, 20},
     .max = 1024,
     .strategies = {"streams", "graph-streams"}},
};

class Branch final : public Scenario {
 public:
  std::string_view name() const override { return "branch"; }
  std::string_view question() const override {
    return "Below which layer size do independent branches gain from running in parallel on one "
           "device, and with which technique?";
  }
  const std::vector<Strategy>& strategies() const override { return branch_strategies; }
  const std::vector<Axis>& axes() const override { return branch_axes; }
  std::string_view baseline() const override { return "one-stream"; }
  /// 1000 iterations after a warm-up, as published, divided into ten samples.
  Sampling published_sampling() const override { return {.samples = 10, .iterations = 100}; }

  std::vector<Published> published() const override { return branch_figures(); }

  Resolution resolve(const Request& request) const override {
    const CaseSpec& spec = request.spec;
    check_size(branch_sizes_of(spec));
    if (spec.graph && (is_graph(spec.strategy) || spec.strategy == "threads")) {
      return launch_is_fixed(spec);
    }
    if (arrangement_of(spec.strategy) == "streams") {
      const std::int64_t streams = spec.parameters.integer("streams");
      const std::int64_t branches = spec.parameters.integer("branches");
      if (streams > branches) {
        return Obstacle{
            {"streams"},
            fmt::format("--streams {} is more than the {}; use at most one stream a "
                        "branch",
                        streams,
                        branches == 1 ? "1 branch" : fmt::format("{} branches", branches))};
      }
    }
    return spec;
  }

  std::unique_ptr<Case> prepare(const CaseSpec& spec, Context& context) const override {
    auto parts = std::make_unique<CaseParts>(context);
    const BranchSizes sizes = branch_sizes_of(spec);
    const std::vector<BranchLayer> layers = plan_strategy(*parts, spec);
    add_spot_checks(*parts, sizes, layers);
    add_image_outputs(*parts, sizes, layers);
    parts->tolerance = tolerance_of(spec.format());
    parts->amount = {sizes.flops(), "FLOP"};
    if (spec.strategy == "grouped") {
      parts->notes.emplace_back("timed", "the convolution; the input was repeated beforehand");
    }
    return make_case(std::move(parts));
  }

  std::optional<CaseSpec> reference(const CaseSpec& spec) const override {
    if (spec.strategy == "chain" || spec.strategy == "one-stream") return std::nullopt;
    return single_stream(spec, spec.strategy == "graph-chain" ? "chain" : "one-stream");
  }

  /// Returns the speed of a graph of several streams over a graph of one stream: the gain of the
  /// streams without the gain of graph launch.
  std::vector<Metric> metrics(const CaseSpec& spec) const override {
    if (spec.strategy != "graph-streams") return {};
    return {{.name = "speed over graph-one-stream",
             .others = {single_stream(spec, "graph-one-stream")},
             .value = [](std::span<const double> seconds, std::span<const double> /*medians*/) {
               return seconds[1] / seconds[0];
             }}};
  }

  Conclusion answer(const std::vector<CaseOutcome>& outcomes,
                    const PossiblyFastest& possibly_fastest) const override {
    return branch_answer(outcomes, possibly_fastest);
  }
};

}  // namespace

std::unique_ptr<Scenario> make_branch() { return std::make_unique<Branch>(); }

}  // namespace parbench
