// Selects the cases that may be the fastest, from samples taken in the same rounds.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "reports/statistics/statistics.h"

namespace parbench {

/// Returns the indices of the cases that cannot be distinguished from the fastest, ascending, by
/// subset selection (Gupta, "On some multiple decision (selection and ranking) rules", 1965). A
/// case is excluded if another one is faster by a one-sided paired t-test or sign test, and by the
/// paired median. The level of each test is half of `significance`, divided by the number of other
/// cases: by Bonferroni's inequality, the fastest case is included with a probability of at least 1
/// − significance if rounds are independent. The tests use logarithms of ratios of times over
/// common rounds. With several processes, the tests use the median of each process instead, because
/// samples of one process are not independent. The t-test decides with few rounds, the sign test if
/// some of many rounds are disturbed. The median is required because tables show it: a case that
/// sometimes takes twice as long may be slower on average but faster in most rounds. Cases with
/// fewer than two common rounds are not distinguished. Never empty if there are cases.
[[nodiscard]] std::vector<std::size_t> possibly_fastest(std::span<const Samples> cases,
                                                        double significance = 0.05);

}  // namespace parbench
