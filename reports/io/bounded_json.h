// Parsing of untrusted JSON: limits on everything that costs memory or time, and errors that name
// the place.
#pragma once

#include <cstddef>
#include <istream>
#include <string_view>

#include "reports/io/json_value.h"

namespace parbench::report {

/// What a file may be before it is refused. What is read takes at most `bytes` of memory and about
/// a hundred for each of `values`, whatever the file holds (a list of empty texts is the worst).
struct ReadLimits {
  std::size_t bytes = 250'000'000;
  std::size_t values = 10'000'000;  // numbers, texts, keys, lists and objects that are kept
  std::size_t text = 1'000'000;     // bytes of one text or key
  std::size_t keys = 256;           // of one object: finding a key takes time in proportion
  int depth = 64;                   // of lists and objects in one another
  /// What to do about a file of too many bytes or values.
  std::string_view remedy =
      "use a report of fewer cases or samples, or allow a larger one with PARBENCH_MAX_REPORT_MB=N";
};

/// The one JSON value in a stream that can go back to its beginning, however deeply it is nested:
/// nothing here is recursive. With `only`, of an outermost object just the member of that name is
/// kept, and nothing else counts towards the number of values. `limits.bytes` is the caller's to
/// check. Throws UsageError: what is wrong (truncated, not JSON, UTF-16, not UTF-8, a number beyond
/// double, a key twice in one object, beyond a limit), where, and the remedy.
[[nodiscard]] Json parse_bounded(std::istream& stream, const ReadLimits& limits,
                                 std::string_view only = {});

}  // namespace parbench::report
