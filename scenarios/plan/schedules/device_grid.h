// Grids of devices: the division of a training step among devices. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace parbench {

/// Number of parts into which a step is divided in each dimension. Replicas process parts of the
/// batch (data parallelism), the stages of a replica have consecutive layers (pipeline
/// parallelism), and the shards of a stage have parts of its layers (tensor parallelism).
struct DeviceGrid {
  int replicas = 1;
  int stages = 1;
  int shards = 1;

  [[nodiscard]] int devices() const { return replicas * stages * shards; }
  /// Returns the index of a shard's device: the shards of a stage have consecutive devices, as do
  /// the stages of a replica.
  [[nodiscard]] int device(int replica, int stage, int shard) const {
    return (replica * stages + stage) * shards + shard;
  }
  friend bool operator==(const DeviceGrid&, const DeviceGrid&) = default;
};

/// Returns the device of the first shard of each stage, for the first replica.
[[nodiscard]] std::vector<int> devices_of_stages(const DeviceGrid& grid);

/// Returns the name of a grid, such as "dp2xpp2" or "tp4"; "dp1" for a single device.
[[nodiscard]] std::string to_string(const DeviceGrid& grid);

/// Parses factors joined by 'x', each at most once, in any order: "dp2xpp1xtp2", "pp4". Throws
/// std::invalid_argument for other text.
[[nodiscard]] DeviceGrid grid_named(std::string_view text);

/// Returns all grids of `devices` devices, sorted by the number of factors above 1, then by
/// decreasing replicas, then by decreasing stages.
[[nodiscard]] std::vector<DeviceGrid> grids_of(int devices);

}  // namespace parbench
