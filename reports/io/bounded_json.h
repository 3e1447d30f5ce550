// Parsing of untrusted JSON: limits on everything that costs memory or time, and errors that name
// the place.
#pragma once

#include <cstddef>
#include <istream>
#include <string_view>
#include <vector>

#include "kernels/base/error.h"
#include "reports/io/json_value.h"
#include "reports/model/report.h"

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

/// The text is not JSON in UTF-8; a repair may help (foreign/repair.h).
class SyntaxError : public UsageError {
 public:
  using UsageError::UsageError;
};

/// The place of a text in its file, and whether a key may stand twice in one object.
struct ParseContext {
  std::size_t first_line = 1;
  /// Without it, a key that stands twice is an error. With it, the first of its values is kept, and
  /// a note added.
  std::vector<FileNote>* file_notes = nullptr;
};

/// The one JSON value in a stream that can go back to its beginning, however deeply it is nested:
/// nothing here is recursive. With `only`, of an outermost object just the member of that name is
/// kept, of an outermost list nothing, and nothing else counts towards the number of values.
/// `limits.bytes` is the caller's to check. Throws UsageError: what is wrong (truncated, UTF-16, a
/// number beyond double, a key twice in one object, beyond a limit), where, and the remedy;
/// SyntaxError for text that is not JSON or not UTF-8.
[[nodiscard]] Json parse_bounded(std::istream& stream, const ReadLimits& limits,
                                 std::string_view only = {}, const ParseContext& context = {});

}  // namespace parbench::report
