// Grids of devices: how they divide a training step among them. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace parbench {

/// Replicas have parts of the batch (data parallelism), their stages parts of the sequence of
/// layers (pipeline parallelism), and the shards of a stage parts of its layers (tensor
/// parallelism).
struct DeviceGrid {
  int replicas = 1;
  int stages = 1;
  int shards = 1;

  [[nodiscard]] int devices() const { return replicas * stages * shards; }
  /// The device of a shard, from 0: shards of a stage are neighbours, then stages of a replica.
  [[nodiscard]] int device(int replica, int stage, int shard) const {
    return (replica * stages + stage) * shards + shard;
  }
  friend bool operator==(const DeviceGrid&, const DeviceGrid&) = default;
};

/// The devices of the stages of the first replica, each that of its first shard.
[[nodiscard]] std::vector<int> devices_of_stages(const DeviceGrid& grid);

/// "dp2xpp2", "tp4"; "dp1" of a single device.
[[nodiscard]] std::string to_string(const DeviceGrid& grid);

/// Reads factors joined by 'x', each of them once, in any order: "dp2xpp1xtp2", "pp4". Throws
/// std::invalid_argument for other text.
[[nodiscard]] DeviceGrid grid_named(std::string_view text);

/// All that take so many devices: by the number of factors above 1, then the most replicas first,
/// then the most stages.
[[nodiscard]] std::vector<DeviceGrid> grids_of(int devices);

}  // namespace parbench
