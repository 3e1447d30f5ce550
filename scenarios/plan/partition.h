// Dividing a sequence of units into stages of equal cost.
#pragma once

#include <vector>

namespace parbench {

/// Returns the first units of the second and later of contiguous stages, such that the cost of the
/// slowest stage is as small as possible. `unit_costs` holds for each stage what every unit costs
/// on its device. Throws std::invalid_argument when there are fewer units than stages.
[[nodiscard]] std::vector<int> balanced_partition(
    const std::vector<std::vector<double>>& unit_costs);

}  // namespace parbench
