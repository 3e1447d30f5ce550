// Other processes of the run, whose use of cores counts as the run's own.
#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

namespace parbench {

/// Another process of the run on this host.
struct OwnProcess {
  pid_t pid = 0;
  double share = 1;  // share of its cores that this process may use too
  friend bool operator==(const OwnProcess&, const OwnProcess&) = default;
};

/// Returns the ancestors of this process that run the same program: runs with several processes
/// (--processes) or pairs (ab).
[[nodiscard]] std::vector<OwnProcess> starting_processes();

/// Returns the CPU time in seconds of a process of this host; nothing if it has ended.
[[nodiscard]] std::optional<double> cpu_seconds_of(pid_t process);

}  // namespace parbench
