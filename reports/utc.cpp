// Reads them.
#include "reports/utc.h"

#include <fmt/format.h>

#include <ctime>

#include "kernels/error.h"
#include "reports/text.h"

namespace parbench::report {

std::int64_t seconds_of_utc(const std::string& text) {
  std::tm time = {};
  const char* const end = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &time);
  if (end == nullptr || end != text.c_str() + text.size()) {
    throw UsageError(fmt::format("'{}' is no time like 2026-11-21T19:57:32Z; correct it",
                                 printable(shortened(text, 60))));
  }
  return ::timegm(&time);
}

}  // namespace parbench::report
