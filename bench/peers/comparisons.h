// Measurements of `parbench-peers`, as the JSON that scripts/peers reads.
#pragma once

#include <nlohmann/json.hpp>

#include "bench/peers/pairs.h"
#include "kernels/ops/ops.h"

namespace parbench::peers {

using Json = nlohmann::ordered_json;

/// Returns the seconds of both sides and the ratio peer/ours with its interval. Above 1, parbench
/// is faster.
[[nodiscard]] Json to_json(const Pairs& pairs);

/// Compares parbench's convolution, timed by events of its stream, with oneDNN's primitive executed
/// in a loop on the same memory. Throws Error if their results differ bytewise or their kernels
/// differ.
[[nodiscard]] Json compare_convolution(const ConvolutionForward& desc, const Effort& effort);

/// Compares a plan of `tasks` convolutions on one lane, run by the executor, with a loop that
/// enqueues the same operations on the same stream. Both are timed on the host, including launch
/// and synchronisation.
[[nodiscard]] Json compare_chain(const ConvolutionForward& desc, int tasks, const Effort& effort);

/// Compares the executor while it records every call with the executor without recording, on the
/// same plan. Both are timed by the plan's events, like samples.
[[nodiscard]] Json compare_recording(const ConvolutionForward& desc, int tasks,
                                     const Effort& effort);

}  // namespace parbench::peers
