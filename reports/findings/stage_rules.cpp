// Rules about models that are divided among devices: their partition, micro-batches and memory.
#include "reports/findings/stage_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "kernels/base/units/units.h"
#include "reports/findings/communication_rules.h"
#include "reports/findings/dependency_rules.h"
#include "reports/findings/losses.h"
#include "reports/model/notes.h"
#include "scenarios/plan/graph.h"
#include "scenarios/plan/role.h"
#include "scenarios/plan/schedules/partition.h"
#include "scenarios/recommendation/recommendation.h"

namespace parbench::report {
namespace {

/// Returns the share of the devices' time in which they wait because the busiest one computes
/// longer than the mean.
double imbalance_share(const Profiled& one) {
  double max = 0;
  for (const DeviceMetrics& device : one.metrics().devices) max = std::max(max, device.compute);
  return std::min(one.bubble_share(), max / one.metrics().span - one.computing_share());
}

/// Returns the share of the devices' time that would be saved if calls had the rate that they have
/// with the largest micro-batches.
double lost_by_small_micro_batches(const Profiled& one, const ProfiledCases& all) {
  const Profiled* largest = all.largest_micro_batches(one);
  if (largest == nullptr || largest->compute_rate() <= 0) return 0;
  const double devices = one.computing_devices();
  return (1 - one.compute_rate() / largest->compute_rate()) * one.compute_seconds() /
         (devices * one.metrics().span);
}

/// Returns whether the layers of a case can compute micro-batches of fewer than `size` samples.
bool has_smaller_micro_batches(const CaseResult& one, std::int64_t size) {
  const std::string* min = find_note(one, min_micro_batch_note);
  if (min == nullptr) return size > 1;
  std::int64_t samples = 1;  // the note begins with this number
  std::from_chars(min->data(), min->data() + min->size(), samples);
  return size > samples;
}

/// Returns whether `one` takes at most 3% longer than `other`.
bool is_as_fast(const Profiled& one, const Profiled& other) {
  return one.of().statistics->median <= (1 + largest_tie) * other.of().statistics->median;
}

/// Returns whether a case has batch normalisation, whose results depend on the micro-batch size.
bool normalises_batches(const Profiled& one) {
  return std::ranges::any_of(one.metrics().calls, [](const CallMetrics& call) {
    return call.name.starts_with("batch_norm");
  });
}

/// Returns whether a case without micro-batches takes at most 3% longer with the same partition,
/// number format and number of computing devices.
bool is_as_fast_whole(const Profiled& one, const ProfiledCases& all) {
  const Roles& roles = all.roles();
  const Value* partition = roles.value(one.of(), Role::partition);
  return std::ranges::any_of(all.all(), [&](const Profiled& other) {
    const Value* own = roles.value(other.of(), Role::partition);
    return other.computing_devices() == one.computing_devices() &&
           other.of().dtype == one.of().dtype &&
           roles.value(other.of(), Role::micro_batch_size) == nullptr &&
           (own == nullptr) == (partition == nullptr) && (own == nullptr || *own == *partition) &&
           is_as_fast(other, one);
  });
}

/// Returns whether slower calls, launching and messages cost at least as much as bubbles, or the
/// case is launch-bound or `lost_by_parts` applies. Smaller micro-batches increase these costs,
/// because each micro-batch has its own calls and messages.
bool loses_by_small_calls(const Profiled& one, const ProfiledCases& all) {
  const std::optional<Losses>& lost = one.profile().losses;
  const double messages = lost && are_copies_messages(one) ? lost->copies : 0;
  if (lost && lost->slower_calls + lost->launch + messages >= lost->bubble) return true;
  return one.is_launch_bound() || lost_by_parts(one, all);
}

/// Returns the number of micro-batches in the timeline; 0 without one.
int micro_batches_of(const CaseResult& one) {
  int count = 0;
  if (!one.profile || !one.profile->timeline) return count;
  for (const Task& task : one.profile->timeline->graph.tasks) {
    if (task.micro_batch) count = std::max(count, *task.micro_batch + 1);
  }
  return count;
}

}  // namespace

std::optional<Remark> only_cut(const CaseResult& one, const Roles& /*roles*/) {
  const std::string* cut = find_note(one, only_cut_note);
  if (cut == nullptr) return {};
  const auto stages = static_cast<std::size_t>(std::ranges::count(*cut, '+')) + 2;
  constexpr double costly_imbalance = 0.10;  // min share of the devices' time
  const bool is_cause = one.profile && imbalance_share(Profiled(one)) >= costly_imbalance &&
                        !Profiled(one).is_launch_bound();
  return Remark{
      fmt::format("the model can only be cut at {}, so there is no other partition into {} stages",
                  *cut, stages),
      is_cause ? "data parallelism, which divides the batch and not the model" : "",
      {{"cut", *cut}}};
}

std::optional<Remark> unbalanced(const Profiled& one, const ProfiledCases& all) {
  const auto busiest = busiest_device(one);
  if (!busiest) return {};
  return Remark{fmt::format("{} computes {} longer than the mean of {} devices", busiest->device,
                            format_percent(busiest->excess, 0), one.computing_devices()),
                find_note(one.of(), only_cut_note) == nullptr
                    ? all.roles().untried_advice(one.of(), Role::partition)
                    : "",
                {{"device", busiest->device}, {"excess", busiest->excess}},
                busiest->excess * busiest->mean / one.metrics().span};
}

std::optional<Remark> micro_batches_too_small(const Profiled& one, const ProfiledCases& all) {
  const Profiled* largest = all.largest_micro_batches(one);
  if (largest == nullptr || one.compute_rate() <= 0) return {};
  const double rate = one.compute_rate();
  const double best = largest->compute_rate();
  constexpr double min_loss = 0.10;  // min loss of computing rate
  if (best <= 0 || rate > (1 - min_loss) * best) return {};
  const double share = lost_by_small_micro_batches(one, all);
  if (share < one.bubble_share()) return {};
  const Roles& roles = all.roles();
  const auto largest_size = roles.micro_batch_size(largest->of());
  // The largest measured size may have no profile.
  const auto sizes = roles.measured_micro_batches(one.of());
  const auto own = sizes.find(*roles.micro_batch_size(one.of()));
  const bool is_next = std::distance(own, sizes.end()) == 2;
  const bool has_size_between = is_next && *sizes.rbegin() - *own > 1;
  return Remark{fmt::format("its micro-batches compute at {}, {} less than with {} {}",
                            format_rate(rate, "FLOP"), format_percent(1 - rate / best, 0),
                            roles.parameter(Role::micro_batch_size), *largest_size),
                has_size_between ? "larger micro-batches, as far as bubbles allow" : "",
                {{"rate", rate}, {"rate with the largest micro-batches", best}},
                share};
}

std::optional<Remark> micro_batches_too_few(const Profiled& one, const ProfiledCases& all) {
  const auto size = all.roles().micro_batch_size(one.of());
  if (all.roles().value(one.of(), Role::micro_batch_size) == nullptr || size == 1) return {};
  if (one.computing_devices() < 2) return {};
  constexpr double min_share = 0.10;  // min share of the devices' time that bubbles take
  const double share = one.bubble_share();
  if (share < min_share || share <= lost_by_small_micro_batches(one, all)) return {};
  const auto sizes = all.roles().measured_micro_batches(one.of());
  const bool is_smallest = size && !sizes.empty() && *sizes.begin() == *size;
  const Profiled* largest = all.largest_micro_batches(one);
  const bool is_useless = (largest != nullptr && is_as_fast(*largest, one)) ||
                          is_as_fast_whole(one, all) || loses_by_small_calls(one, all);
  // The size of micro-batches does not change imbalance.
  const bool is_unbalanced = imbalance_share(one) > share / 2;
  return Remark{
      fmt::format("devices are idle for {} of the time: {}", format_percent(share, 0),
                  is_unbalanced ? "mostly imbalance" : "bubbles and imbalance"),
      is_smallest && !is_useless && !is_unbalanced && has_smaller_micro_batches(one.of(), *size)
          ? fmt::format("smaller micro-batches, as far as their calls stay efficient{}",
                        normalises_batches(one) ? " and batch normalisation of fewer samples is "
                                                  "acceptable"
                                                : "")
          : "",
      {{"bubble share", share}},
      share};
}

std::optional<Remark> uneven_memory(const CaseResult& one, const Roles& roles) {
  const int devices = one.profile ? Profiled(one).computing_devices() : 0;
  if (one.profile && devices < 2) return {};
  const DeviceMemory* largest = nullptr;
  const DeviceMemory* smallest = nullptr;
  for (const DeviceMemory& memory : one.memory) {
    if (memory.bytes == 0) continue;
    if (largest == nullptr || memory.bytes > largest->bytes) largest = &memory;
    if (smallest == nullptr || memory.bytes < smallest->bytes) smallest = &memory;
  }
  if (largest == nullptr) return {};
  const double ratio = static_cast<double>(largest->bytes) / static_cast<double>(smallest->bytes);
  constexpr double uneven_ratio = 2;          // min ratio between two devices
  constexpr double noteworthy_memory = 0.01;  // min share of a device's memory that a case holds
  if (ratio < uneven_ratio) return {};
  const std::size_t memory = roles.device_memory(largest->device);
  if (static_cast<double>(largest->bytes) < noteworthy_memory * static_cast<double>(memory)) {
    return {};
  }
  std::vector<std::string> advice;
  const bool has_choice =
      roles.value(one, Role::partition) != nullptr && find_note(one, only_cut_note) == nullptr;
  if (has_choice && !roles.is_varied(Role::partition)) {
    advice.emplace_back("a partition that gives the fuller device less");
  }
  const std::string schedule = roles.untried_advice(one, Role::schedule);
  if (!schedule.empty() && micro_batches_of(one) > devices) {
    advice.push_back(schedule + ", which needs less memory in all");
  }
  return Remark{fmt::format("{} holds {}, {} holds {}", largest->device,
                            format_bytes(static_cast<double>(largest->bytes)), smallest->device,
                            format_bytes(static_cast<double>(smallest->bytes))),
                fmt::format("{}", fmt::join(advice, "; ")),
                {{"ratio", ratio}},
                0,
                ratio};
}

}  // namespace parbench::report
