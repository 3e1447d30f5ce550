// Assigns the recorded work of GPUs to the calls that launched it. Input and output are plain data;
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

/// Identifies the log of a traced stream.
using LogId = std::uint32_t;

/// The call to which work belongs, and the log that receives the time of the work.
struct ActivityOwner {
  LogId log = 0;
  ActivityTag tag = 0;  // tag of the call; 0: the work is not part of a call

  bool operator==(const ActivityOwner&) const = default;
  auto operator<=>(const ActivityOwner&) const = default;
};

/// Placeholder for the log of the member whose device executed the work; used by collectives.
inline constexpr LogId log_of_its_device = 0xffff'ffff;

/// Encodes an owner as an external correlation id of CUPTI, which `owner_of` decodes.
[[nodiscard]] std::uint64_t external_id(const ActivityOwner& owner);
[[nodiscard]] ActivityOwner owner_of(std::uint64_t external_id);

/// A kernel, copy or memset as a GPU executed it. Times are nanoseconds of the host's steady clock;
/// 0 if CUPTI has recorded none.
struct WorkRecord {
  std::uint32_t correlation = 0;  // CUPTI's number of the CUDA call that launched the work
  std::uint64_t graph_node = 0;   // node of a graph; 0: not launched by a graph
  std::uint32_t device = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// The time from the first start to the last end of an owner's work.
struct JoinedActivity {
  LogId log = 0;
  Activity activity;
};

struct JoinedActivities {
  std::vector<JoinedActivity> activities;  // in the order of their ends
  std::size_t lost = 0;  // number of records with an owner, but without a valid time or a log
};

/// Collects records and joins them. Not thread-safe. Records may be added in any order: the id of a
/// call often arrives after the work that the call launched.
class ActivityJoin {
 public:
  /// Registers the log of a collective's member on a device; members are on different devices. The
  /// stream in a record does not identify the member: graphs run their nodes on internal streams.
  void add_member(ActivityTag collective, std::uint32_t device, LogId log) {
    members_[{collective, device}] = log;
  }
  void remove_log(LogId log);

  void add_correlation(std::uint32_t correlation, std::uint64_t external_id);
  void add_work(const WorkRecord& record) { work_.push_back(record); }

  /// Registers the call for which a node of a graph was captured.
  void add_node(std::uint64_t node, const ActivityOwner& owner) { nodes_[node] = owner; }
  /// Gives a node the owner, if known, of the node from which it was copied, for example when a
  /// graph was instantiated.
  void clone_node(std::uint64_t node, std::uint64_t original);

  /// Returns the activities of the records added since the last call, and removes these records.
  /// Streams and nodes are kept.
  [[nodiscard]] JoinedActivities take();

 private:
  [[nodiscard]] ActivityOwner owner_of_work(const WorkRecord& record) const;

  std::map<std::pair<ActivityTag, std::uint32_t>, LogId> members_;  // by collective and device
  std::unordered_map<std::uint64_t, ActivityOwner> nodes_;
  std::unordered_map<std::uint32_t, ActivityOwner> correlations_;
  std::vector<WorkRecord> work_;
};

}  // namespace parbench::cuda
