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

/// The purpose of an event. One that only orders is cheaper and has no time.
enum class EventKind { timing, ordering };

/// An ordering point and a timestamp. An event is recorded on a stream and waited for by others; it
/// may be recorded again, and a wait refers to the latest record that was enqueued before it.
/// Recorded inside a capture it orders what is captured, and can neither be waited for outside nor
/// asked for its time until it is recorded again.
class Event {
 public:
  virtual ~Event() = default;

  /// Seconds from `earlier` to this event; both must have been reached (synchronize first) and
  /// belong to the same device. Throws std::logic_error where one of them only orders.
  [[nodiscard]] virtual double seconds_since(const Event& earlier) const = 0;

  /// The records by which streams of other backends wait for it (crossing.h); null where only those
  /// of its own can.
  [[nodiscard]] virtual SharedRecords* shared_records() { return nullptr; }

  /// Throws if the recorded events can no longer complete, for example because the device was lost.
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

  /// Number of intra-operator threads of this stream; operations must be prepared for it.
  [[nodiscard]] virtual int threads() const = 0;

  /// Asks the operating system about the threads that execute this stream; nothing where none of
  /// the host's do, or the system does not report on them. Does not throw.
  [[nodiscard]] virtual std::optional<ThreadTimes> thread_times() const { return std::nullopt; }

  /// Makes room for the scratch memory that operations on this stream need, unless it only plans.
  /// Not while work is queued. Throws OutOfMemory and leaves the room that there was.
  void reserve_scratch(std::size_t bytes) {
    requested_scratch_ = std::max(requested_scratch_, bytes);
    if (!only_plans_) provide_scratch(bytes);
  }
  /// Makes room also where the stream only plans, and counts it to no user of the stream.
  void provide_scratch(std::size_t bytes) {
    if (bytes <= scratch_bytes()) return;
    ++scratch_moves_;
    grow_scratch(bytes);
  }
  /// From now on `reserve_scratch` only notes what is asked for: plans of models that are larger
  /// than the memory can be made, and are not executed.
  void plan_only() { only_plans_ = true; }
  [[nodiscard]] virtual std::size_t scratch_bytes() const = 0;

  /// Number of possible moves of the scratch memory. Failed growth counts: the size is the same
  /// then, but a device that cannot hold both at once has freed and reallocated it.
  [[nodiscard]] std::uint64_t scratch_moves() const { return scratch_moves_; }

  /// Scratch memory serves all users of a stream and never shrinks. The largest request since it
  /// was last set is what one of them needs.
  [[nodiscard]] std::size_t requested_scratch() const { return requested_scratch_; }
  void set_requested_scratch(std::size_t bytes) { requested_scratch_ = bytes; }

  /// Copies min(source.bytes, destination.bytes) == both bytes; the sizes must be equal. With
  /// pageable memory a CUDA stream may hold the caller until the copy is done: plans enqueue first
  /// what is to run beside it.
  virtual void copy(BufferView destination, BufferView source) = 0;

  /// Enqueues work of the host, which outlives its execution; by default for the stream's worker.
  /// Throws Unsupported where the device cannot let its streams wait for the host.
  virtual void perform(HostWork& work);

  /// The thread that does the host's work for this stream (ranks/host_worker.h), which is made at
  /// the first call; null where the stream's own thread does it, or none can.
  [[nodiscard]] virtual HostWorker* host_worker() { return nullptr; }

  virtual void record(Event& event) = 0;
  virtual void wait(Event& event) = 0;

  /// Captures what `enqueue` puts on this stream instead of executing it, and what it puts on
  /// streams of the same backend from the moment on when they wait for an event that was recorded
  /// inside. They have to be joined: this stream waits for an event that follows their last work.
  /// `enqueue` runs once, in this thread, and may not synchronise the streams. An exception
  /// ends the capture and is rethrown; the streams are as before then. Throws Unsupported where
  /// the device captures nothing or the work cannot be captured.
  [[nodiscard]] virtual std::unique_ptr<Graph> capture(const std::function<void()>& enqueue);

  /// Sleeps until everything enqueued so far has run. Throws the first exception of that work,
  /// once, or TimedOut when `limit` passes.
  virtual void synchronize(std::chrono::milliseconds limit = default_limit) = 0;

  static constexpr std::chrono::milliseconds default_limit = std::chrono::minutes(30);

  /// Operations and copies that are enqueued or captured from now on carry this tag.
  void set_tag(ActivityTag tag) { tag_ = tag; }
  [[nodiscard]] ActivityTag tag() const { return tag_; }

  /// Records in `log` from now on when tagged work begins and ends; null ends it. Not while work
  /// is queued; what the log holds is complete when all streams that log have been synchronised. A
  /// graph that is launched meanwhile must have been captured meanwhile: launching another one may
  /// throw Unsupported. The log outlives the logging. Throws Unsupported, with the reason, for a
  /// device that cannot log; ending throws nothing.
  virtual void log_activities(ActivityLog* log);

  /// Throws that Unsupported if the reason is known without trying; call it before preparing work
  /// only to log it.
  virtual void check_activities();

 private:
  /// Grows the scratch memory to that size. Throws OutOfMemory and leaves
  /// it unchanged.
  virtual void grow_scratch(std::size_t bytes) = 0;

  ActivityTag tag_ = 0;
  bool only_plans_ = false;
  std::size_t requested_scratch_ = 0;
  std::uint64_t scratch_moves_ = 0;
};

/// Synchronises the stream of every item, the later ones also when an earlier one fails, and then
/// throws the first failure. Throws TimedOut at once: waiting as long for the rest would be
/// useless.
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
