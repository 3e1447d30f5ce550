// How the threads of OpenMP teams wait for the next parallel region: a setting of the process.
#pragma once

#include <string>

namespace parbench::cpu {

/// Sets how teams wait and starts the program again, because GNU's library reads the setting while
/// it is loaded. Does nothing where the environment has such a setting already, from the user or
/// from this function, and where /proc/self/exe cannot be read. Call it first
/// in `main`, with argv: no thread may run, and nothing may have been read or written.
void adopt_waiting_policy(char* const* arguments);

/// The setting in force, as the environment spells it: "OMP_WAIT_POLICY=active
/// GOMP_SPINCOUNT=1000".
[[nodiscard]] std::string waiting_policy();

}  // namespace parbench::cpu
