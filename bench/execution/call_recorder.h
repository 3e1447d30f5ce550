// Notes, for one execution of a plan, when each of its calls was enqueued and when it ran.
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

/// Tags of a plan's calls: those of a task follow one another, the first is 1.
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

/// While it lives, the plan's streams log what they do. Made while they are idle; everything it
/// needs while the plan runs is allocated then. Throws Unsupported for a device without
/// times of its work.
class CallRecorder {
 public:
  using Clock = std::chrono::steady_clock;

  CallRecorder(const Plan& plan, SubmitMode mode, const CallTags& tags);
  ~CallRecorder();
  CallRecorder(const CallRecorder&) = delete;
  CallRecorder& operator=(const CallRecorder&) = delete;

  /// Begins the next execution and drops what was recorded of the last one.
  void begin();
  /// Notes that the host enqueued this call from `since` to now. Threads may note different calls
  /// at the same time.
  void enqueued(ActivityTag tag, Clock::time_point since);
  /// Notes the same of all calls, after the launch of a graph.
  void launched(Clock::time_point since);

  /// A stream still works, and will note what it does: what it writes to is never given back.
  void abandon();

  /// What has run since `begin`, once the streams are idle. `seconds`: what the execution took by
  /// the events of its plan. When the first of them passed is not known on the recorder's clock, so
  /// the measured time is taken to begin so long before the last call's end; what passed between
  /// that and the last event, such as joining lanes, counts as before the first call then.
  [[nodiscard]] Timeline timeline(double seconds) const;

  /// Calls since `begin` that are missing in the timeline: no room for them, or no known place.
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
  /// Of each stream; they keep their addresses.
  std::unique_ptr<std::deque<StreamLog>> logs_ = std::make_unique<std::deque<StreamLog>>();
};

/// What logging costs each call of a CPU stream, in seconds: measured on the calling thread.
[[nodiscard]] double logging_cost();

}  // namespace parbench
