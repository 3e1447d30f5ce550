// Searches the cases of a scenario by name and baseline.
#include "reports/statistics/answer_cases.h"

#include <algorithm>

namespace parbench::report {
namespace {

const CaseResult* find_case(const std::vector<CaseResult>& cases, const std::string& name) {
  const auto found = std::ranges::find(cases, name, &CaseResult::name);
  return found == cases.end() ? nullptr : &*found;
}

/// Returns the fastest of the cases that have the given baseline and divide the work; null if there
/// is none.
const CaseResult* fastest_division(const std::vector<CaseResult>& cases,
                                   const std::string& baseline) {
  const CaseResult* fastest = nullptr;
  for (const CaseResult& one : cases) {
    if (!has_number(one) || !one.speedup || one.speedup->baseline != baseline) continue;
    if (!divides_work(one)) continue;
    if (fastest == nullptr || one.speedup->value > fastest->speedup->value) fastest = &one;
  }
  return fastest;
}

/// Returns the case that represents a recommendation in findings; null if the report lacks it.
const CaseResult* explained_case(const Recommendation& found,
                                 const std::vector<CaseResult>& cases) {
  const CaseResult* used =
      found.candidates.empty() ? nullptr : find_case(cases, found.candidates.front().name);
  if (used != nullptr && divides_work(*used)) return used;
  if (found.gain) {
    if (const CaseResult* divided = fastest_division(cases, found.gain->baseline)) return divided;
  }
  return found.gaining ? find_case(cases, found.gaining->name) : used;
}

}  // namespace

bool divides_work(const CaseResult& one) {
  if (one.profile) {
    return std::ranges::count_if(one.profile->metrics.devices,
                                 [](const auto& device) { return device.compute > 0; }) > 1;
  }
  return std::ranges::count_if(one.memory,
                               [](const DeviceMemory& held) { return held.bytes > 0; }) > 1;
}

std::set<std::string> recommended_cases(const Answer& answer) {
  std::set<std::string> names;
  for (const Recommendation& one : answer.recommendations) {
    if (!one.candidates.empty()) names.insert(one.candidates.front().name);
  }
  return names;
}

std::set<std::string> cases_of_answer(const Answer& answer, const std::vector<CaseResult>& cases) {
  std::set<std::string> names;
  for (const Recommendation& one : answer.recommendations) {
    const CaseResult* explained = explained_case(one, cases);
    if (explained != nullptr) names.insert(explained->name);
  }
  return names;
}

}  // namespace parbench::report
