// Measures a network layer by layer, in memory of its own.
#include "scenarios/inter_op/layer_costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "scenarios/framework/timed_span.h"
#include "scenarios/inference/network_forward.h"
#include "scenarios/inter_op/merges.h"
#include "scenarios/plan/costs.h"

namespace parbench {
namespace {

constexpr int passes = 5;
constexpr double estimated_join_seconds = 20e-6;  // used if nothing may be measured

/// Memory in separate buffers, so that layers can be measured before the memory of a run exists.
/// For an estimate, the views have no memory.
class OwnMemory final : public ForwardMemory {
 public:
  OwnMemory(Device& device, bool allocates) : device_(device), allocates_(allocates) {}

  BufferView work(std::size_t bytes) override {
    if (!allocates_) return {nothing_, 0, bytes};
    buffers_.push_back(std::make_unique<Buffer>(device_.allocate(bytes, MemoryKind::device)));
    return *buffers_.back();
  }
  BufferView filled(const std::string& /*key*/, std::size_t bytes,
                    const Context::Fill& fill) override {
    const BufferView view = work(bytes);
    if (allocates_) fill(view);
    return view;
  }

 private:
  Device& device_;
  bool allocates_;
  Buffer nothing_;
  std::vector<std::unique_ptr<Buffer>> buffers_;  // views refer to buffers by address
};

/// A network with its own memory, on one stream. Its items are the layers and the merges; the item
/// of a merge follows the item of the last merged layer.
class TimedNetwork {
 public:
  TimedNetwork(const StageRange& whole, Stream& stream, const Context::Options& options,
               const std::vector<InterOpMerge>& merges)
      : stream_(stream),
        memory_(stream.device(), options.measures),
        forward_(whole, stream, 0, options.seed, memory_) {
    forward_.draw_input();
    for (int layer = 0; layer <= whole.last; ++layer) {
      add({layer, not_merged}, forward_.plan(layer, stream, ops_));
      for (int merge = 0; merge < static_cast<int>(merges.size()); ++merge) {
        const std::vector<int>& ops = merges[static_cast<std::size_t>(merge)].ops;
        if (ops.back() == layer) add({layer, merge}, forward_.plan_merged(ops, stream, ops_));
      }
    }
  }

  [[nodiscard]] Stream& stream() const { return stream_; }
  [[nodiscard]] std::size_t item_count() const { return items_.size(); }
  [[nodiscard]] std::size_t layer_count() const { return items_of_layers_.size(); }
  [[nodiscard]] std::size_t item_of(std::size_t layer) const { return items_of_layers_[layer]; }
  [[nodiscard]] const std::vector<OpCall>& calls(std::size_t item) const { return calls_[item]; }
  [[nodiscard]] const TimedSpan& span(std::size_t item) const { return spans_[item]; }

  void enqueue(std::size_t item) {
    spans_[item].record([&] {
      for (const OpCall& call : calls_[item]) call.op->enqueue(stream_, call.views);
    });
  }
  /// Returns `seconds`, given by item, in another order: all layers, then all merges.
  [[nodiscard]] std::vector<double> sorted(const std::vector<double>& seconds) const {
    std::map<std::pair<int, int>, double> ordered;  // by merge, then by layer
    for (std::size_t i = 0; i < items_.size(); ++i) {
      ordered[{items_[i].merge, items_[i].layer}] = seconds[i];
    }
    std::vector<double> values;
    for (const auto& [item, value] : ordered) values.push_back(value);
    return values;
  }

 private:
  struct Item {
    int layer = 0;
    int merge = not_merged;  // `not_merged` sorts before all merges
  };

  void add(const Item& item, std::vector<OpCall> calls) {
    if (item.merge == not_merged) items_of_layers_.push_back(items_.size());
    items_.push_back(item);
    calls_.push_back(std::move(calls));
    spans_.emplace_back(stream_);
  }

