// Findings: explanations of the times of a report's cases.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "reports/model/report.h"

namespace parbench::report {

/// Name of the rule that applies if a profile does not represent the samples, so that losses cannot
/// be divided.
inline constexpr std::string_view no_breakdown = "no-breakdown";

/// Computes the findings of a report and the losses in its profiles, in place of earlier ones.
void find_reasons(Report& report);

/// Returns the findings of one scenario in the order of the report. `find_reasons` puts findings on
/// cases of the answer first, then sorts by the share of the time that they explain, the largest
/// first.
[[nodiscard]] std::vector<const Finding*> findings_of(const Report& report,
                                                      const std::string& scenario);

/// Returns " (2 cases)"; empty for a single case.
[[nodiscard]] std::string count_of_several(std::size_t cases);

/// Returns "pipeline, split 3: 12% of its time … (2 cases); try: this." `label` is the label of the
/// first case.
[[nodiscard]] std::string to_text(const Finding& finding, const std::string& label);

}  // namespace parbench::report
