// One function per rule.
#include "reports/findings/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "kernels/base/units/units.h"
#include "reports/findings/communication_rules.h"
#include "reports/findings/dependency_rules.h"
#include "reports/findings/findings.h"
#include "reports/findings/losses.h"
#include "reports/findings/rank_rules.h"
#include "reports/findings/stage_rules.h"
#include "reports/findings/thread_rules.h"
#include "reports/model/disturbances.h"
#include "scenarios/plan/graph.h"
#include "scenarios/plan/role.h"

namespace parbench::report {
namespace {

using Cases = ProfiledCases;

constexpr double more_concurrency = 1.25;   // min ratio to the baseline's concurrency
constexpr double min_gain = 1.05;           // a speedup counts as a gain above this
constexpr double slowed_by_sharing = 1.25;  // min total time of calls relative to the baseline's

// --- streams of one device -----------------------------------------------------------------------

/// A case whose streams ran at once on one device, compared with a baseline that does the same work
/// on one device.
struct Together {
  double concurrency = 0;  // relative to the baseline's
  double inflation = 0;    // total time of all calls, relative to the baseline's
  double speedup = 0;
};

std::optional<Together> together(const Profiled& one, const Cases& all) {
  const Profiled* baseline = all.baseline_of(one);
  if (baseline == nullptr || one.computing_devices() != 1) return {};
  if (baseline->computing_devices() != 1) return {};
  if (baseline->compute_seconds() <= 0 || baseline->concurrency() <= 0) return {};
  const double concurrency = one.concurrency() / baseline->concurrency();
  if (concurrency < more_concurrency) return {};
  return Together{concurrency, one.compute_seconds() / baseline->compute_seconds(),
                  one.of().speedup->value};
}

NamedValues evidence_of(const Together& found, const Profiled& one) {
  return {{"streams busy at once", one.concurrency()},
          {"time of a call over the baseline's", found.inflation},
          {"speedup", found.speedup}};
}

/// Returns ", with 1 core each instead of 2"; empty if no stream has fewer cores than those of the
/// baseline.
std::string fewer_cores_text(const Profiled& one, const Profiled& baseline) {
  const int own = smallest_team(one);
  const int before = team_size(baseline);
  if (own == 0 || own >= before) return {};
  return fmt::format(", with {} each instead of {}", format_count(own, "core"), before);
}

/// Does not apply to launch-bound cases, which do not show what the device can do. Calls with fewer
/// cores, or cores without work, do not show that one stream fills the device.
std::optional<Remark> saturated(const Profiled& one, const Cases& all) {
  const auto found = together(one, all);
  if (!found || found->speedup > min_gain || one.is_launch_bound()) return {};
  if (found->inflation < slowed_by_sharing) return {};
  if (found->concurrency > min_gain * found->inflation) return {};  // the profile shows a gain
  if (wait_for_own_cores(one.of())) return {};
  const Profiled& baseline = *all.baseline_of(one);
  const std::string cores = fewer_cores_text(one, baseline);
  const bool is_filled = cores.empty() && !waiting_in_teams(baseline);
  return Remark{
      fmt::format("{:.1f} streams ran at once on average{}, and their calls took {:.2f} times as "
                  "long{}",
                  one.concurrency(), cores, found->inflation,
                  is_filled ? ", so that one stream fills the device already" : ": no gain"),
      is_filled && !all.have_all_cores() ? "another device" : "", evidence_of(*found, one),
      (1 - 1 / found->inflation) * one.computing_share()};
}

std::optional<Remark> streams_pay_off(const Profiled& one, const Cases& all) {
  const auto found = together(one, all);
  if (!found || found->speedup <= min_gain || !one.of().speedup->above(1)) return {};
  if (found->concurrency <= min_gain * found->inflation) return {};  // the profile shows no gain
  if (found->inflation * slowed_by_sharing < 1) return {};           // the baseline was disturbed
  if (wait_for_own_cores(one.of())) return {};  // calls that wait for a core seem to overlap
  return Remark{
      fmt::format(
          "{:.1f} streams ran at once on average, and their calls took {:.2f} times as long{}",
          one.concurrency(), found->inflation,
          found->inflation < 1 ? "" : ", so that one stream does not fill the device"),
      "", evidence_of(*found, one), 1 - 1 / found->speedup};
}

/// Returns the advice for a launch-bound case. A graph saves only time of the host: it does not
/// change how the threads of CPU devices sleep and wake.
std::string launch_advice(const Profiled& one, const Cases& all, bool by_host) {
  if (!by_host && all.are_cpu_devices()) {
    const std::string batch = all.roles().parameter(Role::batch);
    return one.computing_devices() < 2 || batch.empty() ? "" : fmt::format("a larger --{}", batch);
  }
  const bool graph_is_untried =
      one.of().submit == SubmitMode::one_thread && !all.roles().has_graph(one.of());
  return graph_is_untried ? "launch it as a graph (--graph)" : "";
}

std::optional<Remark> launch_bound(const Profiled& one, const Cases& all) {
  if (!one.is_launch_bound()) return {};
  const double share = one.launch_share();
  const double host = one.host_share();
  const bool by_host = host > share / 2;
  return Remark{
      fmt::format("devices were idle for {} of the time, waiting for {}", format_percent(share, 0),
                  by_host ? "the host to launch" : "a lane to wake and start a call"),
      launch_advice(one, all, by_host),
      {{"launch share", share}, {"host share", host}},
      share};
}

// --- calls -------------------------------------------------------------------------------------

/// Names the layer that takes longest on a reference kernel.
std::optional<Remark> reference_kernel(const Profiled& one, const Cases& /*all*/) {
  const CallMetrics* longest = nullptr;  // the longest call is the first
  double seconds = 0;
  int layers = 0;
  for (const CallMetrics& call : one.metrics().calls) {
    if (!call.reference) continue;
    if (longest == nullptr) longest = &call;
    seconds += call.seconds;
    ++layers;
  }
  constexpr double reference_share = 0.01;  // min share of the computing time
  if (seconds <= 0 || seconds < reference_share * one.compute_seconds()) return {};
  const double share = seconds / one.compute_seconds();
  const double longest_share = longest->seconds / one.compute_seconds();
  std::string text = fmt::format(
      "the library has no optimised kernel for {}: its reference implementation {} takes {} of the "
      "computing time in {}",
      to_text(*longest), longest->kernel, format_percent(longest_share, 0),
      format_count(longest->count, "call"));
  if (layers > 1) {
    text += fmt::format("; reference implementations take {} in all", format_percent(share, 0));
  }
  return Remark{std::move(text),
                "channels in multiples of 16, no groups, or another image size",
                {{"operation", longest->name},
                 {"layer", longest->layer},
                 {"tensors", longest->tensors},
                 {"kernel", longest->kernel},
                 {"share of computing", share}},
                share * one.computing_share()};
}

/// Total over all `map` calls of a layer.
struct LoopTime {
  double seconds = 0;
  double flops = 0;
  int count = 0;
};

/// Names the layer that takes longest in `map`, parbench's own loops, if their rate is far below
/// the rate of all operations.
std::optional<Remark> general_loops(const Profiled& one, const Cases& /*all*/) {
  std::map<std::string_view, LoopTime> layers;
  for (const CallMetrics& call : one.metrics().calls) {
    if (call.name != "map" || call.layer.empty()) continue;
    LoopTime& layer = layers[call.layer];
    layer.seconds += call.seconds;
    layer.flops += call.flops;
    layer.count += call.count;
  }
  const auto longest =
      std::ranges::max_element(layers, {}, [](const auto& layer) { return layer.second.seconds; });
  if (longest == layers.end()) return {};
  const auto& [name, loops] = *longest;
  constexpr double general_loop_share = 0.10;  // min share of the computing time
  constexpr double general_loop_rate = 0.10;   // max rate, relative to that of all operations
  const double share = loops.seconds / one.compute_seconds();
  if (share < general_loop_share || loops.flops <= 0) return {};
  const double rate = loops.flops / loops.seconds;
  if (rate >= general_loop_rate * one.compute_rate()) return {};
  return Remark{
      fmt::format("{} takes {} of the computing time in {}, at {} beside {} of all operations: "
                  "parbench's own loops compute this layer, not a library kernel",
                  name, format_percent(share, 0), format_count(loops.count, "call"),
                  format_rate(rate, "FLOP"), format_rate(one.compute_rate(), "FLOP")),
      "",
      {{"layer", std::string(name)}, {"share of computing", share}, {"FLOP per second", rate}},
      share * one.computing_share()};
}

// --- copies --------------------------------------------------------------------------------------

struct Copies {
  double count = 0;
  double seconds = 0;
  double held = 0;   // seconds for which enqueueing held the host
  double moved = 0;  // bytes transferred
};

Copies copies_of(const Profiled& one) {
  Copies copies;
  for (const CallMetrics& call : one.metrics().calls) {
    if (call.kind != TaskKind::copy) continue;
    copies.count += call.count;
    copies.seconds += call.seconds;
    copies.held += call.enqueueing;
    copies.moved += call.bytes / 2;  // each byte is read and written
  }
  return copies;
}

/// Requires that copies are large on average and hold the host for longer than enqueueing costs:
/// enqueueing tiny copies holds the host for as long as they take.
std::optional<Remark> not_asynchronous(const Profiled& one, const Cases& all) {
  // min time of enqueueing, relative to the copies' time
  constexpr double held_host_share = 0.5;
  constexpr double held_span_share = 0.10;    // min time of enqueueing, relative to the span
  constexpr double min_held_seconds = 20e-6;  // per copy: enqueueing takes a few microseconds
  // per copy: CUDA may copy less from pageable memory without holding the caller
  constexpr double min_copied_bytes = 65536;
  const auto [count, copying, held, moved] = copies_of(one);
  if (copying <= 0 || held < held_host_share * copying) return {};
  if (held < held_span_share * one.metrics().span) return {};
  if (held < min_held_seconds * count || moved < min_copied_bytes * count) return {};
  const bool has_choice = all.roles().value(one.of(), Role::host_memory) != nullptr;
  return Remark{fmt::format("enqueueing the copies held the host for {} of their time: they were "
                            "not asynchronous",
                            format_percent(std::min(1.0, held / copying), 0)),
                has_choice ? all.roles().untried_advice(one.of(), Role::host_memory)
                           : "copy from and to pinned memory",
                {{"held share", held / copying}, {"copying seconds", copying}},
                held / one.metrics().span};
}

// --- several devices -----------------------------------------------------------------------------

/// Requires a baseline with as many computing devices, equal FLOPs and a lower concurrency.
std::optional<Remark> shared_bandwidth(const Profiled& one, const Cases& all) {
  const Profiled* baseline = all.baseline_of(one);
  if (baseline == nullptr || one.computing_devices() < 2) return {};
  if (baseline->computing_devices() != one.computing_devices()) return {};
  if (one.concurrency() < more_concurrency * baseline->concurrency()) return {};
  if (baseline->compute_flops() <= 0 || baseline->compute_flops() != one.compute_flops()) return {};
  constexpr double slowed_together = 0.10;  // min fraction by which calls take longer
  const double slower = one.compute_seconds() / baseline->compute_seconds();
  if (slower < 1 + slowed_together) return {};
  return Remark{
      fmt::format("calls take {} longer while other devices work: they share memory "
                  "bandwidth, caches or power",
                  format_percent(slower - 1, 0)),
      "work that reuses its data more (larger products, fused operations)",
      {{"time of a call over the baseline's", slower}},
      (1 - 1 / slower) * one.compute_seconds() / (one.computing_devices() * one.metrics().span)};
}

std::optional<Remark> throttled(const CaseResult& one, const Roles& /*roles*/) {
  if (!is_throttled(one)) return {};
  const auto& throttling = one.throttling;
  const double share = static_cast<double>(throttling->marked_samples) /
                       static_cast<double>(std::max(1, throttling->read_samples));
  return Remark{fmt::format("{} of the samples were taken while a device was throttled",
                            format_percent(share, 0)),
                "cool it, lift its power limit, or lock its clock",
                {{"marked share", share}},
                share};
}

}  // namespace

const std::vector<Rule>& all_rules() {
  constexpr bool sharing = true;  // Rule::has_cause_in_sharing
  constexpr bool load = true;     // Rule::has_cause_in_load
  constexpr bool any = true;      // Rule::holds_for_any_execution
  constexpr bool calls = true;    // Rule::begins_with_recommended
  static const std::vector<Rule> rules{
      {"losses", lost_time, sharing},
      {no_breakdown, breakdown_is_missing, sharing, !load, any},
      {"streams-pay-off", streams_pay_off, !sharing, load},
      {"saturated", saturated, !sharing, load},
      {"launch-bound", launch_bound, sharing, load},
      {"reference-kernel", reference_kernel, !sharing, !load, any, calls},
      {"general-loops", general_loops, !sharing, !load, any, calls},
      {"team-waiting", team_waiting, sharing, load, !any, calls},
      {"more-threads-than-cores", more_threads_than_cores, sharing, !load, any, calls},
      {"shared-cores", shared_cores, !sharing, !load, any},
      {"cores-taken", taken_cores},
      {"cpu-quota", cpu_quota},
      {"page-faults", page_faults, !sharing, !load, !any, calls},
      {"slowest-rank", slowest_rank, sharing},
      {"copies-share-cores", copies_share_cores, sharing, load},
      {"copy-not-asynchronous", not_asynchronous},
      {"only-cut", only_cut},
      {"unbalanced", unbalanced, sharing, load},
      {"exposed-communication", exposed_communication, sharing, load},
      {"buckets-too-small", buckets_too_small, sharing, load},
      {"buckets-too-large", buckets_too_large, sharing, load},
      {"batch-too-small", batch_too_small, sharing, load},
      {"waits-for-device", waits_for_device, sharing, load},
      {"central-device", central_device, sharing},
      {"micro-batches-too-small", micro_batches_too_small, sharing, load},
      {"too-few-micro-batches", micro_batches_too_few, sharing, load},
      {"shared-bandwidth", shared_bandwidth, sharing, load},
      {"uneven-memory", uneven_memory},
      {"throttled", throttled}};
  return rules;
}

}  // namespace parbench::report