  Stream& stream_;
  OwnMemory memory_;
  OpSet ops_;
  NetworkForward forward_;
  std::vector<Item> items_;
  std::vector<std::size_t> items_of_layers_;
  std::vector<std::vector<OpCall>> calls_;  // by item
  std::vector<TimedSpan> spans_;            // by item
  StreamRest rest_{stream_};
};

using TimedNetworks = std::vector<std::unique_ptr<TimedNetwork>>;

/// Runs all items once on every stream; an item begins when all streams have ended the previous
/// one. Returns the mean time of each item over the streams.
std::vector<double> run_once(const TimedNetworks& networks) {
  const std::size_t count = networks.front()->item_count();
  for (std::size_t layer = 0; layer < count; ++layer) {
    for (const auto& network : networks) {
      for (const auto& other : networks) {
        if (layer > 0 && other != network) network->stream().wait(other->span(layer - 1).end());
      }
    }
    for (const auto& network : networks) network->enqueue(layer);
  }
  synchronize_all(networks, [](const auto& network) -> Stream& { return network->stream(); });
  std::vector<double> seconds(count, 0.0);
  for (std::size_t layer = 0; layer < count; ++layer) {
    for (const auto& network : networks) {
      seconds[layer] += network->span(layer).seconds() / static_cast<double>(networks.size());
    }
  }
  return seconds;
}

/// Returns the median time of each item over several passes, after a warm-up pass.
std::vector<double> median_of_passes(const TimedNetworks& networks, const Context& context) {
  static_cast<void>(run_once(networks));
  std::vector<std::vector<double>> times;
  for (int pass = 0; pass < passes; ++pass) {
    context.check_time();
    times.push_back(run_once(networks));
  }
  std::vector<double> medians;
  for (std::size_t layer = 0; layer < times.front().size(); ++layer) {
    std::vector<double> sorted;
    for (const std::vector<double>& pass : times) sorted.push_back(pass[layer]);
    std::ranges::sort(sorted);
    medians.push_back(sorted[passes / 2]);
  }
  return medians;
}

/// Runs each layer on the stream with the whole device, and then on the streams that share it, so
/// that both sides wait for each other as between levels. Returns the seconds of each wait: from
/// the end of a layer on the whole device to its last beginning on a sharing stream, and from its
/// last end there to the beginning of the next layer on the whole device.
std::vector<double> joins_once(TimedNetwork& whole, const TimedNetworks& sharing) {
  const std::size_t count = whole.layer_count();
  for (std::size_t layer = 0; layer < count; ++layer) {
    for (const auto& network : sharing) {
      if (layer > 0) whole.stream().wait(network->span(layer - 1).end());
    }
    const std::size_t item = whole.item_of(layer);
    whole.enqueue(item);
    for (const auto& network : sharing) {
      network->stream().wait(whole.span(item).end());
      network->enqueue(layer);
    }
  }
  whole.stream().synchronize();
  synchronize_all(sharing, [](const auto& network) -> Stream& { return network->stream(); });
  std::vector<double> seconds;
  for (std::size_t layer = 0; layer < count; ++layer) {
    double fork = 0;
    double join = std::numeric_limits<double>::infinity();
    const std::size_t item = whole.item_of(layer);
    for (const auto& network : sharing) {
      fork = std::max(fork, network->span(layer).begin().seconds_since(whole.span(item).end()));
      if (layer == 0) continue;
      join = std::min(join, whole.span(item).begin().seconds_since(network->span(layer - 1).end()));
    }
    seconds.push_back(fork);
    if (layer > 0) seconds.push_back(std::max(0.0, join));
  }
  return seconds;
}

/// Returns the median of all joins of a pass, after a warm-up pass.
double join_seconds(TimedNetwork& whole, const TimedNetworks& sharing) {
  static_cast<void>(joins_once(whole, sharing));
  std::vector<double> seconds = joins_once(whole, sharing);
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::ranges::nth_element(seconds, middle);
  return *middle;
}

/// Returns the items' seconds as estimated by a roofline, for runs that may not measure. `sharers`:
/// number of streams that divide the device evenly.
std::vector<double> estimated_items(const TimedNetwork& network, int sharers) {
  constexpr Roofline device{.flops_per_second = 1e11, .bytes_per_second = 1e10};
  std::vector<double> seconds;
  for (std::size_t layer = 0; layer < network.item_count(); ++layer) {
    Work work;
    for (const OpCall& call : network.calls(layer)) work += call.op->work();
    seconds.push_back(device.seconds(work) * sharers);
  }
  return seconds;
}

TimedNetworks networks_on(Context& context, int device, const StageRange& whole, int streams,
                          const std::vector<InterOpMerge>& merges) {
  TimedNetworks networks;
  for (int i = 0; i < streams; ++i) {
    Stream& stream = context.stream(device, StreamKind::compute, i, streams);
    context.check_time();
    networks.push_back(std::make_unique<TimedNetwork>(whole, stream, context.options(), merges));
  }
  return networks;
}

/// Returns the costs in this order: all layers alone, all merges, all layers on streams that share
/// the device, a join.
std::vector<double> measured_seconds(Context& context, int device, const StageRange& whole,
                                     const InterOpProblem& problem) {
  const TimedNetworks alone = networks_on(context, device, whole, 1, problem.merges);
  std::vector<double> all = alone.front()->sorted(median_of_passes(alone, context));
  const TimedNetworks sharing = networks_on(context, device, whole, problem.streams, {});
  std::ranges::copy(median_of_passes(sharing, context), std::back_inserter(all));
  context.check_time();
  all.push_back(join_seconds(*alone.front(), sharing));
  return all;
}

/// Returns estimates of the costs that `measured_seconds` returns, if nothing may be measured.
std::vector<double> estimated_seconds_of(Context& context, int device, const StageRange& whole,
                                         const InterOpProblem& problem) {
  const TimedNetworks alone = networks_on(context, device, whole, 1, problem.merges);
  std::vector<double> all = alone.front()->sorted(estimated_items(*alone.front(), 1));
  const TimedNetworks layers = networks_on(context, device, whole, 1, {});
  std::ranges::copy(estimated_items(*layers.front(), problem.streams), std::back_inserter(all));
  all.push_back(estimated_join_seconds);
  return all;
}

}  // namespace

InterOpProblem inter_op_problem(const Network& network, int streams) {
  InterOpProblem problem;
  problem.streams = streams;
  for (const Layer& layer : network.layers) {
    std::vector<int> after = layer.inputs;
    std::erase(after, network_input);
    problem.after.push_back(std::move(after));
  }
  problem.alone.assign(problem.after.size(), 1.0);
  problem.shared = problem.alone;
  problem.merges = possible_merges(network);
  return problem;
}

void set_costs(InterOpProblem& problem, Context& context, int device, const StageRange& whole) {
  const Network& network = *whole.network;
  const std::string key =
      fmt::format("layers of {} {} {} {} on {} and its {} streams", network.name,
                  to_string(network.input), to_string(NumberFormat{whole.dtype, whole.math}),
                  whole.batch, context.device(device).info().name, problem.streams);
  const std::vector<double>& seconds = context.measured(key, device, [&] {
    return context.options().measures ? measured_seconds(context, device, whole, problem)
                                      : estimated_seconds_of(context, device, whole, problem);
  });
  auto next = seconds.begin() + static_cast<std::ptrdiff_t>(network.layers.size());
  problem.alone.assign(seconds.begin(), next);
  for (InterOpMerge& merge : problem.merges) merge.seconds = *next++;
  problem.shared.assign(next, seconds.end() - 1);
  problem.join = seconds.back();
}

}  // namespace parbench
