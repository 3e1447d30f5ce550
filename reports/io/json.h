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
/// fit, a missing field, another schema version, or a violated rule of `check_report`.
[[nodiscard]] Report from_json(const Json& file);

/// Throws UsageError if a report, also from another format, violates a general rule: the start time
/// is valid, names of cases are unique, times are from 0 to `max_case_seconds`, timelines are
/// consistent, and tables have room for all names. `path`: path of the cases in messages.
void check_report(const Report& report, std::string_view path = "parbench.cases");

inline constexpr double max_case_seconds = 100 * 365.25 * 24 * 3600;

/// Convert the peaks of a device to and from the JSON of their file, by the rules for reports.
[[nodiscard]] Json to_json(const KnownPeaks& known);
[[nodiscard]] KnownPeaks peaks_from_json(const Json& file);

/// Returns the text of the file, one line per value. U+FFFD replaces bytes that are not UTF-8.
[[nodiscard]] std::string to_text(const Json& file);

}  // namespace parbench::report
