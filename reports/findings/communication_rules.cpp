// Analyses exchanges by their bytes, their start-up costs and the part that no computation hides.
#include "reports/findings/communication_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "kernels/base/units/units.h"
#include "reports/findings/thread_rules.h"
#include "reports/model/notes.h"
#include "reports/model/peaks.h"
#include "reports/model/value.h"
#include "scenarios/plan/role.h"
#include "scenarios/plan/timeline.h"

namespace parbench::report {
namespace {

/// All communication of a case: bytes read and written, and the sum of the calls' times.
struct Traffic {
  double bytes = 0;
  double seconds = 0;

  [[nodiscard]] double rate() const { return seconds > 0 ? bytes / seconds : 0; }
};

Traffic traffic_of(const Profiled& one) {
  Traffic traffic;
  for (const CallMetrics& call : one.metrics().calls) {
    if (call.kind != TaskKind::communication) continue;
    traffic.bytes += call.bytes;
    traffic.seconds += call.seconds;
  }
  return traffic;
}

/// Returns "; all communication reads and writes 302 MiB at 8.1 GB/s, 45% of the rate of copies of
/// cpu:1 alone (18 GB/s)"; empty without traffic.
std::string traffic_text(const Traffic& traffic, const std::string& device, const Peak* peak) {
  if (traffic.bytes <= 0 || traffic.rate() <= 0) return {};
  std::string text = fmt::format("; all communication reads and writes {} at {}",
                                 format_bytes(traffic.bytes), format_rate(traffic.rate(), "B"));
  if (peak != nullptr && peak->value > 0) {
    text += fmt::format(", {} of the rate of copies of {} alone ({})",
                        format_percent(traffic.rate() / peak->value, 0), device, rate_text(*peak));
  }
  return text;
}

// --- buckets ---

/// Costs of bucketed exchanges beyond their transfers. Times are in seconds.
struct BucketCosts {
  int messages = 0;
  double bytes = 0;   // bytes read and written
  double starts = 0;  // time that ready messages wait to start, mean over the devices
  double tail = 0;    // time from the end of all backward passes to the end of all exchanges
};

/// Returns the first task of the update, or the number of tasks if there is none. Communication
/// from this task on does not transfer gradients.
TaskId first_update(const PlanGraph& graph) {
  const auto found = std::ranges::find(graph.tasks, "update", &Task::phase);
  return static_cast<TaskId>(found - graph.tasks.begin());
}

BucketCosts bucket_costs(const Timeline& timeline, int devices) {
  BucketCosts costs;
  const std::vector<TaskEnd> ends = ends_of(timeline);
  const TaskId update = first_update(timeline.graph);
  std::map<LaneId, Nanoseconds> free_at;
  Nanoseconds backward_end = timeline.begin;
  Nanoseconds exchanged = timeline.begin;
  Nanoseconds starts = 0;
  for (const TimedCall& call : timeline.calls) {  // sorted by begin
    const Task& task = timeline.graph.task(call.task);
    if (task.phase == "backward") backward_end = std::max(backward_end, call.ran.end);
    Nanoseconds ready = std::max(timeline.begin, free_at[call.lane]);
    free_at[call.lane] = call.ran.end;
    if (task.kind != TaskKind::communication || call.task >= update) continue;
    for (const TaskId before : task.after) {
      ready = std::max(ready, ends[static_cast<std::size_t>(before)].time);
    }
    ++costs.messages;
    costs.bytes += task.work.bytes / static_cast<double>(task.lanes.size());
    starts += std::max<Nanoseconds>(0, call.ran.begin - ready);
    exchanged = std::max(exchanged, call.ran.end);
  }
  costs.starts = seconds_of(starts) / std::max(1, devices);
  costs.tail = seconds_of(std::max<Nanoseconds>(0, exchanged - backward_end));
  return costs;
}

std::optional<BucketCosts> bucket_costs(const Profiled& one, const ProfiledCases& all) {
  if (all.roles().value(one.of(), Role::exchange_size) == nullptr) return {};
  if (!one.profile().timeline || one.metrics().span <= 0) return {};
  return bucket_costs(*one.profile().timeline, one.computing_devices());
}

enum class Wanted { smaller, larger };

/// Returns whether `size` is smaller or larger than `own`, as wanted; 0 means everything at once
/// and is the largest size.
bool is_beyond(const Value& size, const Value& own, Wanted wanted) {
  const Value everything(std::int64_t{0});
  if (size == own) return false;
  if (own == everything) return wanted == Wanted::smaller;
  if (size == everything) return wanted == Wanted::larger;
  return wanted == Wanted::larger ? size > own : size < own;
}

/// Returns whether all gradients fit into the smallest bucket. Each gradient byte is read and
/// written at least twice: as part of a sum, and as part of the result that is returned.
bool fit_into_one_bucket(const BucketCosts& costs) {
  constexpr double smallest_bucket = 1 << 20;  // --bucket takes whole MiB
  constexpr double passes = 4;
  return costs.bytes > 0 && costs.bytes <= passes * smallest_bucket;
}

/// Returns the flag for the fastest measured case that differs only in the size, in the wanted
/// direction; empty if that case is not faster. Without such a case: the direction in words; empty
/// if no other size is possible in that direction, or if smaller exchanges would compete more with
/// the backward pass for cores.
std::string advised_size(const Profiled& one, const ProfiledCases& all, Wanted wanted,
                         const BucketCosts& costs) {
  const Roles& roles = all.roles();
  const Value& own = *roles.value(one.of(), Role::exchange_size);
  const std::string key = roles.key_without(one.of(), {Role::exchange_size});
  const CaseResult* fastest = nullptr;
  for (const Profiled& other : all.all()) {
    const Value* size = roles.value(other.of(), Role::exchange_size);
    if (size == nullptr || roles.key_without(other.of(), {Role::exchange_size}) != key) continue;
    if (!is_beyond(*size, own, wanted)) continue;
    if (fastest == nullptr || other.of().statistics->median < fastest->statistics->median) {
      fastest = &other.of();
    }
  }
  const std::string flag = "--" + roles.parameter(Role::exchange_size);
  if (fastest == nullptr) {
    if (wanted == Wanted::smaller && fit_into_one_bucket(costs)) return {};
    if (wanted == Wanted::smaller && slowed_by_copies(one, all)) return {};
    if (own == Value(std::int64_t{0}))
      return wanted == Wanted::smaller ? "a " + flag + " above 0" : "";
    // the size is already the minimum
    if (wanted == Wanted::smaller && own == Value(std::int64_t{1})) return {};
    const std::string* count = find_note(one.of(), "buckets");
    // all gradients are already exchanged at once
    if (wanted == Wanted::larger && count != nullptr && *count == "1") return {};
    return fmt::format("a {} {}", wanted == Wanted::larger ? "larger" : "smaller", flag);
  }
  if (fastest->statistics->median >= one.of().statistics->median) return {};
  return fmt::format("{} {}", flag, value_text(*roles.value(*fastest, Role::exchange_size)));
}

/// Returns "12%"; "less than 1%" instead of 0%.
std::string small_percent(double share) {
  constexpr double smallest = 0.005;
  return share < smallest ? "less than 1%" : format_percent(share, 0);
}

/// The costs of exchanges in buckets, and the share of the larger of `starts` and `tail`.
struct SlowBuckets {
  BucketCosts costs;
  double share = 0;  // share of the time that the larger cost takes
};

/// Returns the costs if `part` is the larger of `starts` and `tail` and takes at least 5% of the
/// time; else nothing.
std::optional<SlowBuckets> slow_buckets(const Profiled& one, const ProfiledCases& all,
                                        double BucketCosts::*part) {
  constexpr double min_share = 0.05;
  const auto costs = bucket_costs(one, all);
  if (!costs || costs->messages == 0) return {};
  const bool is_tail_longer = costs->tail > costs->starts;
  if (is_tail_longer != (part == &BucketCosts::tail)) return {};
  const double share = *costs.*part / one.metrics().span;
  return share < min_share ? std::nullopt : std::optional(SlowBuckets{*costs, share});
}

NamedValues evidence_of(const BucketCosts& costs) {
  return {{"messages", static_cast<double>(costs.messages)},
          {"seconds of starts", costs.starts},
          {"seconds after the backward pass", costs.tail}};
}

}  // namespace

std::optional<Remark> exposed_communication(const Profiled& one, const ProfiledCases& all) {
  if (all.roles().value(one.of(), Role::batch) == nullptr) return {};
  const auto& devices = one.metrics().devices;
  const auto worst = std::ranges::max_element(devices, {}, &DeviceMetrics::exposed_communication);
  if (worst == devices.end() || one.metrics().span <= 0) return {};
  constexpr double exposed_share = 0.05;  // min share of the time
  const double share = worst->exposed_communication / one.metrics().span;
  if (share < exposed_share) return {};
  // Two findings whose shares of the time differ by less than this explain the same loss.
  constexpr double same_share = 0.01;
  const auto tail = slow_buckets(one, all, &BucketCosts::tail);
  if (tail && tail->share >= share - same_share) return {};
  const double exposed = worst->exposed_communication / worst->communication;
  const Traffic traffic = traffic_of(one);
  return Remark{
      fmt::format("{} computes nothing for {} of the time while it communicates: {} of "
                  "its communication is exposed{}",
                  worst->device, format_percent(share, 0), format_percent(exposed, 0),
                  traffic_text(traffic, worst->device, all.peak(worst->device, copy_peak))),
      fmt::format("more work for each exchange: a larger --{}", all.roles().parameter(Role::batch)),
      {{"device", worst->device},
       {"exposed share", exposed},
       {"exposed seconds", worst->exposed_communication},
       {"communication seconds", worst->communication},
       {"bytes read and written", traffic.bytes},
       {"bytes per second", traffic.rate()}},
      share};
}

std::optional<Remark> buckets_too_small(const Profiled& one, const ProfiledCases& all) {
  const auto found = slow_buckets(one, all, &BucketCosts::starts);
  if (!found) return {};
  const auto& [costs, share] = *found;
  const double each = costs.starts * one.computing_devices() / costs.messages;
  return Remark{
      fmt::format("{} of gradients wait {} on average before they start, {} of the time; messages "
                  "after the backward pass take {}",
                  format_count(costs.messages, "message"), format_duration(each),
                  format_percent(share, 0), small_percent(costs.tail / one.metrics().span)),
      advised_size(one, all, Wanted::larger, costs), evidence_of(costs), share};
}

std::optional<Remark> buckets_too_large(const Profiled& one, const ProfiledCases& all) {
  const auto found = slow_buckets(one, all, &BucketCosts::tail);
  if (!found) return {};
  const auto& [costs, share] = *found;
  return Remark{fmt::format("gradients are exchanged for {} of the time ({}) after the end of all "
                            "backward passes; starting {} takes {}",
                            format_percent(share, 0), format_duration(costs.tail),
                            format_count(costs.messages, "message"),
                            small_percent(costs.starts / one.metrics().span)),
                advised_size(one, all, Wanted::smaller, costs), evidence_of(costs), share};
}

std::optional<LostByParts> lost_by_parts(const Profiled& one, const ProfiledCases& all) {
  constexpr double min_loss = 0.10;
  if (all.roles().value(one.of(), Role::batch) == nullptr) return {};
  const Profiled* whole = all.baseline_of(one);
  if (whole == nullptr || one.computing_devices() < 2 || whole->computing_devices() != 1) return {};
  const LikeRates rates = rates_of_like_work(one, *whole);
  if (rates.own <= 0 || rates.own > (1 - min_loss) * rates.other) return {};
  const double lost = 1 - rates.own / rates.other;
  if (slowed_by_copies(one, all)) return {};  // the slowdown already has an explanation
  // The calls cannot lose more than the whole case.
  const auto sampled = one.sampled_loss();
  if (sampled && lost > sampled->high) return {};
  return LostByParts{rates, lost};
}

std::optional<Remark> batch_too_small(const Profiled& one, const ProfiledCases& all) {
  const auto found = lost_by_parts(one, all);
  if (!found) return {};
  const auto& [rates, lost] = *found;
  std::string text = fmt::format(
      "its parts of a step compute at {} on a device, {} less than a whole step on one: small "
      "products, or devices that slow each other down",
      format_rate(rates.own, "FLOP"), format_percent(lost, 0));
  NamedValues evidence{{"rate", rates.own}, {"rate of the whole batch", rates.other}};
  if (const SlowerCalls slower = slower_calls(one, *all.baseline_of(one));
      slower.worst != nullptr) {
    const double of_worst = slower.worst_seconds - slower.worst_before;
    const double lost_seconds = lost * rates.seconds;
    const std::string part = part_text(of_worst / std::max(slower.extra, lost_seconds));
    if (!part.empty()) {
      text +=
          fmt::format("; {} is lost in {}, which takes {} as long", part, to_text(*slower.worst),
                      format_ratio(slower.worst_seconds / slower.worst_before));
    }
    evidence.emplace_back("call", slower.worst->name);
    evidence.emplace_back("layer", slower.worst->layer);
  }
  return Remark{std::move(text),
                fmt::format("a larger --{}, or fewer devices", all.roles().parameter(Role::batch)),
                std::move(evidence), lost * one.computing_share()};
}

}  // namespace parbench::report
