// Times of the day in the format of reports.
#pragma once

#include <cstdint>
#include <string>

namespace parbench::report {

/// Seconds since 1970 of "2026-11-21T19:57:32Z", which is what runs write. Throws UsageError that
/// quotes any other text.
[[nodiscard]] std::int64_t seconds_of_utc(const std::string& text);

/// Returns a date of Google Benchmark in the format of runs: "2026-11-21T19:57:32+01:00", or, as
/// older versions and other programs write it, "2026-11-21T19:57:32.123456", "2019/02/21-13:37:24",
/// "2016-10-14 12:34:56" and "Fri Nov 20 10:00:00 2026", which have no time zone and are taken for
/// UTC. Fractions of a second are left out. Throws UsageError that quotes any other text.
[[nodiscard]] std::string utc_of_date(const std::string& text);

}  // namespace parbench::report
