// Finds speedups that the medians of their cases contradict.
#pragma once

#include <map>
#include <string_view>

#include "reports/model/report.h"
#include "reports/views/parameter_columns.h"

namespace parbench::report {

/// The mark of a speedup whose cases also have samples in other rounds, which change the medians.
inline constexpr std::string_view other_rounds_mark = "~";
/// The mark of a speedup whose ratios scatter over the rounds.
inline constexpr std::string_view scattered_mark = "≠";

/// The marks of contradicted speedups, by case.
using ContradictionMarks = std::map<const CaseResult*, std::string_view>;

/// Returns the marks of the cases whose speedup is contradicted by the quotient of the medians.
[[nodiscard]] ContradictionMarks contradiction_marks(const Cases& cases);

}  // namespace parbench::report
