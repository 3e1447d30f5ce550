// How a thread waits for another rank.
#pragma once

#include <chrono>
#include <optional>
#include <thread>

namespace parbench::mpi {

/// At first a thread keeps its core between polls, then it gives it to any other thread, and after
/// a while it sleeps, when a wake-up costs little beside what it has waited.
class Waiting {
 public:
  void pause() {
    ++polls_;
    if (polls_ < keeping) return;
    if (!begin_) begin_ = Clock::now();
    if (polls_ % checking != 0 || Clock::now() - *begin_ < yielding) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(sleep);
    }
  }
  [[nodiscard]] bool should_check() const { return polls_ % checking == 0; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr int keeping = 2000;
  static constexpr int checking = 16;
  static constexpr auto yielding = std::chrono::milliseconds(20);
  static constexpr auto sleep = std::chrono::microseconds(50);

  int polls_ = 0;
  std::optional<Clock::time_point> begin_;
};

}  // namespace parbench::mpi
