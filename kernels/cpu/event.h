// Events of CPU streams: a generation that waiters sleep on, and the time it was reached.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

#include "kernels/crossing.h"
#include "kernels/stream.h"

namespace parbench::cpu {

class CpuEvent final : public Event {
 public:
  CpuEvent() = default;
  /// One that streams of other backends can wait for.
  explicit CpuEvent(Buffer word) : shared_(std::in_place, std::move(word)) {}

  [[nodiscard]] SharedRecords* shared_records() override { return shared_ ? &*shared_ : nullptr; }
  [[nodiscard]] double seconds_since(const Event& earlier) const override;

  /// Announces a record to come; the number tells it from earlier ones. Called when it is enqueued.
  [[nodiscard]] std::uint64_t announce();
  /// The latest record announced; 0 before the first, which nobody has to wait for.
  [[nodiscard]] std::uint64_t announced() const;

  /// Takes the time and wakes the waiters.
  void reach(std::uint64_t record);
  /// Sleeps until that record is reached. False when the limit passes first.
  [[nodiscard]] bool wait_for(std::uint64_t record, std::chrono::milliseconds limit);

 private:
  [[nodiscard]] std::chrono::steady_clock::time_point time() const;

  mutable std::mutex mutex_;
  std::condition_variable reached_changed_;
  std::uint64_t announced_ = 0;
  std::uint64_t reached_ = 0;
  std::chrono::steady_clock::time_point time_;
  std::optional<SharedRecords> shared_;  // numbered like the records here
};

}  // namespace parbench::cpu
