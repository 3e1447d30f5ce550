// Warnings about an answer: missing cases, few samples, disturbed measurements.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/model/report.h"
#include "scenarios/framework/scenario.h"

namespace parbench {

/// Conditions that affect an answer beside the cases.
struct AnswerConditions {
  bool for_profiler = false;
  int processes = 1;
  std::vector<report::Device> devices = {};
};

inline constexpr std::string_view profiler_warning =
    "Careful: measured for a profiler, in a few short samples; these times are indicative only.";

/// Returns a warning if cases were left out for lack of time, or if `is_answered` and a measured
/// case has too few samples or processes for an interval (ignored under a profiler). It states how
/// many cases were measured, which strategies or values are missing completely, and which flag
/// gives more. `is_answered`: Conclusion::is_answered.
[[nodiscard]] std::optional<std::string> preliminary_warning(
    const std::vector<report::CaseResult>& cases, const AnswerConditions& conditions,
    bool is_answered);

/// Returns the text of the answer if no case was measured: how many had no time, failed or were
/// skipped.
[[nodiscard]] std::string undecided_text(const std::vector<report::CaseResult>& cases);

/// Returns the number of measured cases if other cases failed, were skipped or did not run; nothing
/// if a case was left out for lack of time, because `preliminary_warning` then has the numbers.
[[nodiscard]] std::optional<std::string> coverage_warning(
    const std::vector<report::CaseResult>& cases);

/// Returns warnings about baselines that were not measured, with the reason and the cases that have
/// no gain without them. The cases are in the order of the specs.
[[nodiscard]] std::vector<std::string> baseline_warnings(
    const Scenario& scenario, const std::vector<CaseSpec>& specs,
    const std::vector<report::CaseResult>& cases);

/// Returns a warning if devices share cores: the times do not apply to devices with separate cores.
[[nodiscard]] std::optional<std::string> sharing_warning(
    const std::vector<report::Device>& devices);

/// Returns warnings about throttled devices, a CPU quota, and other programs on the cores. Omits
/// the last one if all recommendations of the answer already name this load.
[[nodiscard]] std::vector<std::string> disturbance_warnings(
    const std::vector<report::CaseResult>& cases, const report::Answer& answer);

}  // namespace parbench
