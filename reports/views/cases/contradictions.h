// Speedups that the medians of their cases contradict.
#pragma once

#include <map>
#include <string_view>

#include "reports/model/report.h"
#include "reports/views/parameter_columns.h"

namespace parbench::report {

/// Of a speedup from rounds that the medians have others beside.
inline constexpr std::string_view other_rounds_mark = "~";
/// Of a speedup whose rounds scatter.
inline constexpr std::string_view scattered_mark = "≠";

/// Marks of speedups that the medians contradict, by case.
using ContradictionMarks = std::map<const CaseResult*, std::string_view>;

/// Returns the marks of those cases whose speedup differs from the quotient of the medians.
[[nodiscard]] ContradictionMarks contradiction_marks(const Cases& cases);

}  // namespace parbench::report
