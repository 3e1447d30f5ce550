// Divides a sequence of units into stages such that the slowest stage is as fast as possible.
#pragma once

#include <string_view>
#include <vector>

namespace parbench {

/// Name of a case's note with the first units of its later stages, joined by '+'.
inline constexpr std::string_view cut_note = "cut at";
/// Name of a second note with the text of `cut_note`, for cases whose model has no other partition
/// into this number of stages.
inline constexpr std::string_view only_cut_note = "only cut";
/// Name of a case's note with the smallest micro-batch that all layers of its model can compute: "2
/// samples".
inline constexpr std::string_view min_micro_batch_note = "smallest micro-batch";

/// Two units with common parameters. If they are in different stages, each of these stages takes
/// `seconds` to exchange gradients.
struct SharedParameters {
  int owner = 0;  // index of a unit
  int other = 0;
  double seconds = 0;
};

/// Costs in seconds, whose sums are the costs of stages.
struct PartitionCosts {
  /// For each stage, the seconds of every unit on the stage's device.
  std::vector<std::vector<double>> units;
  /// For each unit, the seconds that a cut before the unit adds to the stage before the cut, which
  /// sends activations, and also to the stage after the cut, which sends gradients. Empty: cuts
  /// cost nothing.
  std::vector<double> cuts = {};
  std::vector<SharedParameters> shared = {};
};

/// Returns the first units of the second and later stages such that the slowest stage is as fast as
/// possible. Throws std::invalid_argument if there are no stages or fewer units than stages, or if
/// `cuts` is not empty and does not have one entry per unit.
[[nodiscard]] std::vector<int> balanced_partition(const PartitionCosts& costs);

/// Returns the seconds of the slowest stage of a partition, which must match the stages and units
/// of `costs`.
[[nodiscard]] double slowest_stage(const PartitionCosts& costs, const std::vector<int>& partition);

/// Returns the partition that is balanced by `estimates`, among the partitions whose slowest stage
/// takes at most `limit` seconds by `costs`. `costs` and `estimates` have the same stages and
/// units. Throws std::invalid_argument as `balanced_partition` does, and if no partition is within
/// the limit.
[[nodiscard]] std::vector<int> balanced_partition_within(const PartitionCosts& costs, double limit,
                                                         const PartitionCosts& estimates);

}  // namespace parbench
