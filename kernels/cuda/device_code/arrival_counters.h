// Counters for blocks that arrive: the last of several blocks to have done its part goes on with
// what all of them have left, and no block waits for another. Every stream has such counters, for
// its kernels run one after another; each kernel leaves them as it finds them, zero.
#pragma once

namespace parbench::cuda {

/// What a stream has; a kernel may use all of them.
constexpr int arrival_counters = 4096;

}  // namespace parbench::cuda
