// Dynamic programming over prefixes of units and stages.
#include "scenarios/plan/schedules/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace parbench {
namespace {

/// Computes the costs of stages of consecutive units, including copies and exchanges.
class StageCosts {
 public:
  /// `costs` must outlive this object.
  explicit StageCosts(const PartitionCosts& costs) : costs_(costs) {
    if (stages() < 1 || stages() > units()) {
      throw std::invalid_argument(fmt::format("{} units make no {} stages", units(), stages()));
    }
    if (!costs.cuts.empty() && static_cast<int>(costs.cuts.size()) != units()) {
      throw std::invalid_argument(fmt::format("{} costs of cuts for {} units; give one per unit",
                                              costs.cuts.size(), units()));
    }
    for (const std::vector<double>& of_units : costs.units) {
      std::vector<double>& sums = first_units_.emplace_back(of_units.size() + 1, 0.0);
      std::partial_sum(of_units.begin(), of_units.end(), sums.begin() + 1);
    }
  }

  [[nodiscard]] int stages() const { return static_cast<int>(costs_.units.size()); }
  [[nodiscard]] int units() const {
    return costs_.units.empty() ? 0 : static_cast<int>(costs_.units.front().size());
  }

  /// Returns the seconds of a stage with the units [first, end).
  [[nodiscard]] double seconds(int stage, int first, int end) const {
    const std::vector<double>& sums = first_units_[static_cast<std::size_t>(stage)];
    double sum = sums[static_cast<std::size_t>(end)] - sums[static_cast<std::size_t>(first)] +
                 cut(first) + cut(end);
    const auto has = [&](int unit) { return unit >= first && unit < end; };
    for (const SharedParameters& one : costs_.shared) {
      if (has(one.owner) != has(one.other)) sum += one.seconds;
    }
    return sum;
  }

 private:
  [[nodiscard]] double cut(int unit) const {
    const bool is_cut = unit > 0 && unit < static_cast<int>(costs_.cuts.size());
    return is_cut ? costs_.cuts[static_cast<std::size_t>(unit)] : 0.0;
  }

  const PartitionCosts& costs_;
  // for each stage, the seconds of the first 0, 1, 2, … units
  std::vector<std::vector<double>> first_units_;
};

constexpr double impossible = std::numeric_limits<double>::infinity();

/// Returns the partition whose slowest stage is as fast as possible. `seconds(stage, first, end)`:
/// the cost of a stage with the units [first, end); infinite if the stage is not allowed. Throws
/// std::invalid_argument if no partition is allowed.
template <typename Seconds>
std::vector<int> best_partition(int stages, int units, const Seconds& seconds) {
  // slowest[s][u]: the lowest cost of the slowest stage if the first u units form s stages;
  // last[s][u]: first unit of the last of those stages.
  const auto at = [&](int stage, int unit) {
    return static_cast<std::size_t>(stage) * (static_cast<std::size_t>(units) + 1) +
           static_cast<std::size_t>(unit);
  };
  std::vector<double> slowest(at(stages, units) + 1, impossible);
  std::vector<int> last(slowest.size(), 0);
  slowest[at(0, 0)] = 0;
  for (int stage = 1; stage <= stages; ++stage) {
    for (int unit = stage; unit <= units; ++unit) {
      for (int start = stage - 1; start < unit; ++start) {
        const double own = seconds(stage - 1, start, unit);
        const double worst = std::max(slowest[at(stage - 1, start)], own);
        if (worst < slowest[at(stage, unit)]) {
          slowest[at(stage, unit)] = worst;
          last[at(stage, unit)] = start;
        }
      }
    }
  }
  if (slowest[at(stages, units)] == impossible) {
    throw std::invalid_argument("no partition has stages as fast as the limit");
  }
  std::vector<int> partition;
  for (int stage = stages, unit = units; stage > 1; --stage) {
    unit = last[at(stage, unit)];
    partition.insert(partition.begin(), unit);
  }
  return partition;
}

}  // namespace

std::vector<int> balanced_partition(const PartitionCosts& costs) {
  return balanced_partition_within(costs, impossible, costs);
}

double slowest_stage(const PartitionCosts& costs, const std::vector<int>& partition) {
  const StageCosts stages(costs);
  double slowest = 0;
  for (int stage = 0, first = 0; stage < stages.stages(); ++stage) {
    const bool is_last = stage + 1 == stages.stages();
    const int end = is_last ? stages.units() : partition.at(static_cast<std::size_t>(stage));
    slowest = std::max(slowest, stages.seconds(stage, first, end));
    first = end;
  }
  return slowest;
}

std::vector<int> balanced_partition_within(const PartitionCosts& costs, double limit,
                                           const PartitionCosts& estimates) {
  const StageCosts measured(costs);
  const StageCosts estimated(estimates);
  return best_partition(measured.stages(), measured.units(), [&](int stage, int first, int end) {
    return measured.seconds(stage, first, end) <= limit ? estimated.seconds(stage, first, end)
                                                        : impossible;
  });
}

}  // namespace parbench
