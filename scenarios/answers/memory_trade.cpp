// Compares pairs of cases that differ in one choice only.
#include "scenarios/answers/memory_trade.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "kernels/base/units/units.h"

namespace parbench {
namespace {

/// A case with a value of the choice, and the same case with the usual value.
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

/// Returns whether two cases differ only in the choice.
bool is_same_but(std::string_view choice, const CaseSpec& one, const CaseSpec& other) {
  if (one.strategy != other.strategy || one.format() != other.format() ||
      one.graph != other.graph) {
    return false;
  }
  const auto has_all_of = [&](const CaseSpec& has, const CaseSpec& of) {
    return std::ranges::all_of(of.parameters, [&](const Parameter& parameter) {
      const Value* value = has.parameters.find(parameter.name);
      return parameter.name == choice || (value != nullptr && *value == parameter.value);
    });
  };
  return has_all_of(one, other) && has_all_of(other, one);
}

PairsByValue pairs_of(const std::vector<CaseOutcome>& outcomes, const MemoryChoice& choice) {
  PairsByValue pairs;
  for (const CaseOutcome& usual : outcomes) {
    if (value_of(usual.spec, choice.name) != choice.usual || !is_known(usual)) continue;
    for (const CaseOutcome& other : outcomes) {
      const std::string value = value_of(other.spec, choice.name);
      if (value.empty() || value == choice.usual || !is_known(other)) continue;
      if (is_same_but(choice.name, usual.spec, other.spec))
        pairs[value].push_back({&usual, &other});
    }
  }
  return pairs;
}

/// Returns whether all cases do the same work, so that their times can be compared.
bool is_one_work(const PairsByValue& pairs, const MemoryChoice& choice) {
  std::map<std::string_view, std::set<std::string>> values;
  for (const auto& [value, list] : pairs) {
    for (const MemoryPair& pair : list) {
      values["dtype"].emplace(to_string(pair.usual->spec.format()));
      for (const std::string_view name : choice.work) {
        values[name].insert(value_of(pair.usual->spec, name));
      }
    }
  }
  return std::ranges::all_of(values, [](const auto& one) { return one.second.size() == 1; });
}

std::string with_capital(std::string text) {
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text;
}

/// Returns the memory of each device; with many devices, the largest.
std::string memory_text(const CaseOutcome& one) {
  constexpr std::size_t max_listed = 4;
  if (one.memory.size() <= max_listed) return format_bytes(one.memory);
  return fmt::format("{} on the fullest device", format_bytes(std::ranges::max(one.memory)));
}

std::string amounts(const CaseOutcome& one, std::string_view of_memory = "") {
  return fmt::format("{}, {}{}", format_duration(one.median_seconds), of_memory, memory_text(one));
}

/// Returns times and memory of the fastest case.
std::string of_fastest(const PairsByValue& pairs, const MemoryChoice& choice,
                       const std::function<std::string(const CaseSpec&)>& place) {
  const MemoryPair* fastest = nullptr;
  for (const auto& [value, list] : pairs) {
    for (const MemoryPair& pair : list) {
      if (fastest == nullptr || pair.usual->median_seconds < fastest->usual->median_seconds) {
        fastest = &pair;
      }
    }
  }
  std::vector<std::string> texts{fmt::format("{} {} {}: {}", with_capital(std::string(choice.name)),
                                             choice.usual, place(fastest->usual->spec),
                                             amounts(*fastest->usual, "peak memory "))};
  for (const auto& [value, list] : pairs) {
    const auto own = std::ranges::find(list, fastest->usual, &MemoryPair::usual);
    if (own != list.end()) texts.push_back(fmt::format("{}: {}", value, amounts(*own->other)));
  }
  return fmt::format("{}.", fmt::join(texts, "; "));
}

/// Returns "1.20× to 1.45×", or "1.31×" for a single ratio.
std::string range_text(const std::vector<MemoryPair>& pairs, double (MemoryPair::*ratio)() const) {
  const auto of_pair = [&](const MemoryPair& pair) { return (pair.*ratio)(); };
  const auto [min, max] = std::ranges::minmax_element(pairs, {}, of_pair);
  const std::string low = format_ratio(of_pair(*min));
  const std::string high = format_ratio(of_pair(*max));
  return low == high ? low : fmt::format("{} to {}", low, high);
}

std::string ranges(const PairsByValue& pairs, const MemoryChoice& choice) {
  std::vector<std::string> texts;
  for (const auto& [value, list] : pairs) {
    texts.push_back(fmt::format(
        "{} {}: {} the time of {} and {} its peak memory on the fullest device", choice.name, value,
        range_text(list, &MemoryPair::time), choice.usual, range_text(list, &MemoryPair::memory)));
  }
  return with_capital(fmt::format("{}.", fmt::join(texts, "; ")));
}

}  // namespace

std::string memory_trade_text(const std::vector<CaseOutcome>& outcomes, const MemoryChoice& choice,
                              const std::function<std::string(const CaseSpec&)>& place) {
  const PairsByValue pairs = pairs_of(outcomes, choice);
  if (pairs.empty()) return {};
  return is_one_work(pairs, choice) ? of_fastest(pairs, choice, place) : ranges(pairs, choice);
}

}  // namespace parbench
