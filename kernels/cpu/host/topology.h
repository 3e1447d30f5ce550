// Which cores this process may use, and how threads are bound to them.
#pragma once

#include <string>
#include <vector>

namespace parbench::cpu {

/// Operating-system indices of one processing unit for each physical core in the process's affinity
/// mask, in the order of hwloc's cores (neighbours share caches). Never empty; throws Error when
/// the topology cannot be read.
[[nodiscard]] std::vector<int> usable_cores();

/// The usable cores that share a NUMA node with one of these, these among them: memory that they
/// touch first gets pages as near to these as can be.
[[nodiscard]] std::vector<int> local_cores(const std::vector<int>& cores);

/// The processor's own name ("AMD EPYC 9965"), or its architecture when it has none.
[[nodiscard]] std::string processor_model();

/// Binds the calling thread to these cores. Throws Error when the system refuses.
void bind_this_thread(const std::vector<int>& cores);

/// Binds each thread of the calling thread's OpenMP team of `threads` to one of the cores, in turn.
void bind_team(const std::vector<int>& cores, int threads);

/// Wakes the calling thread's OpenMP team of `threads`: afterwards they poll for a parallel region,
/// for as long as the waiting policy says (kernels/cpu/runtime/waiting.h).
void wake_team(int threads);

}  // namespace parbench::cpu
