// Division of a training step over devices, which scenarios derive from parameters.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "scenarios/plan/schedules/device_grid.h"
#include "scenarios/training/network_division.h"

namespace parbench {

/// How replicas combine their results.
struct Exchange {
  enum class Kind {
    /// No exchange: every replica updates its parameters with its own gradients, and outputs are
    /// sums over the replicas, computed when they are read. For references only.
    none,
    /// Every replica gets the sum of all gradients and updates its own parameters.
    all_reduce,
    // The following kinds require replicas of one stage and one shard.
    first_device,  // the first device adds gradients, updates its parameters, and sends them
    // The first device sends samples and parameters at the beginning of every step, computes the
    // loss, adds gradients, and updates its parameters.
    fed_from_first,
    server,  // all replicas send gradients to a server, which updates parameters and sends them
    zero,    // every replica updates a part of the parameters and keeps this part's optimiser state
  };
  Kind kind = Kind::all_reduce;
  /// Bytes of the buckets in which gradients are exchanged during the backward pass, with zero and
  /// all_reduce. 0 with all_reduce: all gradients of a stage at once, after its backward pass; with
  /// sharded positions, only 0 is allowed.
  std::size_t bucket_bytes = 0;
  int server = 0;  // device of the server: that of the first replica, or one without a replica
  /// Level of ZeRO, with Kind::zero. 1 divides the optimiser's state over devices, 2 also the sums
  /// of gradients, 3 also the parameters.
  int zero_level = 0;
  int prefetch = 1;  // number of segments by which parameters arrive early (`holdings_of`, ZeRO 3)

  [[nodiscard]] bool divides_gradients() const { return zero_level >= 2; }
  [[nodiscard]] bool divides_parameters() const { return zero_level >= 3; }
  /// Returns whether every replica updates all of its parameters itself.
  [[nodiscard]] bool updates_all() const { return kind == Kind::none || kind == Kind::all_reduce; }
};

/// The position of a part of the network in the layout.
struct GridPoint {
  int replica = 0;
  int stage = 0;
  int shard = 0;
  friend auto operator<=>(const GridPoint&, const GridPoint&) = default;
};

struct StepLayout {
  DeviceGrid grid = {};
  /// First units of the later stages. If there are more stages than `grid.stages`, they are
  /// assigned to the devices of the grid in turn.
  std::vector<int> partition = {};
  std::string schedule = "one-at-a-time";  // argument of schedule_named
  // number of samples of each micro-batch, by replica
  std::vector<std::vector<std::int64_t>> micro_batches = {};
  RestOfNetwork rest = RestOfNetwork::repeated;  // only for several shards
  Exchange exchange = {};
  bool recompute = false;  // StageRange::recompute

  [[nodiscard]] int stages() const { return static_cast<int>(partition.size()) + 1; }
  [[nodiscard]] int micro_batch_count(int replica) const {
    return static_cast<int>(micro_batches.at(static_cast<std::size_t>(replica)).size());
  }
  [[nodiscard]] std::int64_t samples() const;  // samples of all replicas
  [[nodiscard]] std::int64_t samples_of(int replica) const;
  [[nodiscard]] std::int64_t samples_of(int replica, int micro_batch) const;

  /// Returns all points, sorted by replica, stage and shard.
  [[nodiscard]] std::vector<GridPoint> points() const;
  [[nodiscard]] std::vector<GridPoint> points_of(int replica) const;
  [[nodiscard]] int device(const GridPoint& point) const {
    return grid.device(point.replica, point.stage % grid.stages, point.shard);
  }
  [[nodiscard]] bool shards_positions() const {
    return grid.shards > 1 && rest == RestOfNetwork::by_positions;
  }
};

}  // namespace parbench
