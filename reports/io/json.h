// The report as JSON: Google Benchmark's file with a `parbench` object
// (schema/report-v2.schema.json).
#pragma once

#include <string>
#include <string_view>

#include "reports/io/json_value.h"
#include "reports/model/peaks.h"
#include "reports/model/report.h"

namespace parbench::report {

/// As it stands in the file: "not_run".
[[nodiscard]] std::string_view to_string(CaseStatus status);

/// The whole file. Fields that are absent (an empty optional, text or list, a zero amount) are left
/// out; a number that is not finite becomes null, wherever it stands. Of two named values with the
/// same name the last one is kept.
[[nodiscard]] Json to_json(const Report& report);

/// The report of a file. Reading what `to_json` wrote gives an equal report, but for numbers that
/// were not finite: they are NaN then. Unknown fields are ignored. Throws UsageError that names the
/// place ("parbench.cases[3].statistics.median") and what is wrong there: another type, a number
/// that does not fit, a missing field, two cases of one name, or so many different parameters that
/// no table could hold them.
[[nodiscard]] Report from_json(const Json& file);

/// Throws UsageError as `from_json` does for what holds in every report, also in those that come
/// from other files: names differ, times are at most `max_case_seconds`, and tables can hold it.
/// `place` is where messages say that the cases are.
void check_report(const Report& report, std::string_view place = "parbench.cases");

/// A longer time is none of a case.
inline constexpr double max_case_seconds = 100 * 365.25 * 24 * 3600;

/// A file of a device's best rates. It is written and read as a report is.
[[nodiscard]] Json to_json(const KnownPeaks& known);
[[nodiscard]] KnownPeaks peaks_from_json(const Json& file);

/// The text of the file, one line per value. Bytes that are not UTF-8 are replaced by U+FFFD.
[[nodiscard]] std::string to_text(const Json& file);

}  // namespace parbench::report
