// Pipeline schedules as pure functions: the actions of each stage, in order.
#pragma once

#include <compare>
#include <string_view>
#include <vector>

namespace parbench {

/// An action's kind. `backward` computes both gradients; schedules that divide it have
/// `input_gradient`, for which the previous stage waits, and `weight_gradient`, which only the
/// update needs. `gather` collects sharded parameters of a stage on the device, and `release` frees
/// their memory.
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

/// All micro-batches forward, then all backward, starting with the last micro-batch (Huang et al.
/// 2018, GPipe). Keeps the activations of every micro-batch.
[[nodiscard]] Schedule gpipe(int stages, int micro_batches);

/// The same with the micro-batches in reverse order: forward from the last, backward from the
/// first.
[[nodiscard]] Schedule reversed(int stages, int micro_batches);

/// Alternates one forward and one backward pass once the pipeline is full (Narayanan et al. 2019,
/// PipeDream-Flush). The bubble is that of GPipe, but stage i of p keeps the activations of at most
/// min(micro-batches, p − i).
[[nodiscard]] Schedule one_forward_one_backward(int stages, int micro_batches);

/// The same micro-batches one after the other: the reference for a pipeline's result.
[[nodiscard]] Schedule one_at_a_time(int stages, int micro_batches);

/// Returns the schedule "gpipe", "reversed", "1f1b" or "one-at-a-time". Throws
/// std::invalid_argument for another name.
[[nodiscard]] Schedule schedule_named(std::string_view name, int stages, int micro_batches);

/// Returns the actions of all devices in one order in which every action follows those on which it
/// depends (forward depends on the previous stage, backward on the next stage and its own forward);
/// devices take turns. Throws std::logic_error if there is no such order (the schedule would
/// deadlock).
[[nodiscard]] std::vector<Action> in_dependency_order(const Schedule& schedule);

}  // namespace parbench
