// Compares parameters first, then plans.
#include "bench/sampling/equal_cases.h"

#include <algorithm>

namespace parbench {
namespace {

/// Returns whether two cases have the same value of a parameter, or neither has one.
bool has_same_value(const Axis& axis, const CaseSpec& one, const CaseSpec& other) {
  const auto value_of = [&](const CaseSpec& spec) {
    return (axis.identity ? spec.parameters : spec.hidden).find(axis.name);
  };
  const Value* value = value_of(one);
  const Value* counterpart = value_of(other);
  if (value == nullptr || counterpart == nullptr) return value == counterpart;
  return *value == *counterpart;
}

}  // namespace

EqualCases::EqualCases(const Scenario& scenario, const std::vector<CaseSpec>& specs,
                       const std::vector<Comparisons>& comparisons)
    : scenario_(scenario), specs_(specs), needed_(specs.size(), false) {
  for (const Comparisons& one : comparisons) {
    for (const std::size_t other : compared_with(one, [](std::size_t) { return true; })) {
      needed_[other] = true;
    }
  }
}

bool EqualCases::have_same_work(const CaseSpec& one, const CaseSpec& other) const {
  if (one.format() != other.format() || one.graph != other.graph) return false;
  return std::ranges::all_of(scenario_.axes(), [&](const Axis& axis) {
    return !axis.strategies.empty() || has_same_value(axis, one, other);
  });
}

std::optional<std::size_t> EqualCases::equal_to(
    std::size_t index, const std::function<const Plan*(std::size_t)>& plan_of) const {
  if (!scenario_.plans_show_all() || needed_[index]) return std::nullopt;
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    const Plan* plan = i == index ? nullptr : plan_of(i);
    if (plan == nullptr || !have_same_work(specs_[index], specs_[i])) continue;
    if (are_equal(*plan_of(index), *plan)) return i;
  }
  return std::nullopt;
}

}  // namespace parbench
