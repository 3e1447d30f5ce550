// Cases with profiles, made by hand, and what rules find in them.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "reports/findings/findings.h"
#include "reports/model/report.h"

namespace parbench::report {

/// A device of a profile: idle time that is not listed otherwise follows the last call.
struct MadeDevice {
  double compute = 0;
  double moving = 0;  // copies, none of them beside a computation
  Waits waits = {};
  double communicating = 0;
  double exposed = 0;     // of it, beside no computation
  double overlapped = 0;  // copies beside a computation
};

/// Builds a measured case of scenario "s" whose calls are one computation a device.
class MadeCase {
 public:
  MadeCase(const std::string& strategy, double span, const std::vector<MadeDevice>& devices) {
    made_.scenario = "s";
    made_.strategy = strategy;
    made_.name = "s/" + strategy;
    made_.dtype = "f32";
    made_.status = CaseStatus::measured;
    made_.statistics.emplace().median = span;
    Profile& profile = made_.profile.emplace();
    profile.executions = 1;
    profile.median = span;
    TimelineMetrics& metrics = profile.metrics;
    metrics.span = span;
    CallMetrics calls{.name = "gemm", .count = 1};
    for (const MadeDevice& device : devices) {
      const double busy = device.compute + device.moving + device.exposed;
      metrics.devices.push_back({.device = "d" + std::to_string(metrics.devices.size()),
                                 .busy = busy,
                                 .idle = span - busy,
                                 .waits = device.waits,
                                 .compute = device.compute,
                                 .copy = device.moving + device.overlapped,
                                 .communication = device.communicating,
                                 .exposed_copy = device.moving,
                                 .exposed_communication = device.exposed,
                                 .overlapped = device.overlapped});
      calls.seconds += device.compute;
    }
    calls.flops = 1e9;
    metrics.calls.push_back(calls);
    metrics.streams_busy = {0, span};
    if (devices.size() == 2) {  // as much at once as their times need
      const double both = std::max(0.0, metrics.devices[0].busy + metrics.devices[1].busy - span);
      metrics.streams_busy = {0, span - both, both};
    }
  }

