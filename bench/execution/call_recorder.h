// Records when each call of one execution of a plan was enqueued and when it ran.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "kernels/core/activity.h"
#include "scenarios/framework/plan.h"
#include "scenarios/plan/timeline.h"

namespace parbench {

/// Tags that identify the calls of a plan: consecutive numbers from 1, task by task.
class CallTags {
 public:
  explicit CallTags(const Plan& plan);

  [[nodiscard]] ActivityTag of(TaskId task, std::size_t call) const {
    return firsts_[static_cast<std::size_t>(task)] + static_cast<ActivityTag>(call);
  }
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  std::vector<ActivityTag> firsts_;
  std::size_t count_ = 0;
};

/// Makes the plan's streams log their calls during the recorder's lifetime. Create it while the
/// streams are idle. The constructor allocates all memory needed while the plan runs. Throws
/// Unsupported for a device that does not report times of its work.
class CallRecorder {
 public:
  using Clock = std::chrono::steady_clock;

  CallRecorder(const Plan& plan, SubmitMode mode, const CallTags& tags);
  ~CallRecorder();
  CallRecorder(const CallRecorder&) = delete;
  CallRecorder& operator=(const CallRecorder&) = delete;

  /// Begins the next execution and drops the record of the previous one.
  void begin();
  /// Records that the host enqueued this call from `since` until now. Threads may record different
  /// calls at the same time.
  void enqueued(ActivityTag tag, Clock::time_point since);
  /// Records for all calls that the launch of a graph enqueued them from `since` until now.
  void launched(Clock::time_point since);

  /// Returns the beginning of the latest execution, in seconds of the steady clock.
  [[nodiscard]] double begin_seconds() const {
    return std::chrono::duration<double>(begin_.time_since_epoch()).count();
  }

  /// Leaks the logs. Call it if a stream is still running and may write to them.
  void abandon();

  /// Returns the calls since `begin`; the streams must be idle. `seconds`: duration of the
  /// execution by the events of its plan. The time of the first event is unknown on the recorder's
  /// clock; the timeline therefore begins `seconds` before the end of the last call. Time between
  /// that end and the last event, such as joining lanes, then appears before the first call.
  [[nodiscard]] Timeline timeline(double seconds) const;

  /// Returns the number of calls since `begin` that are missing in the timeline because a log was
  /// full or a device could not record them.
  [[nodiscard]] std::size_t dropped() const;

 private:
  struct StreamLog {
    Stream* stream = nullptr;
    ActivityLog log;
  };
  struct Enqueued {
    Clock::time_point begin;
    Clock::time_point end;
  };

  void end_logging();
  void add_calls(const StreamLog& log, Timeline& timeline) const;

  const Plan& plan_;
  SubmitMode mode_;
  Clock::time_point begin_;
  std::vector<Enqueued> enqueued_;  // by tag
  /// The logs of all streams, with stable addresses.
  std::unique_ptr<std::deque<StreamLog>> logs_ = std::make_unique<std::deque<StreamLog>>();
};

/// Measures on the calling thread how long logging takes per call of a CPU stream, in seconds.
[[nodiscard]] double logging_cost();

}  // namespace parbench
