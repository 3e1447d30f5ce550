// Work of an operation, a copy or a task, by definition. Hardware may do more or less.
#pragma once

namespace parbench {

struct Work {
  double flops = 0;  // floating-point operations; a multiply-add is two
  double bytes = 0;  // minimum traffic: every argument read once, written once, or both
  /// Given duration in seconds, the same on every device: the delay of a Spin.
  double seconds = 0;

  Work& operator+=(const Work& other) {
    flops += other.flops;
    bytes += other.bytes;
    seconds += other.seconds;
    return *this;
  }
  [[nodiscard]] bool empty() const { return *this == Work{}; }
  friend bool operator==(const Work&, const Work&) = default;
};

}  // namespace parbench
