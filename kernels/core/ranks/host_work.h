// Host work that runs in stream order, such as a message to another process.
#pragma once

#include <functional>
#include <utility>

namespace parbench {

/// Called when the work that was enqueued before has ended; what follows waits for its return. What
/// it throws fails the stream as an operation's exception does. It allocates nothing.
class HostWork {
 public:
  explicit HostWork(std::function<void()> work) : work_(std::move(work)) {}
  void run() const { work_(); }

 private:
  std::function<void()> work_;
};

}  // namespace parbench
