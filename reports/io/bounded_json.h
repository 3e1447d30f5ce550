// Parses untrusted JSON: limits everything that costs memory or time, and names the path of an
// error.
#pragma once

#include <cstddef>
#include <istream>
#include <string_view>
#include <vector>

#include "kernels/base/error.h"
#include "reports/io/json_value.h"
#include "reports/model/report.h"

namespace parbench::report {

/// Limits beyond which a file is refused. Reading takes at most `bytes` of memory plus about 100
/// bytes for each value, whatever the file contains; a list of empty texts is the worst case.
struct ReadLimits {
  std::size_t bytes = 250'000'000;
  /// Max number of kept keys and values; lists and their items are values.
  std::size_t values = 10'000'000;
  std::size_t text = 1'000'000;  // bytes of one text or key
  std::size_t keys = 256;        // per object, because finding a key takes linear time
  int depth = 64;                // levels of nested lists and objects
  /// Advice for a file with too many bytes or values.
  std::string_view remedy =
      "use a report of fewer cases or samples, or allow a larger one with PARBENCH_MAX_REPORT_MB=N";
};

/// Thrown for text that is not JSON in UTF-8, which foreign/repair.h may repair.
class SyntaxError : public UsageError {
 public:
  using UsageError::UsageError;
};

/// The line at which a text begins in its file, and whether an object may have a key twice.
struct ParseContext {
  std::size_t first_line = 1;
  /// If null, a duplicate key is an error. Otherwise, the first value of the key is kept and a note
  /// added.
  std::vector<FileNote>* file_notes = nullptr;
};

/// Parses the only JSON value of a seekable stream, without recursion at any depth. With `only`, an
/// object keeps only its member with that name, a list keeps no items, and the limit on values
/// counts only what is kept. The caller checks `limits.bytes`. Throws UsageError with the problem
/// (truncated, UTF-16, a number beyond double, a duplicate key, beyond a limit), the path and the
/// remedy; SyntaxError for text that is not JSON or not UTF-8.
[[nodiscard]] Json parse_bounded(std::istream& stream, const ReadLimits& limits,
                                 std::string_view only = {}, const ParseContext& context = {});

}  // namespace parbench::report
