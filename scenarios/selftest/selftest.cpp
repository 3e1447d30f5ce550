// Scenario selftest: tasks of known duration, which test the measurements themselves.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <tuple>

#include "kernels/base/units/units.h"
#include "scenarios/framework/built_in.h"
#include "scenarios/framework/collectives/messages.h"
#include "scenarios/framework/prepared_case.h"

namespace parbench {
namespace {

/// A queue of spinning tasks, and the counter of their executions.
struct SpinLane {
  LaneId lane = 0;
  std::int64_t tasks = 0;
  Tensor counter;
  Op* spin = nullptr;
};

double nanoseconds_of_task(const CaseSpec& spec) {
  return static_cast<double>(nanoseconds_of(spec.parameters.text("duration")));
}

Spin spin_of(const CaseSpec& spec, const Context& context, int lane) {
  double slowdown = 0;
  if (spec.hidden.find("slowdown") != nullptr) slowdown = spec.hidden.real("slowdown");
  const double nanoseconds = nanoseconds_of_task(spec) * (1.0 + slowdown / 100.0);
  Spin spin;
  spin.duration = std::chrono::nanoseconds(std::chrono::nanoseconds::rep(nanoseconds));
  spin.noise = spec.parameters.real("noise") / 100.0;
  spin.seed = context.options().seed + static_cast<std::uint64_t>(lane);
  return spin;
}

std::vector<LaneId> add_lanes(CaseParts& parts, const std::string& strategy) {
  if (strategy == "spin") return {add_lane(parts, 0, StreamKind::compute)};
  std::vector<LaneId> lanes;
  const int devices = parts.context.device_count();
  if (devices == 1) {
    for (int i = 0; i < 2; ++i) lanes.push_back(add_lane(parts, 0, StreamKind::compute, i, 2));
  }
  for (int i = 0; devices > 1 && i < devices; ++i) {
    lanes.push_back(add_lane(parts, i, StreamKind::compute));
  }
  return lanes;
}

int device_of(const CaseParts& parts, LaneId lane) {
  for (int i = 0; i < parts.context.device_count(); ++i) {
    if (&parts.context.device(i) == &stream_of(parts, lane).device()) return i;
  }
  return 0;
}

std::optional<std::string> check_counter(CaseParts& parts, const SpinLane& lane) {
  std::uint64_t executed = 0;
  parts.data.read_bytes(lane.counter.device, lane.counter.view.part(0, sizeof executed), &executed);
  if (executed == static_cast<std::uint64_t>(lane.tasks)) return std::nullopt;
  return fmt::format("{} ran {} tasks, planned were {}", parts.plan.graph().lane(lane.lane).name,
                     executed, lane.tasks);
}

void add_tasks(CaseParts& parts, const SpinLane& lane) {
  for (std::int64_t i = 0; i < lane.tasks; ++i) {
    parts.plan.add({.name = fmt::format("spin {}", i), .lanes = {lane.lane}, .cost_key = "spin"},
                   {bind(*lane.spin, {{"counter", lane.counter.view}})});
  }
}

const std::vector<Strategy> selftest_strategies = {
    {"spin", "all tasks one after the other on one lane"},
    {"parallel", "the tasks distributed over lanes: one per device, or two on a single device"},
};

const std::vector<Axis> selftest_axes = {
    {.name = "tasks",
     .description = "tasks of one execution",
     .quick = {10},
     .published = {10},
     .max = 100000},
    {.name = "duration",
     .description = "time that one task spins",
     .kind = AxisKind::duration,
     .quick = {"1ms"},
     .published = {"1ms"},
     .min = 1e3,
     .max = 1e10},
    {.name = "noise",
     .description = "percent by which the duration varies, evenly to both sides",
     .kind = AxisKind::real,
     .quick = {0.0},
     .published = {0.0},
     .min = 0,
     .max = 100},
    {.name = "slowdown",
     .description = "percent by which every task exceeds its --duration",
     .kind = AxisKind::real,
     .quick = {0.0},
     .published = {0.0},
     .min = 0,
     .max = 1000,
     .identity = false},
};

/// Returns the number of lanes of a case: 1 for strategy spin, 2 on a single device, otherwise one
/// on each device; 0 if the case's memory is unknown. Its devices are those on which it holds
/// memory, because each lane has a counter there.
std::int64_t lanes_of(const CaseOutcome& outcome) {
  if (outcome.spec.strategy == "spin") return 1;
  const auto devices = std::ranges::count_if(outcome.memory, [](double held) { return held > 0; });
  return devices == 1 ? 2 : devices;
}

/// Returns the time of the tasks on the lane with the most tasks. Requires known lanes.
double expected_seconds(const CaseOutcome& outcome) {
  const std::int64_t tasks = outcome.spec.parameters.integer("tasks");
  const std::int64_t lanes = lanes_of(outcome);
  const std::int64_t longest = (tasks + lanes - 1) / lanes;
  return 1e-9 * static_cast<double>(longest) * nanoseconds_of_task(outcome.spec);
}

/// Returns the deviation of the median as a fraction of the expected time.
double deviation_of(const CaseOutcome& outcome) {
  return outcome.median_seconds / expected_seconds(outcome) - 1;
}

/// Maximum deviation of a measured time that counts as accurate, as a fraction of the expected
/// time.
constexpr double max_deviation = 0.01;

/// Returns the interval of the deviation; without an interval, the deviation of the median twice.
Interval deviations_of(const CaseOutcome& outcome) {
  if (!outcome.interval) return {deviation_of(outcome), deviation_of(outcome), 0};
  const double expected = expected_seconds(outcome);
  return {outcome.interval->low / expected - 1, outcome.interval->high / expected - 1,
          outcome.interval->confidence};
}

bool is_far(const Interval& deviations) {
  return !is_low(deviations) &&
         (deviations.low > max_deviation || deviations.high < -max_deviation);
}

bool is_near(const Interval& deviations) {
  return !is_low(deviations) && deviations.low >= -max_deviation &&
         deviations.high <= max_deviation;
}

/// Returns a key that is larger for worse cases: first for cases whose whole interval is outside of
/// the tolerance, then by the larger absolute deviation of the interval's ends.
auto badness(const CaseOutcome& outcome) {
  const Interval deviations = deviations_of(outcome);
  return std::tuple(is_far(deviations),
                    std::max(std::abs(deviations.low), std::abs(deviations.high)));
}

/// Minimum share of core time of other programs for the answer to mention it.
constexpr double noteworthy_load = 0.05;

/// Returns whether other programs, with at least 5% of the core time, can explain that a case is
/// not within the tolerance.
bool is_explained_by_load(const CaseOutcome& outcome) {
  const Interval deviations = deviations_of(outcome);
  return outcome.load >= noteworthy_load && !is_near(deviations) &&
         (1 + deviations.low) * (1 - outcome.load) <= 1 + max_deviation;
}

/// Returns the verdict: "Yes" if the whole interval is within 1%, "No" if it is outside; "No
/// verdict" if load can explain a deviation. Otherwise the accuracy is not known.
std::string_view verdict_on(const CaseOutcome& outcome) {
  const Interval deviations = deviations_of(outcome);
  if (is_explained_by_load(outcome)) return "No verdict";
  if (is_near(deviations)) return "Yes, within 1%";
  return is_far(deviations) ? "No, not within 1%" : "Not known within 1%";
}

/// Returns "+0.03%, −0.01 to +0.12%".
std::string deviation_text(const CaseOutcome& outcome) {
  std::string text = fmt::format("{:+.2f}%", 100 * deviation_of(outcome));
  if (!outcome.interval) return text;
  const Interval deviations = deviations_of(outcome);
  text += fmt::format(", {:+.2f} to {:+.2f}%", 100 * deviations.low, 100 * deviations.high);
  if (!is_low(deviations)) return text;
  return fmt::format("{} at {} confidence", text, format_confidence(deviations.confidence));
}

/// Returns " On 2 lanes 13.81 ms measured for 5.000 ms (+176.20%); other programs had 35% of the
/// core time." for the case on several lanes with the largest deviation; empty if none is far from
/// the expected time. Cases with fewer cores than lanes are ignored, because lanes that share a
/// core take longer.
std::string several_lanes_text(const std::vector<CaseOutcome>& outcomes) {
  const CaseOutcome* worst = nullptr;
  for (const CaseOutcome& outcome : outcomes) {
    const auto lanes = static_cast<std::size_t>(lanes_of(outcome));
    if (lanes < 2 || (outcome.cores > 0 && outcome.cores < lanes)) continue;
    if (!is_far(deviations_of(outcome))) continue;
    if (worst == nullptr || badness(outcome) > badness(*worst)) worst = &outcome;
  }
  if (worst == nullptr) return {};
  return fmt::format(
      " On {} lanes {} measured for {} ({}){}.", lanes_of(*worst),
      format_duration(worst->median_seconds), format_duration(expected_seconds(*worst)),
      deviation_text(*worst),
      worst->load >= noteworthy_load
          ? fmt::format("; other programs had {} of the core time", format_percent(worst->load, 0))
          : "");
}

class Selftest final : public Scenario {
 public:
  std::string_view name() const override { return "selftest"; }
  std::string_view question() const override {
    return "Does the harness recover a time that is known beforehand?";
  }
  const std::vector<Strategy>& strategies() const override { return selftest_strategies; }
  const std::vector<Axis>& axes() const override { return selftest_axes; }
  std::string_view baseline() const override { return "spin"; }

