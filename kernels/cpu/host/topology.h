// Cores that this process may use, and the binding of threads to them.
#pragma once

#include <string>
#include <vector>

namespace parbench::cpu {

/// Returns the operating-system index of one processing unit for each physical core in the
/// process's affinity mask, in hwloc's order of cores (neighbours share caches). Never empty.
/// Throws Error if the topology cannot be read.
[[nodiscard]] std::vector<int> usable_cores();

/// Returns `cores` and the other usable cores on their NUMA nodes. Memory that threads on these
/// cores touch first gets pages as close to `cores` as possible.
[[nodiscard]] std::vector<int> local_cores(const std::vector<int>& cores);

/// Returns the product name of the processor ("AMD EPYC 9965"), or its architecture if the name is
/// unknown.
[[nodiscard]] std::string processor_model();

/// Binds the calling thread to these cores. Throws Error if the system refuses.
void bind_this_thread(const std::vector<int>& cores);

/// Sets the size of the calling thread's OpenMP team to `threads`. Binds the threads, if there are
/// several, to one of the cores each, round robin. Throws Error if the system refuses.
void bind_team(const std::vector<int>& cores, int threads);

/// Wakes the calling thread's OpenMP team of `threads`. Afterwards the team polls for a parallel
/// region as long as the waiting policy allows (kernels/cpu/runtime/waiting.h).
void wake_team(int threads);

}  // namespace parbench::cpu
