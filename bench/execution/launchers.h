// Host threads that each enqueue one lane, kept between runs so that starting them is not timed.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace parbench {

class Launchers {
 public:
  /// Starts `count` threads; thread i calls `launch(i)` in every run.
  Launchers(int count, std::function<void(int)> launch);
  ~Launchers();
  Launchers(const Launchers&) = delete;
  Launchers& operator=(const Launchers&) = delete;

  /// Calls `launch` once in every thread and waits for all. Rethrows the first exception.
  void run();

 private:
  void work(int index);

  std::function<void(int)> launch_;
  std::mutex mutex_;
  std::condition_variable start_;
  std::condition_variable finished_;
  std::uint64_t round_ = 0;
  int running_ = 0;
  bool stopping_ = false;
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;
};

}  // namespace parbench
