// Joins what a GPU is recorded to have done with the calls that it was done for. Plain data in and
// out: activity_trace.h reads CUPTI's records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernels/core/activity.h"

namespace parbench::cuda {

/// The number of a stream's log among those that are open.
using LogId = std::uint32_t;

/// The log and the call that work belongs to.
struct ActivityOwner {
  LogId log = 0;
  ActivityTag tag = 0;  // 0: no call's

  bool operator==(const ActivityOwner&) const = default;
  auto operator<=>(const ActivityOwner&) const = default;
};

/// Stands for the log of the stream that the work is recorded on: of a call for several streams.
inline constexpr LogId log_of_its_stream = 0xffff'ffff;

/// An owner as an external correlation id, which CUPTI hands back with the records.
[[nodiscard]] std::uint64_t external_id(const ActivityOwner& owner);
[[nodiscard]] ActivityOwner owner_of(std::uint64_t external_id);

/// A kernel, copy or memset as a GPU executed it. Times in nanoseconds of the host's steady clock;
/// 0 where none were taken.
struct WorkRecord {
  std::uint32_t correlation = 0;  // the number of the call of CUDA that launched it
  std::uint64_t graph_node = 0;   // 0: it was not launched by a graph
  std::uint32_t device = 0;
  std::uint32_t stream = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// All work of one owner, from the first beginning to the last end.
struct JoinedActivity {
  LogId log = 0;
  Activity activity;
};

struct JoinedActivities {
  std::vector<JoinedActivity> activities;  // in the order in which they ended
  std::size_t lost = 0;  // records of work that has an owner, but no time or no log
};

/// Not for several threads at once. Records may come in any order: the id of a call is often behind
/// the work that it launched.
class ActivityJoin {
 public:
  /// CUPTI's numbers for a stream.
  void add_stream(LogId log, std::uint32_t device, std::uint32_t stream);
  void remove_log(LogId log);

  void add_correlation(std::uint32_t correlation, std::uint64_t external_id);
  void add_work(const WorkRecord& record) { work_.push_back(record); }

  /// A node of a graph was captured for an owner.
  void add_node(std::uint64_t node, const ActivityOwner& owner) { nodes_[node] = owner; }
  /// A node was made after another, as instantiating a graph does.
  void clone_node(std::uint64_t node, std::uint64_t original);

  /// What was added since the last time. Streams and nodes stay.
  [[nodiscard]] JoinedActivities take();

 private:
  [[nodiscard]] ActivityOwner owner_of_work(const WorkRecord& record) const;

  std::map<std::pair<std::uint32_t, std::uint32_t>, LogId> streams_;  // by device and stream
  std::unordered_map<std::uint64_t, ActivityOwner> nodes_;
  std::unordered_map<std::uint32_t, ActivityOwner> correlations_;
  std::vector<WorkRecord> work_;
};

}  // namespace parbench::cuda
