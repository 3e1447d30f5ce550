// Which of several cases may be the fastest, from samples that were taken in the same rounds.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "reports/statistics/statistics.h"

namespace parbench {

/// Returns the places of those cases that cannot be distinguished from the fastest, ascending, by
/// subset selection (Gupta, "On some multiple decision (selection and ranking) rules", 1965): a
/// case is left out where another one is faster by a one-sided paired t-test or sign test, and by
/// the paired median. The level of each of the two tests is half of `significance` over the number
/// of the others, so that by Bonferroni's inequality the truly fastest is among them with a
/// probability of at least 1 − significance, where rounds are independent. What is tested is the
/// logarithm of the ratio of times over common rounds, or of its medians in several processes,
/// because samples of one process are not independent. The t-test decides with few rounds, the sign
/// test where some of many are disturbed. The median decides too because tables show it: a case
/// that takes twice as long now and then may be slower on average and faster in most rounds. Cases
/// with fewer than two common rounds are not distinguished. Never empty where there are cases.
[[nodiscard]] std::vector<std::size_t> possibly_fastest(std::span<const Samples> cases,
                                                        double significance = 0.05);

}  // namespace parbench
