// In-order asynchronous queues and the events that order them against each other.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>

#include "kernels/buffer.h"
#include "kernels/error.h"

namespace parbench {

class Device;
class SharedRecords;

/// An ordering point and a timestamp. An event is recorded on a stream and waited for by others; it
/// may be recorded again, and a wait refers to the latest record that was enqueued before it.
class Event {
 public:
  virtual ~Event() = default;

  /// Seconds from `earlier` to this event; both must have been reached (synchronize first) and
  /// belong to the same device.
  [[nodiscard]] virtual double seconds_since(const Event& earlier) const = 0;

  /// By which streams of other backends wait for it (crossing.h); null where only those of its own
  /// can.
  [[nodiscard]] virtual SharedRecords* shared_records() { return nullptr; }

  /// Throws what keeps the records that were enqueued from ever being reached, a lost device say.
  virtual void check() const {}
};

/// A queue that executes in the order of enqueueing, beside the caller and beside other streams.
/// Enqueueing returns at once and allocates nothing after the first run of the same sequence.
/// A stream may be fed by one host thread at a time.
class Stream {
 public:
  /// Skips the operations and copies that have not begun; the events still queued are reached, so
  /// that other streams which wait for them go on.
  virtual ~Stream() = default;

  [[nodiscard]] virtual Device& device() const = 0;

  /// Intra-operator threads that work enqueued here runs with; operations must be prepared for it.
  [[nodiscard]] virtual int threads() const = 0;

  /// Makes room for the scratch memory that operations on this stream need. Not while work is
  /// queued.
  void reserve_scratch(std::size_t bytes) {
    requested_scratch_ = std::max(requested_scratch_, bytes);
    if (bytes > scratch_bytes()) grow_scratch(bytes);
  }
  [[nodiscard]] virtual std::size_t scratch_bytes() const = 0;

  /// Scratch memory serves all users of a stream and never shrinks. The largest request since it
  /// was last set tells how much of it one of them needs.
  [[nodiscard]] std::size_t requested_scratch() const { return requested_scratch_; }
  void set_requested_scratch(std::size_t bytes) { requested_scratch_ = bytes; }

  /// Copies min(source.bytes, destination.bytes) == both bytes; the sizes must be equal.
  virtual void copy(BufferView destination, BufferView source) = 0;

  virtual void record(Event& event) = 0;
  virtual void wait(Event& event) = 0;

  /// Sleeps until everything enqueued so far has run. Throws the first exception of that work,
  /// once, or TimedOut when `limit` passes.
  virtual void synchronize(std::chrono::milliseconds limit = default_limit) = 0;

  static constexpr std::chrono::milliseconds default_limit = std::chrono::minutes(30);

 private:
  /// Makes the scratch memory that large, which is more than it is.
  virtual void grow_scratch(std::size_t bytes) = 0;

  std::size_t requested_scratch_ = 0;
};

/// Synchronises the stream of every item, the later ones also when an earlier one fails, and then
/// throws the first failure. Throws TimedOut at once: nothing is won by waiting as long for the
/// rest.
template <class Items, class StreamOf>
void synchronize_all(const Items& items, const StreamOf& stream_of) {
  std::exception_ptr failure;
  for (const auto& item : items) {
    try {
      stream_of(item).synchronize();
    } catch (const TimedOut&) {
      throw;
    } catch (...) {
      if (!failure) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace parbench
