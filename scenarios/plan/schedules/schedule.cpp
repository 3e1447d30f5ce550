// Implementation of the schedules.
#include "scenarios/plan/schedules/schedule.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

namespace parbench {

Schedule gpipe(int stages, int micro_batches) {
  std::vector<Action> actions;
  for (int micro_batch = 0; micro_batch < micro_batches; ++micro_batch)
    actions.push_back({Pass::forward, micro_batch});
  for (int micro_batch = micro_batches - 1; micro_batch >= 0; --micro_batch)
    actions.push_back({Pass::backward, micro_batch});
  return Schedule(static_cast<std::size_t>(stages), actions);
}

Schedule one_forward_one_backward(int stages, int micro_batches) {
  Schedule schedule;
  for (int stage = 0; stage < stages; ++stage) {
    const int warm_up = std::min(micro_batches, stages - stage - 1);
    std::vector<Action> actions;
    int forward = 0;
    int backward = 0;
    while (forward < warm_up) actions.push_back({Pass::forward, forward++});
    while (backward < micro_batches) {
      if (forward < micro_batches) actions.push_back({Pass::forward, forward++});
      actions.push_back({Pass::backward, backward++});
    }
    schedule.push_back(std::move(actions));
  }
  return schedule;
}

Schedule one_at_a_time(int stages, int micro_batches) {
  std::vector<Action> actions;
  for (int micro_batch = 0; micro_batch < micro_batches; ++micro_batch) {
    actions.push_back({Pass::forward, micro_batch});
    actions.push_back({Pass::backward, micro_batch});
  }
  return Schedule(static_cast<std::size_t>(stages), actions);
}

Schedule schedule_named(std::string_view name, int stages, int micro_batches) {
  if (name == "gpipe") return gpipe(stages, micro_batches);
  if (name == "1f1b") return one_forward_one_backward(stages, micro_batches);
  throw std::invalid_argument("unknown schedule " + std::string(name));
}

std::vector<PlacedAction> in_dependency_order(const Schedule& schedule) {
  const int stages = static_cast<int>(schedule.size());
  std::set<std::pair<int, int>> forward_done;
  std::set<std::pair<int, int>> backward_done;
  const auto ready = [&](int stage, const Action& action) {
    if (action.pass == Pass::forward) {
      return stage == 0 || forward_done.contains({stage - 1, action.micro_batch});
    }
    return forward_done.contains({stage, action.micro_batch}) &&
           (stage == stages - 1 || backward_done.contains({stage + 1, action.micro_batch}));
  };

  std::size_t total = 0;
  for (const auto& actions : schedule) total += actions.size();
  std::vector<std::size_t> next(schedule.size(), 0);
  std::vector<PlacedAction> order;
  while (order.size() < total) {
    const std::size_t before = order.size();
    for (int stage = 0; stage < stages; ++stage) {
      const auto s = static_cast<std::size_t>(stage);
      if (next[s] == schedule[s].size() || !ready(stage, schedule[s][next[s]])) continue;
      const Action action = schedule[s][next[s]++];
      (action.pass == Pass::forward ? forward_done : backward_done)
          .insert({stage, action.micro_batch});
      order.push_back({stage, action});
    }
    if (order.size() == before) throw std::logic_error("this schedule waits for itself");
  }
  return order;
}

}  // namespace parbench
