// Rounds relative to the samples beside them, and what a first execution says of the next ones.
#include "bench/sampling/cost_rounds.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "bench/sampling/preparation.h"
#include "kernels/core/device.h"
#include "reports/statistics/statistics.h"

namespace parbench {
namespace {

constexpr double max_unknown_seconds = 0.1;

/// Up to so many rounds may take twice the share: one, or the sample beside it, may have been
/// disturbed.
constexpr std::size_t wanted_rounds = 2;
/// Enough for a median; more would only cost memory and time.
constexpr std::size_t max_rounds = 100;

}  // namespace

bool CostRounds::due_after(double taken, double execution) {
  samples_ += taken;
  latest_execution_ = execution;
  if (relative_.size() >= max_rounds || execution <= 0) return false;
  const double share = relative_.size() < wanted_rounds ? 2 * cost_share : cost_share;
  return rounds_ + latest_round_ / 2 <= share * samples_;
}

void CostRounds::add(double taken, std::vector<double> costs) {
  latest_round_ = taken;
  if (latest_execution_ == 0) {
    ahead_ = std::move(costs);
    return;
  }
  rounds_ += taken;
  for (double& cost : costs) cost /= latest_execution_;
  relative_.push_back(std::move(costs));
}

std::vector<double> CostRounds::costs(double median) const {
  if (relative_.empty()) return ahead_.value();
  std::vector<double> costs;
  std::vector<double> of_task(relative_.size());
  for (std::size_t task = 0; task < relative_.front().size(); ++task) {
    std::ranges::transform(relative_, of_task.begin(),
                           [&](const auto& round) { return round[task]; });
    costs.push_back(median * of_task[median_place(of_task)]);
  }
  return costs;
}

double warm_seconds(double first_execution, const std::vector<double>& costs) {
  const double one_by_one = std::accumulate(costs.begin(), costs.end(), 0.0);
  return one_by_one > 0 ? std::min(first_execution, one_by_one) : first_execution;
}

bool measures_tasks_first(const PreparedCase& prepared) {
  const std::vector<Stream*>& streams = prepared.subject->plan().streams();
  return prepared.execution_seconds < max_unknown_seconds ||
         std::ranges::any_of(
             streams, [](const Stream* stream) { return stream->device().loads_at_first_use(); });
}

}  // namespace parbench
