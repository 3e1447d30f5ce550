// Joins the recorded work of GPUs with the calls that caused it. Input and output are plain data;
// activity_trace.h reads CUPTI's records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernels/core/activity.h"

namespace parbench::cuda {

/// Identifies a stream's log among the open ones.
using LogId = std::uint32_t;

/// The log and the call to which work belongs.
struct ActivityOwner {
  LogId log = 0;
  ActivityTag tag = 0;  // 0: not part of a call

  bool operator==(const ActivityOwner&) const = default;
  auto operator<=>(const ActivityOwner&) const = default;
};

/// Placeholder for the log of the stream on which the work ran; used by calls on several streams.
inline constexpr LogId log_of_its_stream = 0xffff'ffff;

/// Returns an owner as an external correlation id, which CUPTI returns with the records.
[[nodiscard]] std::uint64_t external_id(const ActivityOwner& owner);
[[nodiscard]] ActivityOwner owner_of(std::uint64_t external_id);

/// A kernel, copy or memset as a GPU executed it. Times are nanoseconds of the host's steady clock;
/// 0 if none were taken.
struct WorkRecord {
  std::uint32_t correlation = 0;  // number of the CUDA call that launched it
  std::uint64_t graph_node = 0;   // 0: not launched by a graph
  std::uint32_t device = 0;
  std::uint32_t stream = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// All work of one owner, from the first start to the last end.
struct JoinedActivity {
  LogId log = 0;
  Activity activity;
};

struct JoinedActivities {
  std::vector<JoinedActivity> activities;  // in the order in which they ended
  std::size_t lost = 0;  // records of work with an owner, but without a time or a log
};

/// Collects records and joins them. Not thread-safe. Records may be added in any order: the id of a
/// call often arrives after the work that the call launched.
class ActivityJoin {
 public:
  /// Registers the stream of a log, by CUPTI's numbers of device and stream.
  void add_stream(LogId log, std::uint32_t device, std::uint32_t stream);
  void remove_log(LogId log);

  void add_correlation(std::uint32_t correlation, std::uint64_t external_id);
  void add_work(const WorkRecord& record) { work_.push_back(record); }

  /// Registers the call for which a node of a graph was captured.
  void add_node(std::uint64_t node, const ActivityOwner& owner) { nodes_[node] = owner; }
  /// Registers a node that was made from another one, for example by instantiating a graph.
  void clone_node(std::uint64_t node, std::uint64_t original);

  /// Joins and removes the records added since the last call. Streams and nodes are kept.
  [[nodiscard]] JoinedActivities take();

 private:
  [[nodiscard]] ActivityOwner owner_of_work(const WorkRecord& record) const;

  std::map<std::pair<std::uint32_t, std::uint32_t>, LogId> streams_;  // by device and stream
  std::unordered_map<std::uint64_t, ActivityOwner> nodes_;
  std::unordered_map<std::uint32_t, ActivityOwner> correlations_;
  std::vector<WorkRecord> work_;
};

}  // namespace parbench::cuda
