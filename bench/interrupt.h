// Ctrl-C and SIGTERM: the first asks for an orderly end, the second ends the process at once.
#pragma once

#include <csignal>

namespace parbench {

inline constexpr int interrupted_exit_code = 130;

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
