// Reports that the tests of reports/ write, read, render and spoil.
#pragma once

#include "reports/model/report.h"

namespace parbench::report {

/// A finished pipeline run on two devices: measured cases (two of them stopped early), a failed one
/// and two that were skipped for the same reason. Every field of every struct is set somewhere, but
/// for what `with_profiles` adds.
[[nodiscard]] Report sample_report();

/// The report with a profile of its second case, and a finding.
[[nodiscard]] Report with_profiles(Report report);

/// A measured case around a median, with as many samples as asked.
[[nodiscard]] CaseResult measured_case(const std::string& scenario, const std::string& strategy,
                                       NamedValues parameters, double median_seconds, int samples);

}  // namespace parbench::report
