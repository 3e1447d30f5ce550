// A thread of the host that works for the streams of a device whose own queues cannot, such as
// those of a GPU: messages to other processes take their turn there, and their data goes through
// memory that both the device and the host reach.
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

/// An event that the host reaches, for streams to wait for.
class HostSignal final : public Event {
 public:
  /// `word`: as SharedRecords takes it.
  explicit HostSignal(Buffer word) : records_(std::move(word)) {}

  /// Throws std::logic_error: it only orders.
  [[nodiscard]] double seconds_since(const Event& earlier) const override;
  [[nodiscard]] SharedRecords* shared_records() override { return &records_; }

 private:
  SharedRecords records_;
};

/// Page-locked memory through which the data of messages goes, by turns: while the host sends or
/// receives in one slot, the device copies from or to another one.
struct Staging {
  static constexpr std::size_t slot_bytes = std::size_t{1} << 20;
  static constexpr std::size_t slot_count = 4;

  struct Slot {
    Buffer memory;
    std::unique_ptr<HostSignal> done;  // reached when the host has finished with the slot
  };
  std::array<Slot, slot_count> slots;
};

/// Works for one stream, in the order in which work was enqueued.
class HostWorker {
 public:
  /// `device`: that of the stream; outlives the worker. `enter`: called first in the thread.
  explicit HostWorker(
      Device& device, std::function<void()> enter = [] {});
  ~HostWorker();
  HostWorker(const HostWorker&) = delete;
  HostWorker& operator=(const HostWorker&) = delete;

  /// Enqueues work that begins when the stream has come so far, while the stream goes on; `signal`
  /// is reached when it has ended. `tag`: of the activity that it is or is a part of.
  void begin(Stream& stream, HostWork& work, HostSignal& signal, ActivityTag tag);

  /// Enqueues work that the stream waits for.
  void perform(Stream& stream, HostWork& work, ActivityTag tag);

  /// Memory for messages of this stream, which is allocated at the first call. Throws OutOfMemory.
  [[nodiscard]] Staging& staging();

  /// Waits until the work that was enqueued has ended. Throws its first exception, once, or
  /// TimedOut when `limit` passes. After an exception the rest is skipped.
  void finish(std::chrono::milliseconds limit);

  /// Skips the work that has not begun; all signals are reached. To be called before the stream
  /// ends, which may wait for them.
  void stop() noexcept;

  /// Whether to note from now on when tagged work begins and ends. Not while work is queued.
  void note_activities(bool on);
  /// Moves what has been noted there. Not while work is queued.
  void deliver(ActivityLog& log);

 private:
  struct Order {
    HostWork* work = nullptr;
    HostSignal* signal = nullptr;
    std::uint32_t come = 0;    // record of the stream before which it does not begin
    std::uint32_t number = 0;  // record of the signal that ends it
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
  HostSignal done_;              // of work that the stream waits for
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
  std::thread thread_;  // last
};

}  // namespace parbench
