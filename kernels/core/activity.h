// When operations and copies of a stream really ran, for timelines.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace parbench {

/// Identifies the work of a plan in a log; 0: work that is not logged.
using ActivityTag = std::uint32_t;

/// One operation or copy as it was executed; where a device takes several steps for it, from the
/// first to the last. Times are those of the host's steady clock, whatever
/// clock the device has.
struct Activity {
  ActivityTag tag = 0;
  std::chrono::steady_clock::time_point begin;
  std::chrono::steady_clock::time_point end;
  /// In which a thread of the stream's OpenMP team waited for the others, as a mean over the team;
  /// 0 where the device has no such threads.
  std::chrono::nanoseconds team_waiting{0};
};

/// What a stream did while it was given this log (Stream::log_activities). Filled by the stream,
/// read when all streams that log have been synchronised. The memory is there, and touched, before
/// the first entry.
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

  /// So many that should be here were not recorded.
  void lose(std::size_t count) noexcept { dropped_ += count; }

  void clear() noexcept { count_ = dropped_ = 0; }

  /// In the order in which they ended.
  [[nodiscard]] std::span<const Activity> activities() const {
    return std::span(activities_).first(count_);
  }
  /// How many are missing, for want of room or because the device did not record them.
  [[nodiscard]] std::size_t dropped() const { return dropped_; }

  /// How far the times may be from those of other streams, in seconds: 0 where the device reads the
  /// host's clock.
  double clock_error = 0;

 private:
  std::vector<Activity> activities_;
  std::size_t count_ = 0;
  std::size_t dropped_ = 0;
};

}  // namespace parbench
