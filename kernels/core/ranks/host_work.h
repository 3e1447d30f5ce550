// Host work that runs in stream order, such as a message to another process.
#pragma once

namespace parbench {

class HostWork {
 public:
  virtual ~HostWork() = default;

  /// Called when the work enqueued before has ended; later work waits until it returns. An
  /// exception fails the stream as the exception of an operation does. Allocates nothing.
  virtual void run() = 0;
};

}  // namespace parbench
