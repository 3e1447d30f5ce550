// Waiting policy of the process's OpenMP teams between parallel regions.
#pragma once

#include <string>

namespace parbench::cpu {

/// Sets the waiting policy and restarts the program, because GNU's library reads the policy while
/// it is loaded. Does nothing if the environment already contains a policy, from the user or from
/// this function, or if /proc/self/exe cannot be read. Call it first in `main`, with argv: no other
/// thread may run, and nothing may have been read or written.
void adopt_waiting_policy(char* const* arguments);

/// Returns the policy in use as environment variables, "OMP_WAIT_POLICY=active
/// GOMP_SPINCOUNT=1000", or "the library's default".
[[nodiscard]] std::string waiting_policy();

}  // namespace parbench::cpu
