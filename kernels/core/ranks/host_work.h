// Work of the host that takes its turn in a stream, such as a message to another process.
#pragma once

namespace parbench {

class HostWork {
 public:
  virtual ~HostWork() = default;

  /// Called when the work that was enqueued before has ended; what follows waits for its return.
  /// What it throws fails the stream as an operation's exception does. Allocates nothing.
  virtual void run() = 0;
};

}  // namespace parbench
