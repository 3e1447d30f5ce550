#include "bench/sampling/conditions/conditions.h"

#include <algorithm>

namespace parbench {
namespace {

using report::SampleCondition;

void add_reason(std::vector<std::string>& reasons, const std::string& reason) {
  if (std::ranges::find(reasons, reason) == reasons.end()) reasons.push_back(reason);
}

bool has_risen(const ThrottleCounter& counter, const Condition& before) {
  const auto known =
      std::ranges::find(before.throttle_counters, counter.reason, &ThrottleCounter::reason);
  return known != before.throttle_counters.end() && counter.count > known->count;
}

/// Returns the clock of a device; nothing if the device was idle.
std::optional<double> working_clock(const Condition& condition) {
  return condition.resting ? std::nullopt : condition.clock_mhz;
}

std::vector<std::string> throttles(const Condition& before, const Condition& after) {
  std::vector<std::string> reasons;
  for (const Condition* reading : {&before, &after}) {
    for (const std::string& reason : reading->throttled_by) add_reason(reasons, reason);
  }
  for (const ThrottleCounter& counter : after.throttle_counters) {
    if (has_risen(counter, before)) add_reason(reasons, counter.reason);
  }
  const auto clock = std::max(working_clock(before), working_clock(after));
  const auto full = std::max(before.full_clock_mhz, after.full_clock_mhz);
  if (clock && full && *clock < min_clock_share * *full) add_reason(reasons, "low clock");
  return reasons;
}

std::optional<report::ThreadUse> thread_use(const Condition& before, const Condition& after,
                                            const Between& between) {
  if (!before.threads || !after.threads || after.threads->threads == 0) return {};
  if (between.seconds <= 0) return {};
  const auto rate = [&](auto member) {
    return static_cast<double>(after.threads.value().*member - before.threads.value().*member) /
           between.seconds;
  };
  const int threads = after.threads->threads;
  const double waiting = rate(&ThreadTimes::core_wait_seconds);
  const double wanted = waiting + rate(&ThreadTimes::core_seconds);
  report::ThreadUse use{.core_wait = waiting / threads,
                        .kernel = rate(&ThreadTimes::kernel_seconds) / threads,
                        .page_faults = rate(&ThreadTimes::page_faults),
                        .denied = wanted > 0 ? waiting / wanted : 0,
                        .others = {},
                        .threads = threads};
  if (between.others) use.others = *between.others / between.cores;
  return use;
}

}  // namespace

std::optional<SampleCondition> sample_condition(const std::string& device, const Condition& before,
                                                const Condition& after, const Between& between) {
  if (before == Condition{} && after == Condition{}) return std::nullopt;
  return SampleCondition{
      .device = device,
      .clock_mhz = std::max(before.clock_mhz, after.clock_mhz),
      .temperature_celsius = std::max(before.temperature_celsius, after.temperature_celsius),
      .power_watts = std::max(before.power_watts, after.power_watts),
      .throttled_by = throttles(before, after),
      .threads = thread_use(before, after, between)};
}

void ConditionWatch::before(const Plan& plan) {
  read_devices(plan);
  core_times_ = quota_.read();
}

void ConditionWatch::after(report::Sample& sample) {
  sample.quota_lost = withheld_share(core_times_, quota_.read());
  sample.conditions = conditions_since();
}

void ConditionWatch::read_devices(const Plan& plan) {
  readings_.clear();
  const double time = now_();
  if (!begin_) begin_ = time;
  if (spent_ > max_time_share * (time - *begin_)) return;
  for (const Stream* stream : plan.streams()) {
    const Device* device = &stream->device();
    auto reading = std::ranges::find(readings_, device, &Reading::device);
    if (reading == readings_.end()) reading = readings_.insert(reading, {device, {}, {}});
    reading->streams.push_back(stream);
  }
  for (Reading& reading : readings_) reading.before = timed_reading(reading);
  read_ = now_();
  use_ = timed_use();
}

std::vector<SampleCondition> ConditionWatch::conditions_since() {
  Between between{.seconds = now_() - read_};
  if (readings_.empty()) return {};
  between.others = used_by_others(use_, timed_use(), between.seconds);
  std::vector<SampleCondition> conditions;
  for (const Reading& reading : std::exchange(readings_, {})) {
    const std::size_t cores = reading.device->info().cores.size();
    between.cores = static_cast<double>(std::max<std::size_t>(1, cores));
    auto condition = sample_condition(reading.device->info().name, reading.before,
                                      timed_reading(reading), between);
    if (condition) conditions.push_back(std::move(*condition));
  }
  return conditions;
}

std::optional<CoreUse> ConditionWatch::timed_use() {
  const double begin = now_();
  const auto use = core_use(cores_, root_, own_);
  spent_ += now_() - begin;
  return use;
}

Condition ConditionWatch::timed_reading(const Reading& reading) {
  const double begin = now_();
  Condition condition = reading.device->condition();
  for (const Stream* stream : reading.streams) {
    const auto times = stream->thread_times();
    if (times) condition.threads = condition.threads.value_or(ThreadTimes{}) += *times;
  }
  spent_ += now_() - begin;
  return condition;
}

}  // namespace parbench