  /// So many streams at once all the time, whose calls take so long together.
  MadeCase& streams(std::size_t count, double call_seconds) {
    made_.profile->metrics.streams_busy.assign(count + 1, 0);
    made_.profile->metrics.streams_busy[count] = made_.profile->metrics.span;
    made_.profile->metrics.calls[0].seconds = call_seconds;
    return *this;
  }
  /// Adds `count` copies of `bytes` bytes each.
  MadeCase& copies(double seconds, double enqueueing, int count = 1, double bytes = 1e6) {
    made_.profile->metrics.calls.push_back({.name = "copy",
                                            .kind = TaskKind::copy,
                                            .count = count,
                                            .seconds = seconds,
                                            .enqueueing = enqueueing,
                                            .bytes = 2 * count * bytes});
    return *this;
  }
  /// Adds a call that exchanges data; `bytes`: read and written together.
  MadeCase& exchanges(double seconds, double bytes) {
    made_.profile->metrics.calls.push_back({.name = "copy",
                                            .kind = TaskKind::communication,
                                            .count = 1,
                                            .seconds = seconds,
                                            .bytes = bytes});
    return *this;
  }
  /// The operation of a layer, part of the time of all calls.
  MadeCase& layer(const std::string& name, double seconds) {
    std::vector<CallMetrics>& calls = made_.profile->metrics.calls;
    calls.front().seconds -= seconds;
    calls.push_back({.name = "gemm", .layer = name, .count = 1, .seconds = seconds});
    return *this;
  }
  /// General operations of a layer, part of the time of all calls.
  MadeCase& loops(const std::string& layer, double seconds, double flops) {
    std::vector<CallMetrics>& calls = made_.profile->metrics.calls;
    calls.front().seconds -= seconds;
    calls.push_back(
        {.name = "map", .layer = layer, .count = 1, .seconds = seconds, .flops = flops});
    return *this;
  }
  MadeCase& flops(double value) {
    made_.profile->metrics.calls[0].flops = value;
    return *this;
  }
  /// On a reference implementation, part of the time of all calls.
  MadeCase& on_reference(const std::string& tensors, double seconds) {
    std::vector<CallMetrics>& calls = made_.profile->metrics.calls;
    calls.front().seconds -= seconds;
    calls.push_back({.name = "convolution_backward_data",
                     .tensors = tensors,
                     .kernel = "ref:any",
                     .reference = true,
                     .count = 2,
                     .seconds = seconds});
    return *this;
  }
  /// Threads of OpenMP teams had no work for so long, as a mean.
  MadeCase& team_waiting(double seconds) {
    made_.profile->metrics.calls.front().team_waiting = seconds;
    return *this;
  }
  /// The same of a layer's operation.
  MadeCase& team_waiting_of(const std::string& layer, double seconds) {
    std::ranges::find(made_.profile->metrics.calls, layer, &CallMetrics::layer)->team_waiting =
        seconds;
    return *this;
  }
  /// The device's lanes have so many threads each, and the device so many cores.
  MadeCase& lanes(const std::string& device, const std::vector<int>& threads, int cores) {
    Timeline& timeline = made_.profile->timeline.emplace();
    for (const int count : threads) {
      timeline.graph.add_lane(
          {.name = "lane", .device = device, .threads = count, .device_cores = cores});
    }
    return *this;
  }
  MadeCase& timeline(Timeline made) {
    made_.profile->timeline = std::move(made);
    return *this;
  }
  /// A timeline with a task of each of so many micro-batches.
  MadeCase& micro_batches(int count) {
    PlanGraph& graph = made_.profile->timeline.emplace().graph;
    const LaneId lane = graph.add_lane({.name = "lane", .device = "d0"});
    for (int i = 0; i < count; ++i) {
      graph.add_task({.name = "forward", .lanes = {lane}, .micro_batch = i});
    }
    return *this;
  }
  /// One more lane of a device with lanes.
  MadeCase& copy_lane(const std::string& device, int cores) {
    made_.profile->timeline->graph.add_lane(
        {.name = "copies", .device = device, .kind = StreamKind::copy, .device_cores = cores});
    return *this;
  }
  /// The host threads of one more device.
  MadeCase& threads(const ThreadUse& use) {
    made_.conditions.push_back({.device = "d" + std::to_string(made_.conditions.size()),
                                .min_clock_mhz = {},
                                .median_clock_mhz = {},
                                .max_temperature_celsius = {},
                                .max_power_watts = {},
                                .threads = use});
    return *this;
  }
  MadeCase& parameter(const std::string& name, const Value& value) {
    made_.parameters.emplace_back(name, value);
    made_.name += "/" + name + ":" +
                  (std::holds_alternative<std::string>(value)
                       ? std::get<std::string>(value)
                       : std::to_string(std::get<std::int64_t>(value)));
    return *this;
  }
  MadeCase& note(const std::string& name, const std::string& text) {
    made_.notes.emplace_back(name, text);
    return *this;
  }
  /// One more operation, which takes no time to speak of.
  MadeCase& calls(const std::string& name) {
    made_.profile->metrics.calls.push_back({.name = name, .count = 1});
    return *this;
  }
  MadeCase& speedup(double value, const std::string& baseline, double low) {
    made_.speedup = Ratio{value, Interval{low, value + (value - low), 0.95}, baseline};
    return *this;
  }
  MadeCase& memory(const std::vector<std::size_t>& bytes) {
    for (const std::size_t one : bytes) {
      made_.memory.push_back({"d" + std::to_string(made_.memory.size()), one});
    }
    return *this;
  }
  MadeCase& throttled(int marked, int read) {
    made_.throttling = Throttling{.marked_samples = marked,
                                  .read_samples = read,
                                  .flagged = marked > read * max_throttled_share,
                                  .reasons = {}};
    return *this;
  }
  MadeCase& quota_lost(double share) {
    made_.quota_lost = share;
    return *this;
  }
  MadeCase& deviation(double share) {
    made_.profile->deviation = share;
    return *this;
  }
  MadeCase& submitted(SubmitMode mode) {
    made_.submit = mode;
    return *this;
  }
  /// Of a run without profiles.
  MadeCase& without_profile() {
    made_.profile.reset();
    return *this;
  }

  [[nodiscard]] const CaseResult& made() const { return made_; }

 private:
  CaseResult made_;
};

/// With roles of parameters under names that no scenario uses.
inline Report report_of(const std::vector<MadeCase>& cases) {
  Report report;
  report.roles = {
      {"other", "pieces", Role::partition, "wrong"}, {"s", "pieces", Role::micro_batch_size, ""},
      {"s", "cut", Role::partition, "even"},         {"s", "order", Role::schedule, "frugal"},
      {"s", "host", Role::host_memory, "locked"},    {"s", "samples", Role::batch, ""},
      {"s", "parcel", Role::exchange_size, ""}};
  for (const MadeCase& one : cases) report.cases.push_back(one.made());
  return report;
}

/// The cases that a rule finds, by descending weight.
inline std::vector<std::string> found(const std::string& rule, const std::vector<MadeCase>& cases) {
  Report report = report_of(cases);
  find_reasons(report);
  for (const Finding& finding : report.findings) {
    if (finding.rule == rule) return finding.cases;
  }
  return {};
}

/// The text of a rule's finding; empty where it finds none.
inline std::string text(const std::string& rule, const std::vector<MadeCase>& cases) {
  Report report = report_of(cases);
  find_reasons(report);
  for (const Finding& finding : report.findings) {
    if (finding.rule == rule) return to_text(finding, finding.cases.front());
  }
  return {};
}

/// The same where devices d0 to d<count − 1> share one core.
inline Report report_on_one_core(const std::vector<MadeCase>& cases, int count) {
  Report report = report_of(cases);
  for (int i = 0; i < count; ++i) {
    Device& device = report.devices.emplace_back();
    device.scenario = "s";
    device.name = "d" + std::to_string(i);
    device.cores = {0};
  }
  return report;
}

}  // namespace parbench::report
