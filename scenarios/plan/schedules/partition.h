// Dividing a sequence of units into stages of equal cost.
#pragma once

#include <string_view>
#include <vector>

namespace parbench {

/// The note of a case in a report that names the first units of its later stages, joined by '+'.
inline constexpr std::string_view cut_note = "cut at";
/// The note of a case whose model has no other partition into as many stages, with the same text.
inline constexpr std::string_view only_cut_note = "only cut";
/// The note of a case whose layers cannot compute every micro-batch: "2 samples".
inline constexpr std::string_view min_micro_batch_note = "smallest micro-batch";

/// Two units that have parameters in common, and what each of their stages pays if those differ:
/// for the exchange of gradients.
struct SharedParameters {
  int owner = 0;  // a unit
  int other = 0;
  double seconds = 0;
};

/// What the stages of a partition cost.
struct PartitionCosts {
  /// Of each stage, the seconds of every unit on its device.
  std::vector<std::vector<double>> units;
  /// Of each unit, the seconds that a cut in front of it adds to the stage before it, which sends
  /// activations, and to the one behind it, which sends gradients. Empty: nothing.
  std::vector<double> cuts = {};
  std::vector<SharedParameters> shared = {};
};

/// Returns the first units of the second and later of contiguous stages, such that the cost of the
/// slowest stage is as small as possible. Throws std::invalid_argument when there are fewer units
/// than stages, or another number of cuts than units.
[[nodiscard]] std::vector<int> balanced_partition(const PartitionCosts& costs);

/// Returns the seconds of the slowest stage of a partition, which is one of as many stages and
/// units as the costs are for.
[[nodiscard]] double slowest_stage(const PartitionCosts& costs, const std::vector<int>& partition);

/// Returns the partition that is balanced by `estimates` among those whose slowest stage takes at
/// most `limit` seconds by `costs`. Both are for the same stages and units. Throws
/// std::invalid_argument as `balanced_partition` does, and when the limit allows none.
[[nodiscard]] std::vector<int> balanced_partition_within(const PartitionCosts& costs, double limit,
                                                         const PartitionCosts& estimates);

}  // namespace parbench
