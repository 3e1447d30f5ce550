// The Mann–Whitney distribution, and the confidence intervals derived from it.
#include "reports/dashboard/shift.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "reports/statistics/statistics.h"

namespace parbench::report {
namespace {

/// Returns the number of arrangements of m and n values for each value of U: the coefficients of
/// the Gaussian binomial ∏ (1 − q^(n+i))/(1 − q^i), i = 1…m.
std::vector<double> arrangements(std::size_t m, std::size_t n) {
  std::vector<double> counts(m * n + 1, 0.0);
  counts[0] = 1;
  for (std::size_t i = 1; i <= m; ++i) {
    for (std::size_t d = counts.size(); d-- > n + i;) counts[d] -= counts[d - n - i];
    for (std::size_t d = i; d < counts.size(); ++d) counts[d] += counts[d - i];
  }
  return counts;
}

/// Returns the distribution of U as P(U ≤ u) for each u.
std::vector<double> distribution(std::size_t m, std::size_t n) {
  std::vector<double> sums = arrangements(m, n);
  std::partial_sum(sums.begin(), sums.end(), sums.begin());
  const double all = sums.back();
  for (double& sum : sums) sum /= all;
  return sums;
}

std::vector<double> sorted_differences(std::span<const double> before,
                                       std::span<const double> after) {
  std::vector<double> differences;
  differences.reserve(before.size() * after.size());
  for (const double old_value : before) {
    for (const double new_value : after) differences.push_back(new_value - old_value);
  }
  std::ranges::sort(differences);
  return differences;
}

}  // namespace

double mann_whitney_cdf(std::size_t u, std::size_t m, std::size_t n) {
  return u >= m * n ? 1.0 : distribution(m, n)[u];
}

Shift shift_between(std::span<const double> before, std::span<const double> after) {
  const std::vector<double> differences = sorted_differences(before, after);
  const std::vector<double> below = distribution(before.size(), after.size());
  std::size_t rank = 1;
  const auto confidence = [&](std::size_t k) { return 1 - 2 * below[k - 1]; };
  while (2 * (rank + 1) <= differences.size() && confidence(rank + 1) >= wanted_confidence) ++rank;
  return {median(differences),
          {differences[rank - 1], differences[differences.size() - rank],
           std::max(0.0, confidence(rank))}};
}

}  // namespace parbench::report