  std::unique_ptr<Case> prepare(const CaseSpec& spec, Context& context) const override {
    auto parts = std::make_unique<CaseParts>(context);
    const std::vector<LaneId> lanes = add_lanes(*parts, spec.strategy);
    const std::int64_t total = spec.parameters.integer("tasks");
    const auto shares = split_evenly(total, static_cast<int>(lanes.size()));
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      SpinLane lane;
      lane.lane = lanes[i];
      lane.tasks = shares[i];
      lane.spin = &parts->ops.prepare(stream_of(*parts, lane.lane),
                                      spin_of(spec, context, static_cast<int>(i)));
      lane.counter = parts->data.tensor(device_of(*parts, lane.lane), lane.spin->tensor("counter"));
      parts->data.zero(lane.counter);
      add_tasks(*parts, lane);
      parts->checks.push_back(
          {"executed tasks counted", [&all = *parts, lane] { return check_counter(all, lane); }});
    }
    const double expected = static_cast<double>(shares.front()) * 1e-9 * nanoseconds_of_task(spec);
    parts->notes.emplace_back("expected_seconds", fmt::format("{:.9g}", expected));
    parts->amount = {static_cast<double>(total), "tasks"};
    return make_case(std::move(parts));
  }

  Conclusion answer(const std::vector<CaseOutcome>& outcomes,
                    const PossiblyFastest& /*possibly_fastest*/) const override {
    const CaseOutcome* worst = nullptr;
    int count = 0;
    for (const CaseOutcome& outcome : outcomes) {
      if (outcome.spec.strategy != "spin") continue;
      ++count;
      if (worst == nullptr || badness(outcome) > badness(*worst)) worst = &outcome;
    }
    if (worst == nullptr) {
      return {.text = "Not decided: no case on one lane was measured.", .is_answered = false};
    }
    return {
        fmt::format("{}: on one lane {} measured for {} ({}){}{}.", verdict_on(*worst),
                    format_duration(worst->median_seconds),
                    format_duration(expected_seconds(*worst)), deviation_text(*worst),
                    count > 1 ? fmt::format(", the largest deviation of {} cases", count) : "",
                    is_explained_by_load(*worst)
                        ? fmt::format("; other programs had {} of the core time: repeat on a quiet "
                                      "machine",
                                      format_percent(worst->load, 0))
                        : "") +
        several_lanes_text(outcomes)};
  }
};

}  // namespace

std::unique_ptr<Scenario> make_selftest() { return std::make_unique<Selftest>(); }

}  // namespace parbench
