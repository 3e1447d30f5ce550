// Termination of a process whose run cannot go on.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace parbench {

/// Prints the reason and ends the process with exit code 1, without unwinding: other threads may be
/// in calls that never return.
[[noreturn]] void end_run(const std::string& why);

/// Ends the process if a call takes longer than its limit, for calls that wait for other ranks and
/// cannot be interrupted. Its thread never calls MPI.
class Watchdog {
 public:
  using Clock = std::chrono::steady_clock;

  Watchdog();
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Ends the process with `why` after `limit`, unless stopped; replaces an earlier limit.
  void start(std::chrono::duration<double> limit, std::string why);
  void stop();

 private:
  std::mutex mutex_;
  std::condition_variable over_;
  std::optional<Clock::time_point> due_;
  std::string why_;
  bool is_over_ = false;
  std::thread thread_;  // last member: uses the others
};

}  // namespace parbench
