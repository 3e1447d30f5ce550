// Computes the parts of the lost time, as means over the computing devices, and findings about
// them.
#include "reports/findings/losses.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/units/units.h"
#include "reports/findings/thread_rules.h"
#include "reports/model/disturbances.h"
#include "scenarios/plan/graph.h"

namespace parbench::report {
namespace {

/// Returns the share of the time that is lost, by the samples' speedup. Nothing without losses, if
/// the speedup has no interval, or if the share is too small to report.
std::optional<double> lost_share(const Profiled& one) {
  if (!one.profile().losses || !one.of().speedup->interval) return std::nullopt;
  constexpr double min_reported_losses = 0.05;  // min share of the span
  const double share = total(*one.profile().losses) / one.metrics().span;
  return share < min_reported_losses ? std::nullopt : std::optional(share);
}

/// Returns whether a task has lanes of several ranks. Devices of ranks have names such as
/// "node2/1/cpu:0".
bool is_between_ranks(const Task& task, const PlanGraph& graph) {
  const auto rank_of = [&](LaneId lane) {
    const std::string_view device = graph.lane(lane).device;
    const std::size_t host = host_of(device).size();
    return host == 0 ? std::string_view() : device.substr(0, device.find('/', host + 1));
  };
  return std::ranges::any_of(
      task.lanes, [&](LaneId lane) { return rank_of(lane) != rank_of(task.lanes.front()); });
}

/// Returns "messages between ranks (6 of 21.3 KiB, 169.5 µs each)", with mean values, if all copies
/// are messages; else "copies".
std::string copies_text(const Profiled& one) {
  if (!are_copies_messages(one)) return "copies";
  std::size_t messages = 0;
  double bytes = 0;
  for (const Task& task : one.profile().timeline->graph.tasks) {
    if (task.kind != TaskKind::copy) continue;
    ++messages;
    bytes += task.work.bytes / 2;  // each byte is read and written
  }
  double calls = 0;  // each message has a call at both ends
  double seconds = 0;
  for (const CallMetrics& call : one.metrics().calls) {
    if (call.kind != TaskKind::copy) continue;
    calls += call.count;
    seconds += call.seconds;
  }
  if (calls <= 0) return "copies";
  return fmt::format("messages between ranks ({} of {}, {} each)", messages,
                     format_bytes(bytes / static_cast<double>(messages)),
                     format_duration(seconds / calls));
}

/// Returns the activity of devices while they are busy without computing: "copies",
/// "communication".
std::string exchange_text(const Profiled& one) {
  double copies = 0;
  double communication = 0;
  for (const DeviceMetrics& device : one.metrics().devices) {
    copies += device.exposed_copy;
    communication += device.exposed_communication;
  }
  if (communication <= 0) return copies_text(one);
  // max exchange of a kind that is not named, relative to the other kind
  constexpr double negligible = 0.1;
  if (copies <= negligible * communication) return "communication";
  return communication <= negligible * copies ? copies_text(one) : "copies and communication";
}

/// Returns "25.6% bubbles, 0.2% other, minus 8.2% gained by faster calls".
std::string parts_text(const Profiled& one) {
  const Losses& lost = *one.profile().losses;
  const double span = one.metrics().span;
  const std::string exchange = exchange_text(one);
  const bool is_counted = exchange == "copies" || exchange.starts_with("messages");
  const std::string less_exchange = (is_counted ? "fewer " : "less ") + exchange;
  struct Part {
    double seconds;
    std::string_view what;
    std::string_view gained;  // name of the gain if the part is negative
  };
  std::vector<Part> parts{{lost.slower_calls, "calls slower than the baseline's", "faster calls"},
                          {lost.bubble, "bubbles", ""},
                          {lost.imbalance, "imbalance", ""},
                          {lost.copies, exchange, less_exchange},
                          {lost.launch, "launching", "less launching"}};
  std::ranges::stable_sort(parts, std::ranges::greater(), &Part::seconds);
  constexpr double min_part = 0.02;  // min share of the span of a loss that is named
  std::vector<std::string> shown;
  std::vector<std::string> gains;
  double other = 0;
  for (const auto& [seconds, what, gained] : parts) {
    if (seconds >= min_part * span) {
      shown.push_back(fmt::format("{} {}", format_percent(seconds / span), what));
    } else if (seconds > -min_part * span) {
      other += seconds;
    } else {
      gains.push_back(
          fmt::format("minus {} gained by {}", format_percent(-seconds / span), gained));
    }
  }
  if (std::abs(other) >= 0.0005 * span) {
    shown.push_back(fmt::format("{}{} other", other < 0 ? "minus " : "",
                                format_percent(std::abs(other) / span)));
  }
  std::ranges::move(gains, std::back_inserter(shown));
  return fmt::format("{}", fmt::join(shown, ", "));
}

/// Returns the load that may be the cause of a loss of this share: "other programs had 48% of its
/// CPU time". Empty if load cannot be the cause.
std::string load_text(const Profiled& one, const ProfiledCases& all, double share) {
  if (!can_be_load(one.of(), all, share)) return {};
  const double taken = cores_taken(one.of());
  const Profiled* baseline = all.find(one.of().speedup->baseline);
  const double of_baseline = baseline == nullptr ? 0 : cores_taken(baseline->of());
  if (std::max(taken, of_baseline) <= 0) {
    return fmt::format("a CPU quota withheld {} of its CPU time",
                       format_percent(one.of().quota_lost, 0));
  }
  return taken >= of_baseline
             ? fmt::format("other programs had {} of its CPU time", format_percent(taken, 0))
             : fmt::format("other programs had {} of the baseline's CPU time",
                           format_percent(of_baseline, 0));
}

}  // namespace

std::optional<Losses> losses_of(const Profiled& one, const Profiled& baseline) {
  const int devices = one.computing_devices();
  if (devices < 2 || baseline.computing_devices() != 1) return std::nullopt;
  double compute = 0;
  double max = 0;
  double copies = 0;
  double launch = 0;
  double idle = 0;
  for (const DeviceMetrics& device : one.metrics().devices) {
    if (device.compute <= 0) continue;
    compute += device.compute / devices;
    max = std::max(max, device.compute);
    copies += (device.busy - device.compute) / devices;
    launch += (device.waits.host + device.waits.queue) / devices;
    idle += device.idle / devices;
  }
  const auto& alone = *std::ranges::find_if(
      baseline.metrics().devices, [](const DeviceMetrics& device) { return device.compute > 0; });
  Losses losses;
  losses.ideal = one.metrics().span * one.of().speedup->value / devices;
  const double scale = losses.ideal / baseline.metrics().span;
  losses.slower_calls = compute - scale * alone.compute;
  losses.copies = copies - scale * (alone.busy - alone.compute);
  losses.launch = launch - scale * alone.idle;
  losses.imbalance = std::min(max - compute, idle - launch);
  losses.bubble = idle - launch - losses.imbalance;
  return losses;
}

bool are_copies_messages(const Profiled& one) {
  if (!one.profile().timeline) return false;
  const PlanGraph& graph = one.profile().timeline->graph;
  const auto is_copy = [](const Task& task) { return task.kind == TaskKind::copy; };
  return std::ranges::any_of(graph.tasks, is_copy) &&
         std::ranges::all_of(graph.tasks, [&](const Task& task) {
           return !is_copy(task) || is_between_ranks(task, graph);
         });
}

double total(const Losses& losses) {
  return losses.slower_calls + losses.imbalance + losses.bubble + losses.copies + losses.launch;
}

/// Does not check whether the baseline's profile represents its samples, because only shares of its
/// time are used.
std::optional<Remark> breakdown_is_missing(const Profiled& one, const ProfiledCases& /*all*/) {
  const auto lost = lost_share(one);
  if (!lost || !one.profile().deviation) return {};
  return Remark{fmt::format("no breakdown, because the profiled run was not representative: it {}",
                            deviation_text(one.profile())),
                "another run, while nothing else uses the devices",
                {{"lost", *lost}, {"deviation", *one.profile().deviation}},
                *lost};
}

/// Does not apply to devices that compute in turn: they lose all but one device's share by
/// definition.
std::optional<Remark> lost_time(const Profiled& one, const ProfiledCases& all) {
  const auto share = lost_share(one);
  if (!share || !one.runs_at_once()) return {};
  const Losses& lost = *one.profile().losses;
  const std::string text =
      fmt::format("{} of its time is lost against linear speedup on {}", format_percent(*share),
                  format_count(one.computing_devices(), "device"));
  if (const std::string load = load_text(one, all, *share); !load.empty()) {
    return Remark{fmt::format("{}; {}, so its causes are not known", text, load),
                  "",
                  {{"lost", *share}, {"ideal seconds", lost.ideal}},
                  0,
                  *share};
  }
  return Remark{fmt::format("{}: {}", text, parts_text(one)),
                "",
                {{"ideal seconds", lost.ideal},
                 {"slower calls", lost.slower_calls},
                 {"bubble", lost.bubble},
                 {"imbalance", lost.imbalance},
                 {"copies", lost.copies},
                 {"launch", lost.launch}},
                *share};
}

}  // namespace parbench::report
