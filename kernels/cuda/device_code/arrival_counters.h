// Counters by which the last of several blocks recognises that it is the last. It then continues
// with the results of all, and no block waits for another. Every stream has its own counters,
// because its kernels run one after the other; each kernel leaves them at zero, as it finds them.
#pragma once

namespace parbench::cuda {

/// Number of counters of a stream; a kernel may use all of them.
constexpr int arrival_counters = 4096;

}  // namespace parbench::cuda
