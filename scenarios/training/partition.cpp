// Parses partitions, and selects one by the costs of units.
#include "scenarios/training/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "kernels/base/error.h"
#include "scenarios/framework/suggest.h"
#include "scenarios/training/question/step_choice.h"
#include "scenarios/training/unit_costs.h"

namespace parbench {

namespace {

int unit_named(const Network& network, std::string_view word) {
  const auto found = std::ranges::find(network.units, word);
  if (found == network.units.end() || found == network.units.begin()) {
    std::vector<std::string> known{"published", "balanced"};
    known.insert(known.end(), network.units.begin() + 1, network.units.end());
    throw UsageError(
        fmt::format("--partition: '{}' starts no later stage of {}{}\nallowed are published, "
                    "balanced, or units "
                    "joined by '+': {}",
                    word, network.name, did_you_mean(word, known),
                    fmt::join(network.units.begin() + 1, network.units.end(), ", ")));
  }
  return static_cast<int>(found - network.units.begin());
}

std::string units_text(int count) { return count == 1 ? "1 unit" : fmt::format("{} units", count); }

}  // namespace

std::vector<int> named_partition(const Network& network, std::string_view text, int stages) {
  std::vector<int> partition;
  if (text == "published") {
    if (static_cast<int>(network.published_partition.size()) != stages - 1) {
      throw UsageError(
          fmt::format("--partition: no published partition of {} in {} stages; use "
                      "balanced, or name {} of: {}",
                      network.name, stages, units_text(stages - 1),
                      fmt::join(network.units.begin() + 1, network.units.end(), ", ")));
    }
    for (const std::string& unit : network.published_partition)
      partition.push_back(unit_named(network, unit));
  } else {
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find('+', begin), text.size());
      partition.push_back(unit_named(network, text.substr(begin, end - begin)));
      begin = end + 1;
    }
  }
  if (static_cast<int>(partition.size()) != stages - 1) {
    throw UsageError(fmt::format("--partition: '{}' makes {} stages, but there are {}; name {}",
                                 text, partition.size() + 1, stages, units_text(stages - 1)));
  }
  if (std::ranges::adjacent_find(partition, std::greater_equal<>()) != partition.end()) {
    throw UsageError(fmt::format(
        "--partition: the units of '{}' are not different ones in ascending order, which is {}",
        text, fmt::join(network.units.begin() + 1, network.units.end(), ", ")));
  }
  return partition;
}

std::vector<LayerRange> stages_of(const Network& network, const std::vector<int>& partition) {
  std::vector<LayerRange> ranges = {{.first = 0, .last = 0}};
  for (int index = 0; index < static_cast<int>(network.layers.size()); ++index) {
    const int unit = network.layers[static_cast<std::size_t>(index)].unit;
    const bool starts = ranges.size() <= partition.size() && unit == partition[ranges.size() - 1];
    if (starts) ranges.push_back({.first = index, .last = index});
    ranges.back().last = index;
  }
  return ranges;
}

std::string default_partition(const Network& network, int stages) {
  const bool published = static_cast<int>(network.published_partition.size()) == stages - 1;
  return published ? "published" : "balanced";
}

std::string units_text(const Network& network, const std::vector<int>& partition) {
  std::vector<std::string> names;
  for (const int unit : partition) names.push_back(network.units[static_cast<std::size_t>(unit)]);
  return fmt::format("{}", fmt::join(names, "+"));
}

void add_cut_notes(const Network& network, const std::vector<int>& partition,
                   std::vector<std::pair<std::string, std::string>>& notes) {
  const std::string cut = units_text(network, partition);
  notes.emplace_back(cut_note, cut);
  if (partition.size() + 1 == network.units.size()) notes.emplace_back(only_cut_note, cut);
}

namespace {

/// A partition counts as equal to the fastest one if its slowest stage takes at most this share
/// longer. Cases are tied within the same share.
constexpr double equal_within = 0.03;

/// Returns the partition that an earlier run used for the case `name`, if it is known and valid.
std::optional<std::vector<int>> known_partition(const Context& context, const Network& network,
                                                const std::string& name, int stages) {
  const auto known = context.options().known_cuts.find(name);
  if (known == context.options().known_cuts.end()) return std::nullopt;
  try {
    return named_partition(network, known->second, stages);
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

/// Returns the key (Context::measured) of the partition that cases with the same network and equal
/// devices share.
std::string sweep_key(const Context& context, const Network& network,
                      const std::vector<int>& devices) {
  std::string key = fmt::format("of {} {}", network.name, to_string(network.input));
  for (const int device : devices) {
    const DeviceInfo& info = context.device(device).info();
    key += fmt::format(" on {} {}", info.backend, info.hardware);
  }
  return key;
}

/// Returns the first partition that an earlier case has recorded under this key and whose slowest
/// stage takes at most the share `tolerance` longer than that of the fastest partition. If there is
/// none, records and returns the one of these partitions that is balanced by estimates.
std::vector<int> agreed_partition(Context& context, int device, const std::string& key,
                                  const StepCosts& costs, double tolerance) {
  const double fastest = slowest_stage(costs.measured, balanced_partition(costs.measured));
  const double limit = fastest * (1 + tolerance);
  for (int number = 0;; ++number) {
    bool is_new = false;
    const std::vector<double>& units =
        context.measured(fmt::format("partition {} {}", number, key), device, [&] {
          is_new = true;
          const auto own = balanced_partition_within(costs.measured, limit, costs.estimated);
          return std::vector<double>(own.begin(), own.end());
        });
    const std::vector<int> partition(units.begin(), units.end());
    if (is_new || slowest_stage(costs.measured, partition) <= limit) return partition;
  }
}

}  // namespace

std::vector<int> chosen_partition(Context& context, const Network& network, const CaseSpec& spec,
                                  const std::vector<int>& devices,
                                  const std::vector<std::int64_t>& micro_batches) {
  const std::string& kind = spec.parameters.text("partition");
  const int stages = static_cast<int>(devices.size());
  if (kind != "balanced") return named_partition(network, kind, stages);
  if (auto known = known_partition(context, network, spec.name(), stages)) return *std::move(known);
  constexpr std::int64_t max_samples = 16;
  const UnitRun run{.dtype = spec.dtype,
                    .math = spec.math,
                    .samples = std::min(micro_batches.front(), max_samples),
                    .accumulate = micro_batches.size() > 1,
                    .recompute = recomputes(spec.parameters)};
  const std::int64_t batch = std::reduce(micro_batches.begin(), micro_batches.end());
  const StepCosts costs = step_costs(context, network, devices, run, batch);
  return agreed_partition(context, devices.front(), sweep_key(context, network, devices), costs,
                          std::max(equal_within, costs.uncertainty));
}

}  // namespace parbench
