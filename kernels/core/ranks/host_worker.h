// A host thread for the streams of a device whose own queues cannot run host code, such as a GPU.
// The thread runs messages to other processes in stream order; their data is copied through memory
// that both the device and the host can access.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "kernels/core/activity.h"
#include "kernels/core/crossing.h"
#include "kernels/core/ranks/host_work.h"
#include "kernels/core/stream.h"

namespace parbench {

class Device;

/// An event that the host signals and streams wait for.
class HostSignal final : public Event {
 public:
  /// `word`: argument of SharedRecords.
  explicit HostSignal(Buffer word) : records_(std::move(word)) {}

  /// Throws std::logic_error: the event has no time.
  [[nodiscard]] double seconds_since(const Event& earlier) const override;
  [[nodiscard]] SharedRecords* shared_records() override { return &records_; }

 private:
  SharedRecords records_;
};

/// Page-locked buffers for the data of messages. While the host sends from or receives into one
/// slot, the device copies to or from another slot.
struct Staging {
  static constexpr std::size_t slot_bytes = std::size_t{1} << 20;
  static constexpr std::size_t slot_count = 4;

  struct Slot {
    Buffer memory;
    std::unique_ptr<HostSignal> done;  // reached when the host has finished with the slot
  };
  std::array<Slot, slot_count> slots;
};

/// Runs host work for one stream in the order of enqueueing.
class HostWorker {
 public:
  /// `device`: the device of the stream; must outlive the worker. `enter`: called once at the start
  /// of the thread.
  explicit HostWorker(
      Device& device, std::function<void()> enter = [] {});
  ~HostWorker();
  HostWorker(const HostWorker&) = delete;
  HostWorker& operator=(const HostWorker&) = delete;

  /// Enqueues work that begins when the stream reaches this point; the stream does not wait for it.
  /// `signal` is reached when the work has ended. `tag`: the activity to which the work belongs.
  void begin(Stream& stream, HostWork& work, HostSignal& signal, ActivityTag tag);

  /// Enqueues work that the stream waits for.
  void perform(Stream& stream, HostWork& work, ActivityTag tag);

  /// Returns the memory for messages of this stream, allocated at the first call. Throws
  /// OutOfMemory.
  [[nodiscard]] Staging& staging();

  /// Waits until the enqueued work has ended. Throws its first exception, or TimedOut after
  /// `limit`. After an exception, work is skipped until `finish` has thrown the exception.
  void finish(std::chrono::milliseconds limit);

  /// Skips work that has not begun; all signals are reached. Must be called before the stream is
  /// destroyed, because the stream may wait for them.
  void stop() noexcept;

  /// Turns on or off the recording of when tagged work begins and ends. Must not be called while
  /// work is queued.
  void note_activities(bool on);
  /// Moves the recorded activities to `log`. Must not be called while work is queued.
  void deliver(ActivityLog& log);

 private:
  struct Order {
    HostWork* work = nullptr;
    HostSignal* signal = nullptr;
    std::uint32_t come = 0;    // record of the stream after which the work may begin
    std::uint32_t number = 0;  // record of the signal that marks the end
    ActivityTag tag = 0;
  };

  [[nodiscard]] Buffer make_word();
  void push(const Order& order);
  void work();
  void run(const Order& order);
  void wait_for_stream(std::uint32_t record);
  void note(ActivityTag tag, std::chrono::steady_clock::time_point begin);
  [[nodiscard]] bool skips();

  Device& device_;
  std::function<void()> enter_;
  std::unique_ptr<Event> come_;  // recorded by the stream
  HostSignal done_;              // signals the end of work that the stream waits for
  std::unique_ptr<Staging> staging_;
  std::vector<Activity> activities_;
  bool notes_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::condition_variable idle_;
  std::vector<Order> ring_;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  std::exception_ptr failure_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;  // last member: starts after all others are constructed
};

}  // namespace parbench
