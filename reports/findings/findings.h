// Why the cases of a report take the time that they take.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/model/report.h"

namespace parbench::report {

/// The finding that a profile does not represent the samples, so that losses have no parts.
inline constexpr std::string_view no_breakdown = "no-breakdown";

/// Fills what follows from a report's cases: in the profiles the losses of those on several
/// devices, and the findings. What was there before goes.
void find_reasons(Report& report);

/// Returns the findings of one scenario: those of cases that its answer speaks of first, then by
/// the time that they explain.
[[nodiscard]] std::vector<const Finding*> findings_of(const Report& report,
                                                      const std::string& scenario);

/// "pipeline, split 3: 12% of its time … (2 cases); try: this." `label` is of its first case.
[[nodiscard]] std::string to_text(const Finding& finding, const std::string& label);

}  // namespace parbench::report
