// Dates and times in the format of reports.
#pragma once

#include <cstdint>
#include <string>

namespace parbench::report {

/// Returns the seconds since 1970 of a time in the format of runs, "2026-11-21T19:57:32Z". Throws
/// UsageError, which quotes the text, for other formats.
[[nodiscard]] std::int64_t seconds_of_utc(const std::string& text);

/// Converts a date of Google Benchmark to the format of runs. Accepts "2026-11-21T19:57:32+01:00",
/// and from older versions and other programs "2026-11-21T19:57:32.123456", "2019/02/21-13:37:24",
/// "2016-10-14 12:34:56" and "Fri Nov 20 10:00:00 2026", which have no time zone and count as UTC.
/// The last two may name a zone: "2016-10-14 12:34:56+02:00", "Fri Nov 20 10:00:00 UTC 2026". Drops
/// fractions of a second. Throws UsageError, which quotes the text, for other formats.
[[nodiscard]] std::string utc_of_date(const std::string& text);

}  // namespace parbench::report
