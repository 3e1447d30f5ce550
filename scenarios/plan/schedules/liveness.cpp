// Assigns slots by the order of actions that the schedule implies: each micro-batch gets the first
// free slot.
#include "scenarios/plan/schedules/liveness.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>

namespace parbench {
namespace {

/// Determines which actions have ended when another one starts. Actions of a stage run in order. A
/// forward pass also waits for the forward pass of its micro-batch in the previous stage, a
/// backward pass for the backward pass in the next stage.
class ActionOrder {
 public:
  explicit ActionOrder(const Schedule& schedule) {
    std::vector<Ended> ended(schedule.size(), Ended(schedule.size(), 0));
    for (const Action& action : in_dependency_order(schedule)) {
      const auto s = static_cast<std::size_t>(action.stage);
      if (const auto sender = sender_of(action, static_cast<int>(schedule.size()))) {
        const Moment& sent = moments_.at(*sender);
        for (std::size_t i = 0; i < schedule.size(); ++i) {
          ended[s][i] = std::max(ended[s][i], sent.ended[i]);
        }
        const auto from = static_cast<std::size_t>(sender->stage);
        ended[s][from] = std::max(ended[s][from], sent.position + 1);
      }
      const int position = ended[s][s];
      moments_[action] = {.position = position, .ended = ended[s]};
      ended[s][s] = position + 1;
    }
  }

  /// Returns whether these rules guarantee that `one` has ended when `other` starts.
  [[nodiscard]] bool precedes(const Action& one, const Action& other) const {
    return moments_.at(other).ended[static_cast<std::size_t>(one.stage)] >
           moments_.at(one).position;
  }

 private:
  using Ended = std::vector<int>;  // by stage: number of actions that have ended
  struct Moment {
    int position = 0;  // index among the actions of its stage
    Ended ended;       // actions that have ended when this one starts
  };

  static std::optional<Action> sender_of(Action action, int stages) {
    action.stage += action.pass == Pass::forward ? -1 : 1;
    if (action.stage < 0 || action.stage >= stages) return std::nullopt;
    return action;
  }

  std::map<Action, Moment> moments_;
};

struct PassOfStage {
  Pass pass = Pass::forward;
  int stage = 0;
  [[nodiscard]] Action of(int micro_batch) const { return {pass, stage, micro_batch}; }
};

/// Assigns slots to memory that a micro-batch uses from the beginning of its pass `first` until the
/// end of its pass `last`. `micro_batches`: in the order of `first`. A slot can be reused once the
/// pass `last` of its previous micro-batch has ended.
Slots slots_between(const ActionOrder& order, const std::vector<int>& micro_batches,
                    const PassOfStage& first, const PassOfStage& last) {
  Slots slots(micro_batches.size(), 0);
  std::vector<int> holders;  // the last micro-batch of each slot
  for (const int micro_batch : micro_batches) {
    const auto free = std::ranges::find_if(holders, [&](int holder) {
      return order.precedes(last.of(holder), first.of(micro_batch));
    });
    slots.at(static_cast<std::size_t>(micro_batch)) = static_cast<int>(free - holders.begin());
    if (free == holders.end()) {
      holders.push_back(micro_batch);
    } else {
      *free = micro_batch;
    }
  }
  return slots;
}

/// Returns the micro-batches in the order in which a stage's actions of kind `pass` process them.
std::vector<int> micro_batches_of(const std::vector<Action>& actions, Pass pass) {
  std::vector<int> found;
  for (const Action& action : actions) {
    if (action.pass == pass) found.push_back(action.micro_batch);
  }
  return found;
}

}  // namespace

int slot_of(const Slots& slots, int micro_batch) {
  return slots.empty() ? 0 : slots.at(static_cast<std::size_t>(micro_batch));
}

int slot_count(const Slots& slots) {
  return slots.empty() ? 1 : *std::ranges::max_element(slots) + 1;
}

StageSlots stage_slots(const Schedule& schedule, int stage) {
  const ActionOrder order(schedule);
  const auto forward = [](int s) { return PassOfStage{Pass::forward, s}; };
  const auto backward = [](int s) { return PassOfStage{Pass::backward, s}; };
  const auto between = [&](const PassOfStage& first, const PassOfStage& last) {
    const auto& actions = schedule.at(static_cast<std::size_t>(first.stage));
    return slots_between(order, micro_batches_of(actions, first.pass), first, last);
  };
  const int previous = stage - 1;
  const int next = stage + 1;
  StageSlots slots;
  slots.activations = between(forward(stage), backward(stage));
  if (stage > 0) {
    slots.inputs = between(forward(previous), backward(stage));
    slots.input_gradients = between(backward(stage), backward(previous));
    slots.packed_inputs = between(forward(previous), forward(stage));
  }
  if (next < static_cast<int>(schedule.size())) {
    slots.output_gradients = between(backward(next), backward(stage));
    if (stage > 0) slots.passed_gradients = between(backward(next), backward(previous));
    slots.packed_outputs = between(forward(stage), forward(next));
  }
  return slots;
}

}  // namespace parbench
