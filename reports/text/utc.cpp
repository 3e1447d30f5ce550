// Parses dates.
#include "reports/text/utc.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <optional>

#include "kernels/base/error.h"
#include "reports/text/text.h"

namespace parbench::report {

namespace {

constexpr const char* format = "%Y-%m-%dT%H:%M:%SZ";

std::string text_of(std::time_t seconds) {
  std::tm time = {};
  ::gmtime_r(&seconds, &time);
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), format, &time)};
}

/// Returns the seconds since 1970 of a time in the given format; nothing unless the format matches
/// the whole text.
std::optional<std::int64_t> seconds_of(const std::string& text, const char* of_format) {
  std::tm time = {};
  const char* const end = ::strptime(text.c_str(), of_format, &time);
  if (end != text.c_str() + text.size()) return std::nullopt;
  const std::int64_t offset = time.tm_gmtoff;  // timegm resets tm_gmtoff
  return ::timegm(&time) - offset;
}

/// Removes the fraction of a second from "10:00:00.123456+05:30".
std::string without_fraction(std::string text) {
  const std::size_t point = text.find('.');
  if (point == std::string::npos) return text;
  const std::size_t end = std::min(text.find_first_not_of("0123456789", point + 1), text.size());
  return text.erase(point, end - point);
}

}  // namespace

std::int64_t seconds_of_utc(const std::string& text) {
  std::tm time = {};
  const char* const end = ::strptime(text.c_str(), format, &time);
  const std::time_t seconds = ::timegm(&time);
  // strptime accepts one digit or a 31st of February, so the result is formatted and compared.
  if (end == nullptr || text_of(seconds) != text) {
    throw UsageError(
        fmt::format("'{}' is not a valid time such as 2026-11-21T19:57:32Z; correct it",
                    printable(shortened(text, 60))));
  }
  return seconds;
}

std::string utc_of_date(const std::string& text) {
  const std::string whole = without_fraction(text);
  for (const char* const known :
       {"%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%dT%H:%M:%S", "%Y/%m/%d-%H:%M:%S", "%Y-%m-%d %H:%M:%S",
        "%Y-%m-%d %H:%M:%S%z", "%a %b %d %H:%M:%S %Y", "%a %b %d %H:%M:%S UTC %Y"}) {
    if (const auto seconds = seconds_of(whole, known)) return text_of(*seconds);
  }
  throw UsageError(
      fmt::format("'{}' is not a valid time such as 2026-11-21T19:57:32+00:00; correct it",
                  printable(shortened(text, 60))));
}

}  // namespace parbench::report
