// Repairs text of other programs that is almost JSON.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "reports/model/report.h"

namespace parbench::report {

/// An object of JSON in a text, with the line in which it begins.
struct FoundObject {
  std::string text;
  std::size_t first_line = 1;
};

/// Returns the outermost objects of a text, after these repairs, for each kind of which a note is
/// added:
/// - text before, between and after the objects is left out, the brackets and commas of a list
///   without a note;
/// - numbers that are not finite ("-inf", "1.#INF") become null; "NaN" and "Infinity" without a
///   note, because Google Benchmark writes them;
/// - a comma before a closing bracket is left out;
/// - bytes of a string that are not UTF-8 are taken for Latin-1.
/// An object begins with a brace and a quotation mark. Line breaks stay, so that lines can be
/// counted. The last object may be incomplete.
[[nodiscard]] std::vector<FoundObject> repaired_objects(std::string_view text,
                                                        std::vector<FileNote>& file_notes);

}  // namespace parbench::report
