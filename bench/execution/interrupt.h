// Ctrl-C, SIGTERM and SIGHUP (the terminal was closed): the first requests an orderly end, the
// second ends the process at once.
#pragma once

#include <sys/types.h>

#include <array>
#include <csignal>
#include <exception>

namespace parbench {

inline constexpr int interrupted_exit_code = 130;
inline constexpr int terminated_exit_code = 143;

/// Thrown between executions to abandon the current preparation or sample, whose partial results
/// are discarded.
struct Interrupted : std::exception {
  [[nodiscard]] const char* what() const noexcept override { return "interrupted"; }
};

/// Handles signals during its lifetime: the first makes `requested` true and prints a message to
/// standard error; the second ends the process with `exit_code`, without unwinding. Leaves SIGHUP
/// ignored if it was, as under nohup. Restores the former handlers. Only one may exist at a time.
class InterruptHandler {
 public:
  static constexpr std::array signals{SIGINT, SIGTERM, SIGHUP};

  /// Whether the first signal prints a message; only one of several processes does.
  enum class Says { message, nothing };

  explicit InterruptHandler(Says says = Says::message);
  ~InterruptHandler();
  InterruptHandler(const InterruptHandler&) = delete;
  InterruptHandler& operator=(const InterruptHandler&) = delete;

  [[nodiscard]] static bool requested();

  /// Returns the exit code of a program that a signal ended: 143 if SIGTERM was the first signal,
  /// otherwise 130.
  [[nodiscard]] static int exit_code();

  /// Forwards the first signal from now on to a process group as SIGINT (SIGHUP as SIGHUP); the
  /// second kills the group. 0 ends the forwarding.
  static void hand_on_to(pid_t group);

 private:
  std::array<struct sigaction, signals.size()> former_ = {};
};

}  // namespace parbench
