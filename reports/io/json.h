// Converts reports to and from JSON: Google Benchmark's file with a `parbench` object
// (schema/report-v2.schema.json).
#pragma once

#include <string>
#include <string_view>

#include "reports/io/json_value.h"
#include "reports/model/peaks.h"
#include "reports/model/report.h"

namespace parbench::report {

/// Returns the status as in files: "not_run".
[[nodiscard]] std::string_view to_string(CaseStatus status);

/// Returns the whole file. Leaves out absent fields (an empty optional, text or list, a zero
/// amount). Non-finite numbers become null. Of named values with equal names, the last is kept.
[[nodiscard]] Json to_json(const Report& report);

/// Returns the report of a file. Reading the output of `to_json` gives an equal report, except that
/// non-finite numbers become NaN. Ignores unknown fields. Throws UsageError with the path
/// ("parbench.cases[3].statistics.median") and the problem: another type, a number that does not
/// fit, a missing field, two cases with the same name, or more different parameters than a table
/// can have.
[[nodiscard]] Report from_json(const Json& file);

/// Throws UsageError as `from_json` does if a report, also from another format, breaks a general
/// rule: names are unique, times are at most `max_case_seconds`, and tables can hold it. `path` is
/// the path of the cases in messages.
void check_report(const Report& report, std::string_view path = "parbench.cases");

/// Max valid time of a case.
inline constexpr double max_case_seconds = 100 * 365.25 * 24 * 3600;

/// Convert a file of a device's best rates, by the rules for reports.
[[nodiscard]] Json to_json(const KnownPeaks& known);
[[nodiscard]] KnownPeaks peaks_from_json(const Json& file);

/// Returns the text of the file, one line per value. U+FFFD replaces bytes that are not UTF-8.
[[nodiscard]] std::string to_text(const Json& file);

}  // namespace parbench::report
