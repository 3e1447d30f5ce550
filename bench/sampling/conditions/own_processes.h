// The processes of a run beside this one, whose use of cores is the run's own.
#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

namespace parbench {

/// Another process of the run on this host.
struct OwnProcess {
  pid_t pid = 0;
  double share = 1;  // of the cores that it may use, those that this process may use as well
  friend bool operator==(const OwnProcess&, const OwnProcess&) = default;
};

/// Returns the processes above this one that run the same program: those that measure in several
/// processes (--processes) or pairs (ab) have started it.
[[nodiscard]] std::vector<OwnProcess> starting_processes();

/// Returns the CPU time of a process of this host in seconds; nothing where it has ended.
[[nodiscard]] std::optional<double> cpu_seconds_of(pid_t process);

}  // namespace parbench
