// Polling strategy of a thread that waits for another rank.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

namespace parbench::mpi {

/// Pauses of a thread between polls. The thread first keeps its core, then yields it, and soon
/// sleeps for a part of the time that it has waited so far. A thread that only yields would take
/// half of the core from a thread that computes there.
class Waiting {
 public:
  void pause() {
    ++polls_;
    if (polls_ < keeping) return;
    const Clock::time_point now = Clock::now();
    if (!begin_) begin_ = now;
    const auto waited = now - *begin_;
    if (waited < yielding) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::min<Clock::duration>(waited / 8, longest_sleep));
    }
  }
  [[nodiscard]] bool should_check() const { return polls_ % checking == 0; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr int keeping = 2000;
  static constexpr int checking = 16;
  static constexpr auto yielding = std::chrono::microseconds(100);
  static constexpr auto longest_sleep = std::chrono::microseconds(100);

  int polls_ = 0;
  std::optional<Clock::time_point> begin_;
};

}  // namespace parbench::mpi
