// Runs other programs to their end: their output, time limits, and interrupts of the run.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace parbench {

struct ChildProgram {
  std::vector<std::string> words;  // the first is searched in PATH
  /// Called with each line of the program's standard output, without the line break.
  std::function<void(std::string_view)> on_line = [](std::string_view) {};
  /// Called at least once a second while the program runs.
  std::function<void()> on_wait = [] {};
  /// Limits of the whole time and of the time without output, after which the program is stopped.
  double max_seconds = std::numeric_limits<double>::infinity();
  double max_silent_seconds = std::numeric_limits<double>::infinity();
};

struct ChildEnd {
  int exit_code = 0;         // 128 + the signal if a signal ended it
  double seconds = 0;        // wall time
  double cpu_seconds = 0;    // including its children that have ended
  std::string passed_limit;  // "did not end within 60 s"; empty: no limit was passed
  std::string error_output;  // the end of standard error

  /// Returns "ended with exit code 3", "was ended by signal 11 (Segmentation fault)", or the limit
  /// that it passed, followed by the last lines of its standard error.
  [[nodiscard]] std::string text() const;
};

/// Runs a program to its end, in its own process group and with empty standard input. When it ends,
/// the remaining processes of the group are killed. A first interrupt of this process
/// (InterruptHandler) is forwarded as SIGINT (SIGHUP as SIGHUP), so that the program can end in
/// an orderly way; a second one kills it. Throws Interrupted if there was an interrupt before,
/// Error if the program cannot be started or its exit code is unavailable (`await_children`).
[[nodiscard]] ChildEnd run_child(const ChildProgram& program);

/// Call this first in a process that runs others. A process that was started with SIGCHLD ignored,
/// as by some supervisors, would not get the exit codes of its children.
void await_children();

/// Requests SIGTERM for this process when its parent, which reads its output, ends for any reason.
/// If the parent has ended already, ends this process.
void end_with_parent();

}  // namespace parbench
