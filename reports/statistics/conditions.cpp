// Summarises the readings of devices and CPU quota around the samples of a case.
#include "reports/statistics/conditions.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "reports/model/disturbances.h"
#include "reports/statistics/statistics.h"

namespace parbench::report {
namespace {

/// All readings of one device in a case, in the order of the samples.
using Conditions = std::vector<const SampleCondition*>;

/// Groups readings by device, in the order of first appearance.
std::vector<std::pair<std::string, Conditions>> by_device(const std::vector<Sample>& samples) {
  std::vector<std::pair<std::string, Conditions>> devices;
  for (const Sample& sample : samples) {
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

/// Returns the mean over the readings that have the field; nothing if none has.
template <class Field>
std::optional<double> mean_of(const Conditions& conditions, Field ThreadUse::*field) {
  double sum = 0;
  double count = 0;
  for (const SampleCondition* condition : conditions) {
    if (!condition->threads) continue;
    const std::optional<double> value = (*condition->threads).*field;
    if (!value) continue;
    sum += *value;
    ++count;
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

std::optional<ThreadUse> mean_use(const Conditions& conditions) {
  const std::optional<double> core_wait = mean_of(conditions, &ThreadUse::core_wait);
  if (!core_wait) return std::nullopt;
  ThreadUse mean{.core_wait = *core_wait,
                 .kernel = *mean_of(conditions, &ThreadUse::kernel),
                 .page_faults = *mean_of(conditions, &ThreadUse::page_faults),
                 .denied = mean_of(conditions, &ThreadUse::denied),
                 .others = mean_of(conditions, &ThreadUse::others)};
  for (const SampleCondition* condition : conditions) {
    if (condition->threads) mean.threads = std::max(mean.threads, condition->threads->threads);
  }
  return mean;
}

CaseCondition summary(const std::string& device, const Conditions& conditions) {
  std::vector<double> clocks;
  for (const SampleCondition* condition : conditions) {
    if (condition->clock_mhz) clocks.push_back(*condition->clock_mhz);
  }
  CaseCondition result{
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

bool is_marked(const Sample& sample) {
  return std::ranges::any_of(sample.conditions, [](const SampleCondition& condition) {
    return !condition.throttled_by.empty();
  });
}

std::vector<ThrottleReason> reasons_of(const std::vector<Sample>& samples) {
  std::vector<ThrottleReason> reasons;
  for (const auto& [name, conditions] : by_device(samples)) {
    const std::string& device = name;  // clang before 16 cannot capture structured bindings
    for (const SampleCondition* condition : conditions) {
      for (const std::string& reason : condition->throttled_by) {
        auto known = std::ranges::find_if(reasons, [&](const ThrottleReason& one) {
          return one.device == device && one.reason == reason;
        });
        if (known == reasons.end()) known = reasons.insert(known, {device, reason, 0});
        ++known->samples;
      }
    }
  }
  std::ranges::stable_sort(reasons, std::greater(), &ThrottleReason::samples);
  return reasons;
}

/// Returns the mean of the withheld shares of the samples, weighted by their time; 0 without
/// readings.
double quota_loss(const std::vector<Sample>& samples) {
  double lost = 0;
  double seconds = 0;
  for (const Sample& sample : samples) {
    if (!sample.quota_lost) continue;
    const double duration = sample.wall_seconds * static_cast<double>(sample.iterations);
    lost += *sample.quota_lost * duration;
    seconds += duration;
  }
  return seconds > 0 ? lost / seconds : 0;
}

/// Returns the seconds per second in which threads waited for a core, summed over the threads; the
/// denied share if the number of threads is unknown.
double waiting_of(const ThreadUse& use) {
  return use.threads > 0 ? use.threads * use.core_wait : use.denied.value_or(0);
}

/// Returns the share of the waits of a device's threads in which other programs had the core.
/// Programs that take the share t of the cores can delay one thread for t of the time, or all
/// threads together for t / (1 − t) of their running time: threads that wait for the same core lose
/// that time once. The result is at most the larger of both delays over the waits. Uses the means
/// over all samples, because a sample may be shorter than a clock tick, the unit in which the use
/// by other programs is counted.
double share_of_others(const CaseResult& measured, const std::string& device) {
  const auto found = std::ranges::find(measured.conditions, device, &CaseCondition::device);
  if (found == measured.conditions.end() || !found->threads) return 0;
  const double denied = found->threads->denied.value_or(0);
  const double waiting = waiting_of(*found->threads);
  if (denied <= 0 || waiting <= 0) return 0;
  const double taken = taken_by_others(*found->threads, measured.quota_lost);
  const double running = waiting * (1 - denied) / denied;
  const double max_cost = taken < 1 ? std::max(taken, taken / (1 - taken) * running) : waiting;
  return std::min(taken / denied, max_cost / waiting);
}

/// Returns the share of the time that load can have cost; nothing without readings of threads.
template <typename Conditions>
std::optional<double> load_cost(const CaseResult& measured, const Conditions& conditions) {
  constexpr double max_cost = 0.99;
  std::optional<double> cost;
  for (const auto& one : conditions) {
    if (!one.threads) continue;
    cost = cost.value_or(0) + share_of_others(measured, one.device) * waiting_of(*one.threads);
  }
  return cost ? std::optional(std::min(*cost, max_cost)) : std::nullopt;
}

}  // namespace

double load_cost(const CaseResult& measured) {
  return load_cost(measured, measured.conditions).value_or(0);
}

std::vector<Sample> samples_without_load(const CaseResult& measured) {
  const double mean = load_cost(measured);
  std::vector<Sample> samples = measured.samples;
  for (Sample& sample : samples) {
    sample.seconds *= 1 - load_cost(measured, sample.conditions).value_or(mean);
  }
  return samples;
}

void summarise_conditions(CaseResult& measured) {
  measured.conditions.clear();
  measured.throttling.reset();
  measured.quota_lost = quota_loss(measured.samples);
  for (const auto& [device, conditions] : by_device(measured.samples)) {
    measured.conditions.push_back(summary(device, conditions));
  }
  const auto marked = std::ranges::count_if(measured.samples, is_marked);
  if (marked == 0) return;
  const auto read = std::ranges::count_if(
      measured.samples, [](const Sample& sample) { return !sample.conditions.empty(); });
  const double share = static_cast<double>(marked) / static_cast<double>(read);
  measured.throttling = {.marked_samples = static_cast<int>(marked),
                         .read_samples = static_cast<int>(read),
                         .flagged = share > max_throttled_share,
                         .reasons = reasons_of(measured.samples)};
}

}  // namespace parbench::report
