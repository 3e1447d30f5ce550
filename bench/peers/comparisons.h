// What `parbench-peers` measures, each as the JSON that scripts/peers reads.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "bench/peers/pairs.h"
#include "kernels/ops/ops.h"

namespace parbench::peers {

using Json = nlohmann::ordered_json;

/// Seconds of both sides and the ratio peer/ours with its interval: above 1 ours is faster.
[[nodiscard]] Json to_json(const Pairs& pairs);

/// Our operation on our stream (times of its events) against the bare primitive in a loop, on the
/// same memory. Throws Error when the two do not compute the same bytes with the same kernel.
[[nodiscard]] Json compare_convolution(const ConvolutionForward& desc, const Effort& effort);

/// A plan of `tasks` convolutions on one lane, run by the executor, against a loop that enqueues
/// the same operations on the same stream. Both by the host's clock, launch and synchronisation
/// included.
[[nodiscard]] Json compare_chain(const ConvolutionForward& desc, int tasks, const Effort& effort);

/// The same plan, run by the executor while every call is noted, against the executor unobserved.
/// Both by the plan's events, as samples are.
[[nodiscard]] Json compare_recording(const ConvolutionForward& desc, int tasks,
                                     const Effort& effort);

}  // namespace parbench::peers
