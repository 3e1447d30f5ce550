// Counters by which a block detects that it is the last of several blocks to finish. It then
// combines their results, so that no block waits for another. Every stream has counters of its own,
// which only one kernel uses at a time. They are zero when a kernel begins and when it ends.
#pragma once

namespace parbench::cuda {

/// Number of counters of a stream; a kernel may use all of them.
constexpr int arrival_counters = 4096;

}  // namespace parbench::cuda
