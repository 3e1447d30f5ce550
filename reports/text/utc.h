// Times of the day in the format of reports.
#pragma once

#include <cstdint>
#include <string>

namespace parbench::report {

/// Seconds since 1970 of "2026-11-21T19:57:32Z", which is what runs write. Throws UsageError that
/// quotes any other text.
[[nodiscard]] std::int64_t seconds_of_utc(const std::string& text);

}  // namespace parbench::report
