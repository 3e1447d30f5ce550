// Ctrl-C and SIGTERM: the first asks for an orderly end, the second ends the process at once.
#pragma once

#include <csignal>
#include <exception>

namespace parbench {

inline constexpr int interrupted_exit_code = 130;

/// Thrown between executions to leave what is under way; what was begun of it does not count.
struct Interrupted : std::exception {
  [[nodiscard]] const char* what() const noexcept override { return "interrupted"; }
};

/// While it lives, the first SIGINT or SIGTERM makes `requested` true and says so on standard
/// error; the second ends the process with exit code 130, without unwinding. Restores the former
/// handlers. One at a time.
class InterruptHandler {
 public:
  InterruptHandler();
  ~InterruptHandler();
  InterruptHandler(const InterruptHandler&) = delete;
  InterruptHandler& operator=(const InterruptHandler&) = delete;

  [[nodiscard]] static bool requested();

 private:
  struct sigaction former_interrupt_ = {};
  struct sigaction former_terminate_ = {};
};

}  // namespace parbench
