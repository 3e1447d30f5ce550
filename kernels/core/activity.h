// Log of when the operations and copies of a stream ran, for timelines.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace parbench {

/// Identifies the work of a plan in a log; 0 marks work that is not logged.
using ActivityTag = std::uint32_t;

/// One executed operation, copy or host function; one that is executed in several parts lasts from
/// the beginning of the first part to the end of the last. Times of devices with a clock of their
/// own are converted to the host's steady clock.
struct Activity {
  ActivityTag tag = 0;
  std::chrono::steady_clock::time_point begin;
  std::chrono::steady_clock::time_point end;
  /// Time for which a thread of the stream's OpenMP team waited for the rest of the team, averaged
  /// over the threads; 0 on devices without such threads.
  std::chrono::nanoseconds team_waiting{0};
};

/// Activities of a stream while this log was attached to it (Stream::log_activities). The stream
/// fills the log; it may be read once all streams that log have been synchronised. Its memory is
/// allocated and touched before the first entry.
class ActivityLog {
 public:
  explicit ActivityLog(std::size_t capacity) : activities_(capacity) {}

  void add(const Activity& activity) noexcept {
    if (count_ < activities_.size()) {
      activities_[count_++] = activity;
    } else {
      ++dropped_;
    }
  }

  /// Counts `count` activities that could not be recorded.
  void lose(std::size_t count) noexcept { dropped_ += count; }

  void clear() noexcept { count_ = dropped_ = 0; }

  /// Returns the activities: those of the stream itself in the order in which they ended, and after
  /// them the host functions that a HostWorker ran.
  [[nodiscard]] std::span<const Activity> activities() const {
    return std::span(activities_).first(count_);
  }
  /// Returns how many activities are missing because the log was full or the device did not record
  /// them.
  [[nodiscard]] std::size_t dropped() const { return dropped_; }

  /// Maximum error of the times relative to times of other streams, in seconds; 0 if the device
  /// reads the host's clock.
  double clock_error = 0;

 private:
  std::vector<Activity> activities_;
  std::size_t count_ = 0;
  std::size_t dropped_ = 0;
};

}  // namespace parbench
