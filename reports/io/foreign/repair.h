// Repairs text of other programs that is almost JSON.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "reports/model/report.h"

namespace parbench::report {

/// A JSON object in a text, and the line in which it begins.
struct FoundObject {
  std::string text;
  std::size_t first_line = 1;
};

/// Returns the outermost objects of a text after these repairs, and adds a note for each kind:
/// - text before, between and after the objects is removed; brackets and commas of a list without a
///   note;
/// - non-finite numbers ("-inf", "1.#INF") become null; "NaN" and "Infinity" without a note,
///   because Google Benchmark writes them;
/// - a comma before a closing bracket is removed;
/// - bytes of a string that are not UTF-8 are read as Latin-1.
/// An object begins with a brace and a quotation mark. Line breaks are kept, so that lines can be
/// counted. The last object may be incomplete.
[[nodiscard]] std::vector<FoundObject> repaired_objects(std::string_view text,
                                                        std::vector<FileNote>& file_notes);

}  // namespace parbench::report
