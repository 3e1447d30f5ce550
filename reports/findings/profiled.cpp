// Computes sums over the devices and calls of a profile.
#include "reports/findings/profiled.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "kernels/base/units/units.h"
#include "reports/model/peaks.h"
#include "scenarios/plan/role.h"

namespace parbench::report {
namespace {

template <class Items, class Value>
double sum(const Items& items, const Value& value) {
  return std::transform_reduce(items.begin(), items.end(), 0.0, std::plus<>(), value);
}

/// Sums a member over the computing calls.
double sum_of_compute(const TimelineMetrics& metrics, double CallMetrics::*member) {
  return sum(metrics.calls, [&](const CallMetrics& call) {
    return call.kind == TaskKind::compute ? call.*member : 0.0;
  });
}

/// Sums a member or function over the computing devices.
template <class Value>
double sum_of_computing(const TimelineMetrics& metrics, const Value& value) {
  return sum(metrics.devices, [&](const DeviceMetrics& device) {
    return device.compute > 0 ? std::invoke(value, device) : 0.0;
  });
}

}  // namespace

int Profiled::computing_devices() const {
  return static_cast<int>(std::ranges::count_if(
      metrics().devices, [](const DeviceMetrics& device) { return device.compute > 0; }));
}

double Profiled::compute_seconds() const {
  return sum_of_compute(metrics(), &CallMetrics::seconds);
}

double Profiled::compute_flops() const { return sum_of_compute(metrics(), &CallMetrics::flops); }

double Profiled::compute_rate() const {
  return compute_seconds() > 0 ? compute_flops() / compute_seconds() : 0;
}

double Profiled::concurrency() const {
  double busy = 0;
  double streams = 0;
  for (std::size_t k = 1; k < metrics().streams_busy.size(); ++k) {
    busy += metrics().streams_busy[k];
    streams += static_cast<double>(k) * metrics().streams_busy[k];
  }
  return busy > 0 ? streams / busy : 0;
}

bool Profiled::runs_at_once() const {
  constexpr double at_once = 1.1;  // min mean number of busy streams
  return concurrency() >= at_once;
}

std::optional<Interval> Profiled::sampled_loss() const {
  const auto& speedup = of().speedup;
  const int devices = computing_devices();
  if (!speedup || !speedup->interval || devices < 1) return std::nullopt;
  return Interval{1 - speedup->interval->high / devices, 1 - speedup->interval->low / devices};
}

double Profiled::share_of(double seconds) const {
  const double whole = metrics().span * computing_devices();
  return whole > 0 ? seconds / whole : 0;
}

double Profiled::computing_share() const {
  return share_of(sum_of_computing(metrics(), &DeviceMetrics::compute));
}

double Profiled::launch_share() const {
  return share_of(sum_of_computing(metrics(), [](const DeviceMetrics& device) {
    return device.waits.host + device.waits.queue;
  }));
}

bool Profiled::is_launch_bound() const {
  constexpr double min_share = 0.10;
  return launch_share() >= min_share;
}

double Profiled::host_share() const {
  return share_of(
      sum_of_computing(metrics(), [](const DeviceMetrics& device) { return device.waits.host; }));
}

double Profiled::bubble_share() const {
  return share_of(sum_of_computing(metrics(), [](const DeviceMetrics& device) {
    return device.idle - device.waits.host - device.waits.queue;
  }));
}

std::vector<TaskEnd> ends_of(const Timeline& timeline) {
  std::vector<TaskEnd> ends(timeline.graph.tasks.size());
  for (const TimedCall& call : timeline.calls) {
    TaskEnd& end = ends.at(static_cast<std::size_t>(call.task));
    if (call.ran.end >= end.time) {
      end = {.time = call.ran.end, .device = timeline.graph.lane(call.lane).device};
    }
  }
  return ends;
}

std::string to_text(const CallMetrics& call) {
  if (!call.layer.empty()) return call.name + " of " + call.layer;
  return call.tensors.empty() ? call.name : fmt::format("{} ({})", call.name, call.tensors);
}

namespace {

/// Sums over all calls of an operation on all devices.
struct OperationTotal {
  const CallMetrics* longest = nullptr;
  double seconds = 0;
  double waiting = 0;  // seconds of waiting within teams of threads
  double flops = 0;
  double bytes = 0;
};

/// Totals by operation and layer.
using OperationTotals = std::map<std::pair<std::string_view, std::string_view>, OperationTotal>;

OperationTotals totals_of(const Profiled& one) {
  OperationTotals totals;
  for (const CallMetrics& call : one.metrics().calls) {  // calls are in descending order of seconds
    if (call.kind != TaskKind::compute) continue;
    OperationTotal& total = totals[{call.name, call.layer}];
    if (total.longest == nullptr) total.longest = &call;
    total.seconds += call.seconds;
    total.waiting += call.team_waiting;
    total.flops += call.flops;
    total.bytes += call.bytes;
  }
  return totals;
}

/// Returns whether an operation does far more in one case than in another, for example an update
/// that every device runs in full.
bool is_repeated(const OperationTotal& own, const OperationTotal& before) {
  constexpr double far_more = 1.5;
  const bool has_flops = own.flops > 0 && before.flops > 0;
  const double more =
      has_flops ? own.flops / before.flops : (before.bytes > 0 ? own.bytes / before.bytes : 1);
  return more >= far_more;
}

}  // namespace

LikeRates rates_of_like_work(const Profiled& one, const Profiled& other) {
  const OperationTotals before = totals_of(other);
  OperationTotal own;
  OperationTotal others;
  for (const auto& [key, total] : totals_of(one)) {
    const auto found = before.find(key);
    if (found == before.end() || is_repeated(total, found->second)) continue;
    own.seconds += total.seconds;
    own.flops += total.flops;
    others.seconds += found->second.seconds;
    others.flops += found->second.flops;
  }
  const auto rate = [](const OperationTotal& of) {
    return of.seconds > 0 ? of.flops / of.seconds : 0;
  };
  return {.own = rate(own), .other = rate(others), .seconds = own.seconds};
}

SlowerCalls slower_calls(const Profiled& one, const Profiled& other, double min_waiting) {
  constexpr double slower_operation = 0.05;
  const OperationTotals before = totals_of(other);
  SlowerCalls slower;
  for (const auto& [key, total] : totals_of(one)) {
    const auto found = before.find(key);
    if (found == before.end() || is_repeated(total, found->second)) continue;
    const double lost = total.seconds - found->second.seconds;
    if (found->second.seconds <= 0 || lost < slower_operation * found->second.seconds) continue;
    if (total.waiting < min_waiting * lost) continue;
    ++slower.count;
    slower.extra += lost;
    if (slower.worst == nullptr || lost > slower.worst_seconds - slower.worst_before) {
      slower.worst = total.longest;
      slower.worst_seconds = total.seconds;
      slower.worst_before = found->second.seconds;
    }
  }
  return slower;
}

std::string part_text(double part) {
  constexpr double named = 0.1;
  constexpr double all = 0.995;
  if (part < named) return {};
  return part >= all ? "all of it" : fmt::format("the largest part, {},", format_percent(part, 0));
}

ProfiledCases::ProfiledCases(const Report& report, const std::string& scenario)
    : roles_(report, scenario),
      cores_(cores_of(devices_of(report, scenario))),
      cores_online_(static_cast<std::size_t>(std::max(0, report.machine.cores_online))) {
  for (const Device& device : report.devices) {
    if (device.scenario == scenario) devices_.push_back(&device);
  }
  for (const CaseResult& one : report.cases) {
    if (one.scenario != scenario || !has_number(one)) continue;
    complete_ = complete_ && one.profile.has_value();
    if (!one.profile) continue;
    const std::size_t index = cases_.size();
    cases_.emplace_back(one);
    by_name_.emplace(one.name, index);
    const auto size = roles_.micro_batch_size(one);
    if (!size) continue;
    const auto [largest, is_first] = largest_micro_batches_.try_emplace(
        roles_.key_without(one, {Role::micro_batch_size}), index);
    if (!is_first && *size > roles_.micro_batch_size(cases_[largest->second].of()))
      largest->second = index;
  }
}

const Peak* ProfiledCases::peak(const std::string& device, std::string_view what) const {
  const auto found = std::ranges::find(devices_, device, &Device::name);
  return found == devices_.end() ? nullptr : find_peak((*found)->peaks, what);
}

const Profiled* ProfiledCases::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &cases_[found->second];
}

const Profiled* ProfiledCases::baseline_of(const Profiled& one) const {
  const Profiled* baseline = one.of().speedup ? find(one.of().speedup->baseline) : nullptr;
  return baseline != nullptr && !baseline->profile().deviation ? baseline : nullptr;
}

const Profiled* ProfiledCases::largest_micro_batches(const Profiled& one) const {
  if (!roles_.micro_batch_size(one.of())) return nullptr;
  const auto found =
      largest_micro_batches_.find(roles_.key_without(one.of(), {Role::micro_batch_size}));
  if (found == largest_micro_batches_.end()) return nullptr;
  const Profiled& largest = cases_[found->second];
  return &largest.of() == &one.of() || largest.profile().deviation ? nullptr : &largest;
}

}  // namespace parbench::report
