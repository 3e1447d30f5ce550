// What limits an answer: missing cases, few samples, disturbed measurements.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/model/report.h"
#include "scenarios/framework/scenario.h"

namespace parbench {

/// What an answer depends on beside the cases.
struct AnswerConditions {
  bool for_profiler = false;
  int processes = 1;
  std::vector<report::Device> devices = {};  // of the run
};

/// What is said of samples taken for a profiler.
inline constexpr std::string_view profiler_warning =
    "Careful: measured for a profiler, in a few short samples; these times are indicative only.";

/// Says that cases or samples are missing, how many cases were measured, which strategies or values
/// are missing as a whole, and which flag gives more (the run ends with one command for all of its
/// scenarios); nothing where there are enough. `is_answered`: whether samples could change the
/// answer.
[[nodiscard]] std::optional<std::string> preliminary_warning(
    const std::vector<report::CaseResult>& cases, const AnswerConditions& conditions,
    bool is_answered);

/// The answer where no case was measured: how many had no time, failed or were skipped.
[[nodiscard]] std::string undecided_text(const std::vector<report::CaseResult>& cases);

/// Counts the cases that the answer covers, and those without a number, where some failed or were
/// skipped and `preliminary_warning` does not count them.
[[nodiscard]] std::optional<std::string> coverage_warning(
    const std::vector<report::CaseResult>& cases);

/// Says of each baseline without which measured cases have no gain that it was not measured, and
/// why. The cases are in the order of the specs.
[[nodiscard]] std::vector<std::string> baseline_warnings(
    const Scenario& scenario, const std::vector<CaseSpec>& specs,
    const std::vector<report::CaseResult>& cases);

/// Says that devices share cores, so that their times are those of no other machine; nothing where
/// each has cores of its own.
[[nodiscard]] std::optional<std::string> sharing_warning(
    const std::vector<report::Device>& devices);

/// Says that devices or the process were throttled, and that other programs used the cores
/// meanwhile, unless the answer says that already in place of each verdict.
[[nodiscard]] std::vector<std::string> disturbance_warnings(
    const std::vector<report::CaseResult>& cases, const report::Answer& answer);

}  // namespace parbench
