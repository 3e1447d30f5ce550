// Pipeline schedules as pure functions: which stage does what, in which order.
#pragma once

#include <compare>
#include <string_view>
#include <vector>

namespace parbench {

/// What a device does with one stage and one micro-batch. `backward` is both gradients at once. The
/// others are for schedules that are still to come: zero-bubble ones divide it into
/// `input_gradient`, on which the previous stage waits, and `weight_gradient`, which only the
/// update needs; those of sharded parameters have `gather`, which brings a stage's to the device,
/// and `release`, which frees their memory.
enum class Pass { forward, backward, input_gradient, weight_gradient, gather, release };

struct Action {
  Pass pass = Pass::forward;
  int stage = 0;
  int micro_batch = 0;
  friend auto operator<=>(const Action&, const Action&) = default;
};

/// The actions of every device, each in its order of execution. So far each device has one stage,
/// that of its own index.
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

/// "gpipe", "1f1b" or "one-at-a-time". Throws std::invalid_argument for another name.
[[nodiscard]] Schedule schedule_named(std::string_view name, int stages, int micro_batches);

/// The actions of all devices in one order in which every action comes after those it depends on
/// (forward needs the previous stage, backward the next stage and its own forward), devices taking
/// turns. Throws std::logic_error when the schedule has no such order (it would deadlock).
[[nodiscard]] std::vector<Action> in_dependency_order(const Schedule& schedule);

}  // namespace parbench
