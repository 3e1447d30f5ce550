// Running a network layer by layer on copies of its memory.
#include "scenarios/inter_op/layer_costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

#include "scenarios/inter_op/network_forward.h"
#include "scenarios/plan/costs.h"

namespace parbench {
namespace {

constexpr int passes = 5;

/// Buffers of its own, so that layers can be measured before the memory of a run exists; for an
/// estimate, views without memory.
class OwnMemory final : public ForwardMemory {
 public:
  OwnMemory(Device& device, bool allocates) : device_(device), allocates_(allocates) {}

  BufferView work(std::size_t bytes) override {
    if (!allocates_) return symbolic(Space::transient, 0, bytes);
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
  std::vector<std::unique_ptr<Buffer>> buffers_;  // views refer to them by address
};

/// A network with memory of its own, on one stream.
class TimedNetwork {
 public:
  TimedNetwork(const StageRange& whole, Stream& stream, const Context::Options& options)
      : stream_(stream),
        memory_(stream.device(), options.measures),
        forward_(whole, stream, 0, options.seed, memory_) {
    for (int layer = 0; layer <= whole.last; ++layer) {
      layers_.push_back(forward_.plan(layer, stream, ops_));
      begins_.push_back(stream.device().make_event());
      ends_.push_back(stream.device().make_event());
    }
  }
  TimedNetwork(const TimedNetwork&) = delete;
  TimedNetwork& operator=(const TimedNetwork&) = delete;
  TimedNetwork(TimedNetwork&&) = delete;
  TimedNetwork& operator=(TimedNetwork&&) = delete;
  /// What is queued still uses its memory; an error that led here matters more than another one.
  ~TimedNetwork() {
    try {
      stream_.synchronize();
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    }
  }

  [[nodiscard]] Stream& stream() const { return stream_; }
  [[nodiscard]] std::size_t layer_count() const { return layers_.size(); }
  [[nodiscard]] const std::vector<OpCall>& calls(std::size_t layer) const { return layers_[layer]; }
  [[nodiscard]] Event& end(std::size_t layer) const { return *ends_[layer]; }

  void enqueue(std::size_t layer) {
    stream_.record(*begins_[layer]);
    for (const OpCall& call : layers_[layer]) call.op->enqueue(stream_, call.views);
    stream_.record(*ends_[layer]);
  }
  [[nodiscard]] double seconds(std::size_t layer) const {
    return ends_[layer]->seconds_since(*begins_[layer]);
  }

 private:
  Stream& stream_;
  OwnMemory memory_;
  OpSet ops_;
  NetworkForward forward_;
  std::vector<std::vector<OpCall>> layers_;
  std::vector<std::unique_ptr<Event>> begins_;
  std::vector<std::unique_ptr<Event>> ends_;
};

using TimedNetworks = std::vector<std::unique_ptr<TimedNetwork>>;

/// All streams begin a layer when all have ended the one before. Returns the mean of their times by
/// layer.
std::vector<double> run_once(const TimedNetworks& networks) {
  const std::size_t count = networks.front()->layer_count();
  for (std::size_t layer = 0; layer < count; ++layer) {
    for (const auto& network : networks) {
      for (const auto& other : networks) {
        if (layer > 0 && other != network) network->stream().wait(other->end(layer - 1));
      }
    }
    for (const auto& network : networks) network->enqueue(layer);
  }
  synchronize_all(networks, [](const auto& network) -> Stream& { return network->stream(); });
  std::vector<double> seconds(count, 0.0);
  for (std::size_t layer = 0; layer < count; ++layer) {
    for (const auto& network : networks) {
      seconds[layer] += network->seconds(layer) / static_cast<double>(networks.size());
    }
  }
  return seconds;
}

/// The median of several passes behind one that is not counted.
std::vector<double> median_of_passes(const TimedNetworks& networks) {
  static_cast<void>(run_once(networks));
  std::vector<std::vector<double>> times;
  for (int pass = 0; pass < passes; ++pass) times.push_back(run_once(networks));
  std::vector<double> medians;
  for (std::size_t layer = 0; layer < times.front().size(); ++layer) {
    std::vector<double> sorted;
    for (const std::vector<double>& pass : times) sorted.push_back(pass[layer]);
    std::ranges::sort(sorted);
    medians.push_back(sorted[passes / 2]);
  }
  return medians;
}

/// Only the ratios matter: they order the layers where nothing may be measured. Streams divide a
/// device evenly.
std::vector<double> estimated_layers(const TimedNetwork& network, int sharers) {
  constexpr Roofline device{.flops_per_second = 1e11, .bytes_per_second = 1e10};
  std::vector<double> seconds;
  for (std::size_t layer = 0; layer < network.layer_count(); ++layer) {
    Work work;
    for (const OpCall& call : network.calls(layer)) work += call.op->work();
    seconds.push_back(device.seconds(work) * sharers);
  }
  return seconds;
}

TimedNetworks networks_on(Context& context, int device, const StageRange& whole, int streams) {
  TimedNetworks networks;
  for (int i = 0; i < streams; ++i) {
    Stream& stream = context.stream(device, StreamKind::compute, i, streams);
    networks.push_back(std::make_unique<TimedNetwork>(whole, stream, context.options()));
  }
  return networks;
}

/// The costs of all layers alone, then of all that share the device.
std::vector<double> layer_seconds(Context& context, int device, const StageRange& whole,
                                  int streams) {
  std::vector<double> all;
  for (const int sharers : {1, streams}) {
    const bool measures = context.options().measures;
    const TimedNetworks networks = networks_on(context, device, whole, measures ? sharers : 1);
    const std::vector<double> seconds =
        measures ? median_of_passes(networks) : estimated_layers(*networks.front(), sharers);
    all.insert(all.end(), seconds.begin(), seconds.end());
  }
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
  return problem;
}

void set_costs(InterOpProblem& problem, Context& context, int device, const StageRange& whole) {
  const Network& network = *whole.network;
  const std::string key =
      fmt::format("layers of {} {} {} {} on {} and its {} streams", network.name,
                  to_string(network.input), to_string(NumberFormat{whole.dtype, whole.math}),
                  whole.batch, context.device(device).info().name, problem.streams);
  const std::vector<double>& seconds =
      context.measured(key, [&] { return layer_seconds(context, device, whole, problem.streams); });
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(network.layers.size());
  problem.alone.assign(seconds.begin(), middle);
  problem.shared.assign(middle, seconds.end());
}

}  // namespace parbench
