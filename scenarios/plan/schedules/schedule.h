// Pipeline schedules as pure functions that return the actions of each stage, in order.
#pragma once

#include <compare>
#include <string_view>
#include <vector>

namespace parbench {

/// Kind of an action. `backward` computes the gradients of a stage's inputs and of its parameters.
/// The schedules below consist of `forward` and `backward`; none has the other kinds.
enum class Pass { forward, backward, input_gradient, weight_gradient, gather, release };

struct Action {
  Pass pass = Pass::forward;
  int stage = 0;
  int micro_batch = 0;
  friend auto operator<=>(const Action&, const Action&) = default;
};

/// The actions of every device in order of execution. Each device has one stage, with the index of
/// the device.
using Schedule = std::vector<std::vector<Action>>;

/// Returns all forward passes, followed by all backward passes in reverse order of micro-batches
/// (Huang et al. 2018, GPipe). A stage keeps the activations of every micro-batch.
[[nodiscard]] Schedule gpipe(int stages, int micro_batches);

/// Returns a schedule that alternates forward and backward passes once the pipeline is full
/// (Narayanan et al. 2019, PipeDream-Flush). The bubble equals GPipe's, but stage i of p (from 0)
/// keeps the activations of at most min(micro-batches, p − i) micro-batches.
[[nodiscard]] Schedule one_forward_one_backward(int stages, int micro_batches);

/// Returns a schedule in which each stage runs both passes of a micro-batch before those of the
/// next one: the reference for a pipeline's result.
[[nodiscard]] Schedule one_at_a_time(int stages, int micro_batches);

/// Returns the schedule "gpipe", "1f1b" or "one-at-a-time". Throws std::invalid_argument for
/// another name.
[[nodiscard]] Schedule schedule_named(std::string_view name, int stages, int micro_batches);

/// Returns the actions of all devices in one order in which every action follows those on which it
/// depends (forward depends on the previous stage, backward on the next stage and its own forward);
/// devices take turns. Throws std::logic_error if there is no such order (the schedule would
/// deadlock).
[[nodiscard]] std::vector<Action> in_dependency_order(const Schedule& schedule);

}  // namespace parbench
