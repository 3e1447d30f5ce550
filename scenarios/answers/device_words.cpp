// Looks up the cores of cases, and the fastest case of a group that divides its work.
#include "scenarios/answers/device_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/base/units/units.h"
#include "scenarios/answers/wording.h"

namespace parbench {
namespace {

/// Returns the fastest case that divides the work; null if there is none.
const CaseOutcome* fastest_division(const Outcomes& group) {
  const CaseOutcome* fastest = nullptr;
  for (const CaseOutcome* one : group) {
    if (!one->speedup || uses_all_cores(one->spec)) continue;
    if (fastest == nullptr || one->speedup->value > fastest->speedup->value) fastest = one;
  }
  return fastest;
}

}  // namespace

std::string one_device_text(const std::vector<CaseOutcome>& outcomes, std::string_view strategy) {
  const auto found = std::ranges::find(outcomes, strategy,
                                       [](const CaseOutcome& one) { return one.spec.strategy; });
  return found != outcomes.end() && found->cores == 1 ? "one core" : "one device";
}

std::string whole_device_text(const std::vector<CaseOutcome>& outcomes) {
  const auto found = std::ranges::find_if(
      outcomes, [](const CaseOutcome& one) { return uses_all_cores(one.spec); });
  if (found == outcomes.end() || found->cores == 0) return "the whole GPU";
  return found->cores == 2 ? "one device with both cores"
                           : fmt::format("one device with all {} cores", found->cores);
}

std::string whole_device_comparison(const Outcomes& group, const Recommendation& found,
                                    const std::vector<CaseOutcome>& outcomes,
                                    const std::function<std::string(const CaseSpec&)>& label) {
  const auto whole = std::ranges::find_if(
      group, [](const CaseOutcome* one) { return one->speedup && uses_all_cores(one->spec); });
  if (whole == group.end()) return {};
  const auto is_tied = [&](const CaseOutcome* one) {
    const std::string name = one->spec.name();
    return std::ranges::find(found.tied, name, &LabelledCase::name) != found.tied.end();
  };
  const std::string name = (*whole)->spec.name();
  if (found.candidates.front().name != name) {
    if (is_tied(*whole) || (found.gaining && found.gaining->name == name)) return {};
    return fmt::format(" {}: {}.", with_capital(whole_device_text(outcomes)),
                       format_ratio(*(*whole)->speedup));
  }
  const CaseOutcome* divided = fastest_division(group);
  if (divided == nullptr || is_tied(divided)) return {};
  return fmt::format(" The fastest that divides the work: {}, {}.", label(divided->spec),
                     format_ratio(*divided->speedup));
}

}  // namespace parbench
