// Looks up the number of cores of cases, and the fastest case of a group that divides its work.
#include "scenarios/answers/device_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/base/units/units.h"
#include "scenarios/answers/wording.h"
#include "scenarios/framework/all_cores.h"

namespace parbench {
namespace {

/// Returns the number of host cores of the first case of a strategy; 0 if unknown.
std::size_t cores_of(const Outcomes& outcomes, std::string_view strategy) {
  const auto found = std::ranges::find(outcomes, strategy,
                                       [](const CaseOutcome* one) { return one->spec.strategy; });
  return found == outcomes.end() ? 0 : (*found)->cores;
}

}  // namespace

std::string one_device_text(const Outcomes& outcomes, std::string_view strategy) {
  return cores_of(outcomes, strategy) == 1 ? "one core" : "one device";
}

std::string whole_device_text(const Outcomes& outcomes) {
  const std::size_t cores = cores_of(outcomes, all_cores);
  if (cores == 0) return "the whole GPU";
  return cores == 2 ? "one device with both cores"
                    : fmt::format("one device with all {} cores", cores);
}

std::string whole_device_comparison(const Outcomes& group, const Recommendation& found,
                                    const std::function<std::string(const CaseSpec&)>& label) {
  const CaseOutcome* whole = fastest_where(group, uses_all_cores);
  if (whole == nullptr) return {};
  const auto is_tied = [&](const CaseOutcome* one) {
    const std::string name = one->spec.name();
    return std::ranges::find(found.tied, name, &LabelledCase::name) != found.tied.end();
  };
  const std::string name = whole->spec.name();
  if (found.candidates.front().name != name) {
    if (is_tied(whole) || (found.gaining && found.gaining->name == name)) return {};
    return fmt::format(" {}: {}.", with_capital(label(whole->spec)), format_ratio(*whole->speedup));
  }
  const CaseOutcome* divided =
      fastest_where(group, [](const CaseSpec& spec) { return !uses_all_cores(spec); });
  if (divided == nullptr || is_tied(divided)) return {};
  return fmt::format(" The fastest that divides the work: {}, {}.", label(divided->spec),
                     format_ratio(*divided->speedup));
}

}  // namespace parbench
