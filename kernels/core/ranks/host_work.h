// Host work that runs in stream order, such as a message to another process.
#pragma once

#include <functional>
#include <utility>

namespace parbench {

/// A host function in a stream: called when all work enqueued before has ended; later work waits
/// until it returns. An exception makes the stream fail as an exception of an operation does. The
/// function must not allocate memory.
class HostWork {
 public:
  explicit HostWork(std::function<void()> work) : work_(std::move(work)) {}
  void run() const { work_(); }

 private:
  std::function<void()> work_;
};

}  // namespace parbench
