// The end of a process whose run cannot go on.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace parbench {

/// Prints why and ends the process with exit code 1, without unwinding: other threads may be in
/// calls that never return.
[[noreturn]] void end_run(const std::string& why);

/// Ends the process unless the object is destroyed within a limit: for calls that wait for other
/// ranks and cannot be interrupted, as those that begin and end MPI.
class Watchdog {
 public:
  Watchdog(std::chrono::duration<double> limit, std::string why);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
  std::thread thread_;  // last
};

}  // namespace parbench
