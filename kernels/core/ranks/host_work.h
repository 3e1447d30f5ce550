// Host work that runs in stream order, such as a message to another process.
#pragma once

#include <functional>
#include <utility>

namespace parbench {

/// Work that is called when the work enqueued before has ended; later work waits until it returns.
/// An exception fails the stream as the exception of an operation does. The work must not allocate
/// memory.
class HostWork {
 public:
  explicit HostWork(std::function<void()> work) : work_(std::move(work)) {}
  void run() const { work_(); }

 private:
  std::function<void()> work_;
};

}  // namespace parbench
