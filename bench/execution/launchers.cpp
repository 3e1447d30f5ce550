#include "bench/execution/launchers.h"

#include <utility>

namespace parbench {

Launchers::Launchers(int count, std::function<void(int)> launch) : launch_(std::move(launch)) {
  threads_.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) threads_.emplace_back([this, i] { work(i); });
}

Launchers::~Launchers() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  start_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Launchers::run() {
  std::unique_lock lock(mutex_);
  running_ = static_cast<int>(threads_.size());
  ++round_;
  start_.notify_all();
  finished_.wait(lock, [this] { return running_ == 0; });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void Launchers::work(int index) {
  std::uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    start_.wait(lock, [&] { return stopping_ || round_ != seen; });
    if (stopping_) return;
    seen = round_;
    lock.unlock();
    std::exception_ptr failure;
    try {
      launch_(index);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (failure && !failure_) failure_ = failure;
    if (--running_ == 0) finished_.notify_one();
  }
}

}  // namespace parbench
