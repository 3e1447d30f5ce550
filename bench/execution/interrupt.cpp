// The signal handler. It uses async-signal-safe functions only.
#include "bench/execution/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <string_view>

namespace parbench {
namespace {

// Static, because a signal handler can access no other storage.
std::atomic<int> first_signal{0};  // first signal received; 0: none
std::atomic<pid_t> process_group{0};
std::atomic<bool> is_silent{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<pid_t>::is_always_lock_free &&
                  std::atomic<bool>::is_always_lock_free,
              "the handler must not lock");

int exit_code_of(int signal) {
  return signal == SIGTERM ? terminated_exit_code : interrupted_exit_code;
}

/// Returns the signal to forward to a child: SIGHUP for SIGHUP, otherwise SIGINT. SIGINT would not
/// suffice when the terminal was closed: a shell that receives it between two commands continues
/// with the next until the user presses Ctrl-C again.
int handed_on(int signal) { return signal == SIGHUP ? SIGHUP : SIGINT; }

extern "C" void parbench_handle_interrupt(int signal) {
  constexpr std::string_view message =
      "\nparbench: stopping after the current execution; press Ctrl-C again to stop now\n";
  const int former_errno = errno;
  int first = 0;
  const bool again = !first_signal.compare_exchange_strong(first, signal);
  const pid_t group = process_group;
  if (group > 0) kill(-group, again ? SIGKILL : handed_on(signal));
  if (again) _exit(exit_code_of(first));
  if (!is_silent) {
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, message.data(), message.size());
  }
  errno = former_errno;
}

}  // namespace

InterruptHandler::InterruptHandler(Says says) {
  first_signal = 0;
  is_silent = says == Says::nothing;
  struct sigaction action = {};
  action.sa_handler = parbench_handle_interrupt;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    sigaction(signals[i], &action, &former_[i]);
    const bool kept = signals[i] == SIGHUP && former_[i].sa_handler == SIG_IGN;
    if (kept) sigaction(signals[i], &former_[i], nullptr);
  }
}

InterruptHandler::~InterruptHandler() {
  for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &former_[i], nullptr);
  first_signal = 0;
}

bool InterruptHandler::requested() { return first_signal != 0; }

int InterruptHandler::exit_code() { return exit_code_of(first_signal); }

void InterruptHandler::hand_on_to(pid_t group) { process_group = group; }

}  // namespace parbench
