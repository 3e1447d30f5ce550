// Ctrl-C, SIGTERM and SIGHUP (the terminal has gone): the first asks for an orderly end, the second
// ends the process at once.
#pragma once

#include <sys/types.h>

#include <array>
#include <csignal>
#include <exception>

namespace parbench {

inline constexpr int interrupted_exit_code = 130;
inline constexpr int terminated_exit_code = 143;

/// Thrown between executions to abandon the current step, whose partial results do not count.
struct Interrupted : std::exception {
  [[nodiscard]] const char* what() const noexcept override { return "interrupted"; }
};

/// Handles signals during its lifetime: the first makes `requested` true and prints a message on
/// standard error; the second ends the process with `exit_code`, without unwinding. A SIGHUP that
/// is ignored, as under nohup, stays ignored. Restores the former handlers. One at a time.
class InterruptHandler {
 public:
  static constexpr std::array signals{SIGINT, SIGTERM, SIGHUP};

  /// Whether the first signal prints a message; of several processes one does.
  enum class Says { message, nothing };

  explicit InterruptHandler(Says says = Says::message);
  ~InterruptHandler();
  InterruptHandler(const InterruptHandler&) = delete;
  InterruptHandler& operator=(const InterruptHandler&) = delete;

  [[nodiscard]] static bool requested();

  /// Returns the exit code of a program that was asked to end: 143 where SIGTERM was the first
  /// signal, otherwise 130.
  [[nodiscard]] static int exit_code();

  /// From now on the first signal is forwarded to a process group as SIGINT, and the second kills
  /// it; 0 ends the forwarding.
  static void hand_on_to(pid_t group);

 private:
  std::array<struct sigaction, signals.size()> former_ = {};
};

}  // namespace parbench
