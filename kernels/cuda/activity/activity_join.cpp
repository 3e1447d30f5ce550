// Assigns records of GPU work to calls.
#include "kernels/cuda/activity/activity_join.h"

#include <algorithm>
#include <chrono>

namespace parbench::cuda {
namespace {

constexpr unsigned tag_bits = 32;
constexpr LogId no_log = log_of_its_device;

std::chrono::steady_clock::time_point time_of(std::uint64_t nanoseconds) {
  return std::chrono::steady_clock::time_point(
      std::chrono::nanoseconds(static_cast<std::int64_t>(nanoseconds)));
}

bool has_time(const WorkRecord& record) { return record.begin != 0 && record.end >= record.begin; }

void extend(Activity& activity, const WorkRecord& record) {
  activity.begin = std::min(activity.begin, time_of(record.begin));
  activity.end = std::max(activity.end, time_of(record.end));
}

}  // namespace

std::uint64_t external_id(const ActivityOwner& owner) {
  return std::uint64_t{owner.log} << tag_bits | owner.tag;
}

ActivityOwner owner_of(std::uint64_t external_id) {
  return {.log = static_cast<LogId>(external_id >> tag_bits),
          .tag = static_cast<ActivityTag>(external_id)};
}

void ActivityJoin::remove_log(LogId log) {
  std::erase_if(members_, [log](const auto& member) { return member.second == log; });
}

void ActivityJoin::add_correlation(std::uint32_t correlation, std::uint64_t external_id) {
  correlations_[correlation] = owner_of(external_id);
}

void ActivityJoin::clone_node(std::uint64_t node, std::uint64_t original) {
  if (const auto known = nodes_.find(original); known != nodes_.end()) {
    // a copy, because inserting a node may move the entry
    const ActivityOwner owner = known->second;
    nodes_[node] = owner;
  }
}

ActivityOwner ActivityJoin::owner_of_work(const WorkRecord& record) const {
  ActivityOwner owner;
  if (record.graph_node != 0) {
    if (const auto node = nodes_.find(record.graph_node); node != nodes_.end()) {
      owner = node->second;
    }
  } else if (const auto call = correlations_.find(record.correlation);
             call != correlations_.end()) {
    owner = call->second;
  }
  if (owner.tag != 0 && owner.log == log_of_its_device) {
    const auto member = members_.find({owner.tag, record.device});
    owner.log = member != members_.end() ? member->second : no_log;
  }
  return owner;
}

JoinedActivities ActivityJoin::take() {
  JoinedActivities joined;
  std::map<ActivityOwner, Activity> activities;
  for (const WorkRecord& record : work_) {
    const ActivityOwner owner = owner_of_work(record);
    if (owner.tag == 0) continue;
    if (owner.log == no_log || !has_time(record)) {
      ++joined.lost;
      continue;
    }
    const Activity alone{
        .tag = owner.tag, .begin = time_of(record.begin), .end = time_of(record.end)};
    const auto [known, is_new] = activities.try_emplace(owner, alone);
    if (!is_new) extend(known->second, record);
  }
  for (const auto& [owner, activity] : activities) {
    joined.activities.push_back({owner.log, activity});
  }
  std::ranges::stable_sort(joined.activities, {},
                           [](const JoinedActivity& one) { return one.activity.end; });
  work_.clear();
  correlations_.clear();
  return joined;
}

}  // namespace parbench::cuda
