// Decides on rounds by the samples beside them, and computes costs relative to these.
#include "bench/sampling/cost_rounds.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "bench/execution/interrupt.h"
#include "bench/sampling/preparation.h"
#include "kernels/core/device.h"
#include "reports/statistics/statistics.h"

namespace parbench {
namespace {

constexpr double max_unknown_seconds = 0.1;

/// Number of rounds that may take twice `cost_share`, because one of them, or the sample beside it,
/// may be disturbed.
constexpr std::size_t wanted_rounds = 2;
/// Enough for a median; more would only cost memory and time.
constexpr std::size_t max_rounds = 100;

/// Maximum ratio of two executions that are close, and of two that are typical of each other. The
/// ratio also limits the error of a cost.
constexpr double close_factor = 1.1;
constexpr double typical_factor = 1.5;

bool is_within(double factor, double one, double other) {
  return one <= factor * other && other <= factor * one;
}

}  // namespace

bool CostRounds::due_after(double taken, double execution) {
  samples_ += taken;
  if (beside_.size() >= max_rounds || execution <= 0) return false;
  executions_.push_back(execution);
  const double typical = executions_[median_index(executions_)];
  if (!is_within(typical_factor, execution, typical)) return false;
  const std::size_t known = rounds_within(typical_factor, typical).size();
  const double share = known < wanted_rounds ? 2 * cost_share : cost_share;
  return rounds_ + latest_round_ / 2 <= share * samples_;
}

void CostRounds::add(double taken, std::vector<double> costs) {
  latest_round_ = taken;
  if (executions_.empty()) {
    ahead_ = std::move(costs);
    return;
  }
  rounds_ += taken;
  beside_.push_back({executions_.back(), std::move(costs)});
}

std::vector<const CostRounds::Round*> CostRounds::rounds_within(double factor,
                                                                double median) const {
  std::vector<const Round*> found;
  for (const Round& round : beside_) {
    if (is_within(factor, round.execution, median)) found.push_back(&round);
  }
  return found;
}

std::optional<std::vector<double>> CostRounds::costs(double median) const {
  if (beside_.empty()) return ahead_;
  std::vector<const Round*> rounds = rounds_within(close_factor, median);
  if (rounds.empty()) rounds = rounds_within(typical_factor, median);
  if (rounds.empty()) return std::nullopt;
  std::vector<double> costs;
  std::vector<double> of_task(rounds.size());
  for (std::size_t task = 0; task < rounds.front()->costs.size(); ++task) {
    std::ranges::transform(rounds, of_task.begin(), [&](const Round* round) {
      return round->costs[task] / round->execution;
    });
    costs.push_back(median * of_task[median_index(of_task)]);
  }
  return costs;
}

double warm_seconds(double first_execution, const std::vector<double>& costs) {
  const double one_by_one = std::accumulate(costs.begin(), costs.end(), 0.0);
  return one_by_one > 0 ? std::min(first_execution, one_by_one) : first_execution;
}

std::optional<std::vector<double>> costs_in_time(PlanRunner& runner,
                                                 const std::function<bool()>& interrupted,
                                                 const std::function<bool()>& has_time) {
  try {
    return runner.measure_tasks([&] { return interrupted() || !has_time(); });
  } catch (const Interrupted&) {
    if (interrupted()) throw;
    return std::nullopt;
  }
}

bool measures_tasks_first(const PreparedCase& prepared) {
  const std::vector<Stream*>& streams = prepared.subject->plan().streams();
  return prepared.execution_seconds < max_unknown_seconds ||
         std::ranges::any_of(
             streams, [](const Stream* stream) { return stream->device().loads_at_first_use(); });
}

}  // namespace parbench
