// Events of CPU streams: a counter of records on which waiters sleep, and the time of the last
// record.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "kernels/core/crossing.h"
#include "kernels/core/stream.h"

namespace parbench::cpu {

class Capture;

/// The record of an event inside a capture.
struct CapturedRecord {
  std::weak_ptr<Capture> capture;  // expires when the capture ends
  std::size_t mark = 0;            // index of the record in the capture
};

class CpuEvent final : public Event {
 public:
  explicit CpuEvent(EventKind kind) : kind_(kind) {}
  /// Constructs an event that streams of other backends can wait for, and that has a time.
  explicit CpuEvent(Buffer word)
      : kind_(EventKind::timing), shared_(std::in_place, std::move(word)) {}

  [[nodiscard]] SharedRecords* shared_records() override { return shared_ ? &*shared_ : nullptr; }
  [[nodiscard]] double seconds_since(const Event& earlier) const override;

  /// Counts a record that is being enqueued, and returns its number.
  [[nodiscard]] std::uint64_t announce();
  /// Makes a record inside a capture the latest record.
  void announce_captured(CapturedRecord record);

  /// The latest announced record.
  struct Record {
    std::uint64_t number = 0;  // 0 before the first, for which no wait is needed
    std::optional<CapturedRecord> captured = {};
  };
  [[nodiscard]] Record latest() const;

  /// Marks a record as reached: stores the time of a timing event and wakes the waiters.
  void reach(std::uint64_t record);
  /// Sleeps until that record is reached. Returns false if the limit passes first.
  [[nodiscard]] bool wait_for(std::uint64_t record, std::chrono::milliseconds limit);

 private:
  [[nodiscard]] std::chrono::steady_clock::time_point time() const;

  const EventKind kind_;
  mutable std::mutex mutex_;
  std::condition_variable reached_changed_;
  Record latest_;
  std::uint64_t reached_ = 0;
  std::chrono::steady_clock::time_point time_;
  std::optional<SharedRecords> shared_;  // counts the same records, for other backends
};

}  // namespace parbench::cpu
