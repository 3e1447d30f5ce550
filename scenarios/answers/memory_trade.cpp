// Compares pairs of cases that differ in one choice only.
#include "scenarios/answers/memory_trade.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <vector>

#include "kernels/base/units/units.h"
#include "scenarios/answers/best_strategy.h"
#include "scenarios/answers/wording.h"
#include "scenarios/framework/requests.h"

namespace parbench {
namespace {

/// An axis that trades memory for time, and the value with which its other values are compared.
struct MemoryChoice {
  std::string_view name;  // "recompute"
  std::string usual;      // "none"
};

/// Two cases that differ only in the choice.
struct MemoryPair {
  const CaseOutcome* usual = nullptr;
  const CaseOutcome* other = nullptr;

  [[nodiscard]] double time() const { return other->median_seconds / usual->median_seconds; }
  [[nodiscard]] double memory() const {
    return std::ranges::max(other->memory) / std::ranges::max(usual->memory);
  }
};

using PairsByValue = std::map<std::string, std::vector<MemoryPair>>;

std::string value_of(const CaseSpec& spec, std::string_view name) {
  const Value* value = spec.parameters.find(name);
  return value == nullptr ? std::string() : to_string(*value);
}

bool is_known(const CaseOutcome& one) {
  return one.median_seconds > 0 && !one.memory.empty() && std::ranges::max(one.memory) > 0;
}

CaseSpec without(const CaseSpec& spec, const MemoryChoice& choice) {
  return with_strategy(spec, spec.strategy, {choice.name});
}

PairsByValue pairs_of(const Outcomes& outcomes, const MemoryChoice& choice) {
  PairsByValue pairs;
  for (const CaseOutcome* usual : outcomes) {
    if (value_of(usual->spec, choice.name) != choice.usual || !is_known(*usual)) continue;
    for (const CaseOutcome* other : outcomes) {
      const std::string value = value_of(other->spec, choice.name);
      if (value.empty() || value == choice.usual || !is_known(*other)) continue;
      if (without(usual->spec, choice) == without(other->spec, choice)) {
        pairs[value].push_back({usual, other});
      }
    }
  }
  return pairs;
}

/// Returns whether all pairs do the same work (equal parameters `work`, format and capture), so
/// that their times can be compared.
bool is_one_work(const PairsByValue& pairs, const std::vector<std::string_view>& work) {
  Outcomes usual;
  for (const auto& [value, list] : pairs) {
    for (const MemoryPair& pair : list) usual.push_back(pair.usual);
  }
  return same_work(usual, work).size() == 1;
}

/// Returns "41 + 133 MiB", the memory of each device; for more than four devices "133 MiB a device
/// at most".
std::string memory_text(const CaseOutcome& one) {
  constexpr std::size_t max_listed = 4;
  if (one.memory.size() <= max_listed) return format_bytes(one.memory);
  return fmt::format("{} a device at most", format_bytes(std::ranges::max(one.memory)));
}

std::string amounts(const CaseOutcome& one, std::string_view of_memory = "") {
  return fmt::format("{}, {}{}", format_duration(one.median_seconds), of_memory, memory_text(one));
}

/// Returns time and memory of the fastest case with the usual value, and of the cases that differ
/// from that case only in this value.
std::string of_fastest(const PairsByValue& pairs, const MemoryChoice& choice,
                       const std::function<std::string(const CaseSpec&)>& label) {
  const MemoryPair* fastest = nullptr;
  for (const auto& [value, list] : pairs) {
    for (const MemoryPair& pair : list) {
      if (fastest == nullptr || pair.usual->median_seconds < fastest->usual->median_seconds) {
        fastest = &pair;
      }
    }
  }
  std::vector<std::string> texts{fmt::format(
      "{} {} ({}): {}", with_capital(choice.name), choice.usual,
      label(without(fastest->usual->spec, choice)), amounts(*fastest->usual, "peak memory "))};
  for (const auto& [value, list] : pairs) {
    const auto own = std::ranges::find(list, fastest->usual, &MemoryPair::usual);
    if (own != list.end()) texts.push_back(fmt::format("{}: {}", value, amounts(*own->other)));
  }
  return fmt::format("{}.", fmt::join(texts, "; "));
}

/// Returns "1.20× to 1.45×", or "1.31×" for a single ratio.
std::string ratios_text(const std::vector<MemoryPair>& pairs, double (MemoryPair::*ratio)() const) {
  const auto of_pair = [&](const MemoryPair& pair) { return (pair.*ratio)(); };
  const auto [min, max] = std::ranges::minmax_element(pairs, {}, of_pair);
  return range_text(format_ratio(of_pair(*min)), format_ratio(of_pair(*max)));
}

std::string ranges(const PairsByValue& pairs, const MemoryChoice& choice) {
  std::vector<std::string> texts;
  for (const auto& [value, list] : pairs) {
    texts.push_back(
        fmt::format("{} {}: {} the time of {} and {} its peak memory on the fullest device",
                    choice.name, value, ratios_text(list, &MemoryPair::time), choice.usual,
                    ratios_text(list, &MemoryPair::memory)));
  }
  return with_capital(fmt::format("{}.", fmt::join(texts, "; ")));
}

}  // namespace

std::string memory_trade_text(const Scenario& scenario, const Axis& axis, const Outcomes& outcomes,
                              const std::function<std::string(const CaseSpec&)>& label) {
  const MemoryChoice choice{axis.name, to_string(axis.quick.front())};
  const PairsByValue pairs = pairs_of(outcomes, choice);
  if (pairs.empty()) return {};
  std::vector<std::string_view> work = common_axes(scenario);
  std::erase(work, choice.name);
  return is_one_work(pairs, work) ? of_fastest(pairs, choice, label) : ranges(pairs, choice);
}

}  // namespace parbench
