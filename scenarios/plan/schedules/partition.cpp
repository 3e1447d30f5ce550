// Dynamic programming over the first units and stages.
#include "scenarios/plan/schedules/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace parbench {
namespace {

/// Seconds of the first 0, 1, 2, … units.
std::vector<double> prefix_sums(const std::vector<double>& unit_costs) {
  std::vector<double> sums(unit_costs.size() + 1, 0.0);
  std::partial_sum(unit_costs.begin(), unit_costs.end(), sums.begin() + 1);
  return sums;
}

}  // namespace

std::vector<int> balanced_partition(const std::vector<std::vector<double>>& unit_costs,
                                    const std::vector<double>& cut_costs) {
  const auto stages = static_cast<int>(unit_costs.size());
  const auto units = stages > 0 ? static_cast<int>(unit_costs.front().size()) : 0;
  if (stages < 1 || stages > units) {
    throw std::invalid_argument(fmt::format("{} units make no {} stages", units, stages));
  }

  if (!cut_costs.empty() && static_cast<int>(cut_costs.size()) != units) {
    throw std::invalid_argument(
        fmt::format("{} costs of cuts for {} units; give one per unit", cut_costs.size(), units));
  }
  const auto cut = [&](int unit) {
    const bool is_cut = !cut_costs.empty() && unit > 0 && unit < units;
    return is_cut ? cut_costs[static_cast<std::size_t>(unit)] : 0.0;
  };

  // slowest[s][u]: the best slowest stage when the first u units make s stages; last[s][u]: where
  // the last of those stages starts.
  const auto at = [&](int stage, int unit) {
    return static_cast<std::size_t>(stage) * (static_cast<std::size_t>(units) + 1) +
           static_cast<std::size_t>(unit);
  };
  std::vector<double> slowest(at(stages, units) + 1, std::numeric_limits<double>::infinity());
  std::vector<int> last(slowest.size(), 0);
  slowest[at(0, 0)] = 0;
  for (int stage = 1; stage <= stages; ++stage) {
    const std::vector<double> prefix = prefix_sums(unit_costs[static_cast<std::size_t>(stage - 1)]);
    for (int unit = stage; unit <= units; ++unit) {
      for (int start = stage - 1; start < unit; ++start) {
        const double own = prefix[static_cast<std::size_t>(unit)] -
                           prefix[static_cast<std::size_t>(start)] + cut(start) + cut(unit);
        const double worst = std::max(slowest[at(stage - 1, start)], own);
        if (worst < slowest[at(stage, unit)]) {
          slowest[at(stage, unit)] = worst;
          last[at(stage, unit)] = start;
        }
      }
    }
  }
  std::vector<int> partition;
  for (int stage = stages, unit = units; stage > 1; --stage) {
    unit = last[at(stage, unit)];
    partition.insert(partition.begin(), unit);
  }
  return partition;
}

}  // namespace parbench
