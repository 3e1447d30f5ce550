// What a first execution says of the next ones.
#include "bench/sampling/cost_rounds.h"

#include <algorithm>
#include <numeric>

#include "bench/sampling/preparation.h"
#include "kernels/core/device.h"

namespace parbench {
namespace {

constexpr double max_unknown_seconds = 0.1;

}  // namespace

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
