// In-order asynchronous queues and the events that order them against each other.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>

#include "kernels/base/error.h"
#include "kernels/core/activity.h"
#include "kernels/core/buffer.h"
#include "kernels/core/condition.h"
#include "kernels/core/graph.h"
#include "kernels/core/ranks/host_work.h"

namespace parbench {

class Device;
class HostWorker;
class SharedRecords;

/// Purpose of an event. An event for ordering only is cheaper and has no time.
enum class EventKind { timing, ordering };

/// An ordering point and a timestamp. An event is recorded on a stream, and other streams wait for
/// it. It may be recorded again; a wait refers to the latest record that was enqueued before the
/// wait. An event recorded inside a capture orders the captured work. It can neither be waited for
/// outside of the capture nor return a time until it is recorded again.
class Event {
 public:
  virtual ~Event() = default;

  /// Returns the seconds from `earlier` to this event. Both must have been reached (synchronize
  /// first) and belong to the same device. Throws std::logic_error if one of them is for ordering
  /// only, and Error if an event has no time for another reason. Events of remote devices return 0.
  [[nodiscard]] virtual double seconds_since(const Event& earlier) const = 0;

  /// Returns the records by which streams of other backends wait for this event (crossing.h); null
  /// if only streams of the event's own backend can wait for it.
  [[nodiscard]] virtual SharedRecords* shared_records() { return nullptr; }

  /// Throws if the recorded events can no longer complete, for example because the device was lost.
  virtual void check() const {}
};

/// A queue that executes in the order of enqueueing, concurrently with the caller and with other
/// streams. Enqueueing returns at once (except for some copies, see `copy`) and allocates nothing
/// after the first run of the same sequence. One host thread at a time may enqueue on a stream.
class Stream {
 public:
  /// Waits until no work of the stream runs; may skip operations and copies that have not begun.
  /// Queued events are still reached, so that other streams that wait for them continue.
  virtual ~Stream() = default;

  [[nodiscard]] virtual Device& device() const = 0;

  /// Number of intra-operator threads of this stream; operations must be prepared for it.
  [[nodiscard]] virtual int threads() const = 0;

  /// Returns times of the host threads that execute this stream; nothing if no host thread does, or
  /// the operating system does not report them. Does not throw.
  [[nodiscard]] virtual std::optional<ThreadTimes> thread_times() const { return std::nullopt; }

  /// Reserves scratch memory for the operations on this stream, unless the stream only plans. Must
  /// not be called while work is queued. Throws OutOfMemory and keeps the previous scratch memory.
  void reserve_scratch(std::size_t bytes) {
    requested_scratch_ = std::max(requested_scratch_, bytes);
    if (!only_plans_) provide_scratch(bytes);
  }
  /// Reserves scratch memory even if the stream only plans, and does not count it in
  /// `requested_scratch`.
  void provide_scratch(std::size_t bytes) {
    if (bytes <= scratch_bytes()) return;
    ++scratch_moves_;
    grow_scratch(bytes);
  }
  /// Makes `reserve_scratch` only record the requested size from now on. Plans of models that are
  /// larger than the memory can then be built, but not executed.
  void plan_only() { only_plans_ = true; }
  [[nodiscard]] virtual std::size_t scratch_bytes() const = 0;

  /// Number of calls that may have moved the scratch memory. Includes calls that failed: a device
  /// that cannot hold old and new memory at once frees the old memory first, and may get other
  /// memory of the old size afterwards.
  [[nodiscard]] std::uint64_t scratch_moves() const { return scratch_moves_; }

  /// Largest request of `reserve_scratch` since `set_requested_scratch`. Lets a caller record what
  /// one of several plans on the stream needs; the scratch memory serves all of them and never
  /// shrinks.
  [[nodiscard]] std::size_t requested_scratch() const { return requested_scratch_; }
  void set_requested_scratch(std::size_t bytes) { requested_scratch_ = bytes; }

  /// Copies source.bytes bytes; both sizes must be equal. With pageable memory a CUDA stream may
  /// block the caller until the copy is done. Plans therefore enqueue the work that is to run at
  /// the same time before such a copy.
  virtual void copy(BufferView destination, BufferView source) = 0;

  /// Enqueues host work, by default on the stream's worker. `work` must outlive its execution.
  /// Throws Unsupported if the device cannot let its streams wait for the host.
  virtual void perform(HostWork& work);

  /// Returns the thread that runs host work for this stream (ranks/host_worker.h), made at the
  /// first call; null if the stream's own thread runs host work, or no thread can.
  [[nodiscard]] virtual HostWorker* host_worker() { return nullptr; }

  virtual void record(Event& event) = 0;
  virtual void wait(Event& event) = 0;

  /// Captures the work that `enqueue` puts on this stream instead of executing it. The capture
  /// includes work on other streams of the same backend once they wait for an event recorded
  /// inside. Those streams must be joined: this stream waits for an event after their last work.
  /// `enqueue` runs once in this thread and may not synchronise the streams. An exception ends the
  /// capture, restores the streams and is rethrown. Throws Unsupported if the device has no graphs
  /// or the work cannot be captured.
  [[nodiscard]] virtual std::unique_ptr<Graph> capture(const std::function<void()>& enqueue);

  /// Sleeps until all work enqueued so far has run. Throws the first exception of that work, once,
  /// or TimedOut after `limit`.
  virtual void synchronize(std::chrono::milliseconds limit = default_limit) = 0;

  static constexpr std::chrono::milliseconds default_limit = std::chrono::minutes(30);

  /// Sets the tag of operations, copies and host work that are enqueued or captured from now on.
  void set_tag(ActivityTag tag) { tag_ = tag; }
  [[nodiscard]] ActivityTag tag() const { return tag_; }

  /// Records in `log` from now on when tagged work begins and ends; null ends the logging. Must not
  /// be called while work is queued. The log is complete once all streams that log have been
  /// synchronised, and must outlive the logging. A graph launched while logging must also have been
  /// captured while logging; other graphs may throw Unsupported. Throws Unsupported with the reason
  /// if the device cannot log; null never throws.
  virtual void log_activities(ActivityLog* log);

  /// Throws the Unsupported of `log_activities` if its reason is known without trying. Call it
  /// before preparing work whose only purpose is a log.
  virtual void check_activities();

 private:
  /// Grows the scratch memory to that size. If it throws OutOfMemory, the size is unchanged.
  virtual void grow_scratch(std::size_t bytes) = 0;

  ActivityTag tag_ = 0;
  bool only_plans_ = false;
  std::size_t requested_scratch_ = 0;
  std::uint64_t scratch_moves_ = 0;
};

/// Synchronises the stream of every item, even after a failure, and then throws the first failure.
/// TimedOut is thrown at once, because waiting for the other streams would take as long again.
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
