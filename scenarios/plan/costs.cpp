// Estimates the costs of tasks by rooflines.
#include "scenarios/plan/costs.h"

#include <algorithm>
#include <stdexcept>

namespace parbench {

double Roofline::seconds(const Work& work, int sharers) const {
  return work.seconds +
         std::max(work.flops / flops_per_second, work.bytes / bytes_per_second) / sharers;
}

std::vector<double> estimated_costs(const PlanGraph& graph, const std::vector<Roofline>& lanes) {
  if (lanes.size() != graph.lanes.size()) {
    throw std::invalid_argument("estimated costs need one roofline per lane");
  }
  std::vector<double> costs;
  for (const Task& task : graph.tasks) {
    const Roofline& roofline = lanes[static_cast<std::size_t>(task.lanes.front())];
    costs.push_back(roofline.seconds(task.work, static_cast<int>(task.lanes.size())));
  }
  return costs;
}

}  // namespace parbench
