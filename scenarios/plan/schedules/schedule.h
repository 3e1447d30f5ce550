// Pipeline schedules as pure functions: which stage does what, in which order.
#pragma once

#include <string_view>
#include <vector>

namespace parbench {

enum class Pass { forward, backward };

struct Action {
  Pass pass = Pass::forward;
  int micro_batch = 0;
  friend bool operator==(const Action&, const Action&) = default;
};

/// The actions of every stage, each in its order of execution.
using Schedule = std::vector<std::vector<Action>>;

/// All micro-batches forward, then all backward, the last micro-batch first (Huang et al. 2018,
/// GPipe). Holds the activations of every micro-batch.
[[nodiscard]] Schedule gpipe(int stages, int micro_batches);

/// One forward, one backward in turn once the pipeline is full (Narayanan et al. 2019,
/// PipeDream-Flush): the same bubble as GPipe, but stage i of p holds the activations of at most
/// min(micro-batches, p − i).
[[nodiscard]] Schedule one_forward_one_backward(int stages, int micro_batches);

/// The same micro-batches one after the other: what a pipeline's result is compared with.
[[nodiscard]] Schedule one_at_a_time(int stages, int micro_batches);

/// "gpipe" or "1f1b". Throws std::invalid_argument for another name.
[[nodiscard]] Schedule schedule_named(std::string_view name, int stages, int micro_batches);

/// The actions of all stages in one order in which every action comes after those it depends on
/// (forward needs the stage before, backward the stage behind and its own forward), stages taking
/// turns. Throws std::logic_error when the schedule has no such order (it would deadlock).
struct PlacedAction {
  int stage = 0;
  Action action;
};
[[nodiscard]] std::vector<PlacedAction> in_dependency_order(const Schedule& schedule);

}  // namespace parbench
