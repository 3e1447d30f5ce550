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

/// Returns the first units of the second and later of contiguous stages, such that the cost of the
/// slowest stage is as small as possible. `unit_costs` holds for each stage what every unit costs
/// on its device, `cut_costs` for each unit what a cut in front of it adds to the stage before it,
/// which sends activations, and to the one behind it, which sends gradients; empty: nothing. Throws
/// std::invalid_argument when there are fewer units than stages, or another number of cuts than
/// units.
[[nodiscard]] std::vector<int> balanced_partition(
    const std::vector<std::vector<double>>& unit_costs, const std::vector<double>& cut_costs = {},
    const std::vector<SharedParameters>& shared = {});

}  // namespace parbench
