// Generates schedules and dependency orders.
#include "scenarios/plan/schedules/schedule.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>

namespace parbench {

Schedule gpipe(int stages, int micro_batches) {
  Schedule schedule(static_cast<std::size_t>(stages));
  for (int stage = 0; stage < stages; ++stage) {
    std::vector<Action>& actions = schedule[static_cast<std::size_t>(stage)];
    for (int i = 0; i < micro_batches; ++i) actions.push_back({Pass::forward, stage, i});
    for (int i = micro_batches - 1; i >= 0; --i) actions.push_back({Pass::backward, stage, i});
  }
  return schedule;
}

Schedule one_forward_one_backward(int stages, int micro_batches) {
  Schedule schedule;
  for (int stage = 0; stage < stages; ++stage) {
    const int warm_up = std::min(micro_batches, stages - stage - 1);
    std::vector<Action>& actions = schedule.emplace_back();
    int forward = 0;
    int backward = 0;
    while (forward < warm_up) actions.push_back({Pass::forward, stage, forward++});
    while (backward < micro_batches) {
      if (forward < micro_batches) actions.push_back({Pass::forward, stage, forward++});
      actions.push_back({Pass::backward, stage, backward++});
    }
  }
  return schedule;
}

Schedule one_at_a_time(int stages, int micro_batches) {
  Schedule schedule(static_cast<std::size_t>(stages));
  for (int stage = 0; stage < stages; ++stage) {
    for (int i = 0; i < micro_batches; ++i) {
      schedule[static_cast<std::size_t>(stage)].push_back({Pass::forward, stage, i});
      schedule[static_cast<std::size_t>(stage)].push_back({Pass::backward, stage, i});
    }
  }
  return schedule;
}

Schedule schedule_named(std::string_view name, int stages, int micro_batches) {
  if (name == "gpipe") return gpipe(stages, micro_batches);
  if (name == "1f1b") return one_forward_one_backward(stages, micro_batches);
  if (name == "one-at-a-time") return one_at_a_time(stages, micro_batches);
  throw std::invalid_argument("unknown schedule " + std::string(name));
}

std::vector<Action> in_dependency_order(const Schedule& schedule) {
  const int last = static_cast<int>(schedule.size()) - 1;
  std::set<Action> done;
  const auto is_ready = [&](const Action& action) {
    const auto& [pass, stage, micro_batch] = action;
    if (pass == Pass::forward) {
      return stage == 0 || done.contains({Pass::forward, stage - 1, micro_batch});
    }
    return done.contains({Pass::forward, stage, micro_batch}) &&
           (stage == last || done.contains({Pass::backward, stage + 1, micro_batch}));
  };

  std::size_t total = 0;
  for (const auto& actions : schedule) total += actions.size();
  std::vector<std::size_t> next(schedule.size(), 0);
  std::vector<Action> order;
  while (order.size() < total) {
    const std::size_t before = order.size();
    for (std::size_t device = 0; device < schedule.size(); ++device) {
      const auto& actions = schedule[device];
      if (next[device] == actions.size() || !is_ready(actions[next[device]])) continue;
      order.push_back(actions[next[device]++]);
      done.insert(order.back());
    }
    if (order.size() == before) throw std::logic_error("this schedule waits for itself");
  }
  return order;
}

}  // namespace parbench
