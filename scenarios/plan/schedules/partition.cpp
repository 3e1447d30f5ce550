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

/// What a stage of some units costs with its copies.
class StageCosts {
 public:
  StageCosts(const std::vector<std::vector<double>>& unit_costs,
             const std::vector<double>& cut_costs, const std::vector<SharedParameters>& shared)
      : cuts_(cut_costs), shared_(shared) {
    for (const std::vector<double>& units : unit_costs) {
      std::vector<double>& sums = first_units_.emplace_back(units.size() + 1, 0.0);
      std::partial_sum(units.begin(), units.end(), sums.begin() + 1);
    }
  }

  /// Of the units from `first` to the one in front of `end`.
  [[nodiscard]] double seconds(int stage, int first, int end) const {
    const std::vector<double>& sums = first_units_[static_cast<std::size_t>(stage)];
    double sum = sums[static_cast<std::size_t>(end)] - sums[static_cast<std::size_t>(first)] +
                 cut(first) + cut(end);
    const auto has = [&](int unit) { return unit >= first && unit < end; };
    for (const SharedParameters& one : shared_) {
      if (has(one.owner) != has(one.other)) sum += one.seconds;
    }
    return sum;
  }

 private:
  [[nodiscard]] double cut(int unit) const {
    const bool is_cut = unit > 0 && unit < static_cast<int>(cuts_.size());
    return is_cut ? cuts_[static_cast<std::size_t>(unit)] : 0.0;
  }

  std::vector<std::vector<double>> first_units_;  // of each stage, of the first 0, 1, 2, … units
  const std::vector<double>& cuts_;
  const std::vector<SharedParameters>& shared_;
};

}  // namespace

std::vector<int> balanced_partition(const std::vector<std::vector<double>>& unit_costs,
                                    const std::vector<double>& cut_costs,
                                    const std::vector<SharedParameters>& shared) {
  const auto stages = static_cast<int>(unit_costs.size());
  const auto units = stages > 0 ? static_cast<int>(unit_costs.front().size()) : 0;
  if (stages < 1 || stages > units) {
    throw std::invalid_argument(fmt::format("{} units make no {} stages", units, stages));
  }

  if (!cut_costs.empty() && static_cast<int>(cut_costs.size()) != units) {
    throw std::invalid_argument(
        fmt::format("{} costs of cuts for {} units; give one per unit", cut_costs.size(), units));
  }
  const StageCosts costs(unit_costs, cut_costs, shared);

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
    for (int unit = stage; unit <= units; ++unit) {
      for (int start = stage - 1; start < unit; ++start) {
        const double own = costs.seconds(stage - 1, start, unit);
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
