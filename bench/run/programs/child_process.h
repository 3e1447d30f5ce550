// Other programs that a run starts and waits for: their output, how long they may take, and what
// becomes of them when the run is interrupted.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace parbench {

struct ChildProgram {
  std::vector<std::string> words;  // the first is searched for in PATH
  /// Each line of its standard output, without the line break.
  std::function<void(std::string_view)> on_line = [](std::string_view) {};
  /// Called at least once a second while it runs.
  std::function<void()> on_wait = [] {};
  /// It is ended after so long, or after so long without output.
  double max_seconds = std::numeric_limits<double>::infinity();
  double max_silent_seconds = std::numeric_limits<double>::infinity();
};

struct ChildEnd {
  int exit_code = 0;         // 128 + the signal where one ended it
  double seconds = 0;        // that it ran
  double cpu_seconds = 0;    // of it and of the processes that it has waited for
  std::string passed_limit;  // "did not end within 60 s"; empty: none
  std::string error_output;  // the last of it

  /// "ended with exit code 3", "was ended by signal 11 (Segmentation fault)", or the limit that it
  /// passed; below it the last lines of what it has said.
  [[nodiscard]] std::string text() const;
};

/// Runs a program to its end in a process group of its own, with nothing to read. Processes that
/// it has started in that group end with it. A first interrupt of this process (see
/// InterruptHandler) is forwarded as SIGINT, so that it can end in its own way; a second kills it.
/// Throws Interrupted where there was one before, Error when the program cannot be started, and
/// where its end was taken from this process (see `await_children`).
[[nodiscard]] ChildEnd run_child(const ChildProgram& program);

/// To be called first in a process that runs others. One that was started with SIGCHLD ignored, as
/// some supervisors do, would not get their exit codes.
void await_children();

/// Asks for SIGTERM when the process that started this one, and reads its output, ends, however
/// that happens. Where it has ended already, so does this one.
void end_with_parent();

}  // namespace parbench
