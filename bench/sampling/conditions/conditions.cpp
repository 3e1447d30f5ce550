// Readings around samples and what they mean.
#include "bench/sampling/conditions/conditions.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "reports/statistics/statistics.h"

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

/// While the device worked.
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
                        .denied = wanted > 0 ? waiting / wanted : 0};
  if (between.others) use.others = *between.others / between.cores;
  return use;
}

/// Every condition that a case has of one device, in the order of the samples.
using Conditions = std::vector<const SampleCondition*>;

/// By device, in the order in which they first appear.
std::vector<std::pair<std::string, Conditions>> by_device(
    const std::vector<report::Sample>& samples) {
  std::vector<std::pair<std::string, Conditions>> devices;
  for (const report::Sample& sample : samples) {
    for (const SampleCondition& condition : sample.conditions) {
      auto device =
          std::ranges::find(devices, condition.device, &std::pair<std::string, Conditions>::first);
      if (device == devices.end()) device = devices.insert(device, {condition.device, {}});
      device->second.push_back(&condition);
    }
  }
  return devices;
}

std::optional<double> highest(const Conditions& conditions,
                              std::optional<double> SampleCondition::*field) {
  std::optional<double> max;
  for (const SampleCondition* condition : conditions) max = std::max(max, condition->*field);
  return max;
}

/// Of those samples that have it.
std::optional<double> mean_of(const Conditions& conditions,
                              std::optional<double> report::ThreadUse::*field) {
  double sum = 0;
  double count = 0;
  for (const SampleCondition* condition : conditions) {
    if (!condition->threads || !((*condition->threads).*field)) continue;
    sum += *((*condition->threads).*field);
    ++count;
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

std::optional<report::ThreadUse> mean_use(const Conditions& conditions) {
  report::ThreadUse sum;
  double count = 0;
  for (const SampleCondition* condition : conditions) {
    if (!condition->threads) continue;
    sum.core_wait += condition->threads->core_wait;
    sum.kernel += condition->threads->kernel;
    sum.page_faults += condition->threads->page_faults;
    ++count;
  }
  if (count == 0) return std::nullopt;
  return report::ThreadUse{.core_wait = sum.core_wait / count,
                           .kernel = sum.kernel / count,
                           .page_faults = sum.page_faults / count,
                           .denied = mean_of(conditions, &report::ThreadUse::denied),
                           .others = mean_of(conditions, &report::ThreadUse::others)};
}

report::CaseCondition summary(const std::string& device, const Conditions& conditions) {
  std::vector<double> clocks;
  for (const SampleCondition* condition : conditions) {
    if (condition->clock_mhz) clocks.push_back(*condition->clock_mhz);
  }
  report::CaseCondition result{
      .device = device,
      .min_clock_mhz = {},
      .median_clock_mhz = {},
      .max_temperature_celsius = highest(conditions, &SampleCondition::temperature_celsius),
      .max_power_watts = highest(conditions, &SampleCondition::power_watts),
      .threads = mean_use(conditions)};
  if (!clocks.empty()) {
    result.min_clock_mhz = std::ranges::min(clocks);
    result.median_clock_mhz = median(clocks);
  }
  return result;
}

bool is_marked(const report::Sample& sample) {
  return std::ranges::any_of(sample.conditions, [](const SampleCondition& condition) {
    return !condition.throttled_by.empty();
  });
}

std::vector<report::ThrottleReason> reasons_of(const std::vector<report::Sample>& samples) {
  std::vector<report::ThrottleReason> reasons;
  for (const auto& [name, conditions] : by_device(samples)) {
    const std::string& device = name;  // for the lambda
    for (const SampleCondition* condition : conditions) {
      for (const std::string& reason : condition->throttled_by) {
        auto known = std::ranges::find_if(reasons, [&](const report::ThrottleReason& one) {
          return one.device == device && one.reason == reason;
        });
        if (known == reasons.end()) known = reasons.insert(known, {device, reason, 0});
        ++known->samples;
      }
    }
  }
  std::ranges::stable_sort(reasons, std::greater(), &report::ThrottleReason::samples);
  return reasons;
}

/// Mean over the time of the samples that have it; 0 where none has.
double quota_loss(const std::vector<report::Sample>& samples) {
  double lost = 0;
  double seconds = 0;
  for (const report::Sample& sample : samples) {
    if (!sample.quota_lost) continue;
    const double duration = sample.wall_seconds * static_cast<double>(sample.iterations);
    lost += *sample.quota_lost * duration;
    seconds += duration;
  }
  return seconds > 0 ? lost / seconds : 0;
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

void summarise_conditions(report::CaseResult& measured) {
  measured.conditions.clear();
  measured.throttling.reset();
  measured.quota_lost = quota_loss(measured.samples);
  for (const auto& [device, conditions] : by_device(measured.samples)) {
    measured.conditions.push_back(summary(device, conditions));
  }
  const auto marked = std::ranges::count_if(measured.samples, is_marked);
  if (marked == 0) return;
  const auto read = std::ranges::count_if(
      measured.samples, [](const report::Sample& sample) { return !sample.conditions.empty(); });
  const double share = static_cast<double>(marked) / static_cast<double>(read);
  measured.throttling = {.marked_samples = static_cast<int>(marked),
                         .read_samples = static_cast<int>(read),
                         .flagged = share > report::max_throttled_share,
                         .reasons = reasons_of(measured.samples)};
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
  const auto use = core_use(cores_);
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
