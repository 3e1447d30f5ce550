// Paired t-tests of each case against each other one.
#include "reports/statistics/fastest.h"

#include <algorithm>
#include <array>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <vector>

namespace parbench {
namespace {

/// Probability of differences at least this large, if their mean were 0 or less.
double p_value_of_increase(const std::vector<double>& differences) {
  if (differences.size() < 2) return 1;
  const double center = mean(differences);
  const auto count = static_cast<double>(differences.size());
  const double error = standard_deviation(differences) / std::sqrt(count);
  if (error == 0) return center > 0 ? 0 : 1;
  const boost::math::students_t_distribution<double> t(count - 1);
  return boost::math::cdf(boost::math::complement(t, center / error));
}

bool is_slower(Samples one, Samples other, double level) {
  const std::vector<double> log_ratios = paired_values(
      std::array{one, other},
      [](std::span<const double> seconds, auto) { return std::log(seconds[0] / seconds[1]); });
  return p_value_of_increase(log_ratios) <= level;
}

}  // namespace

std::vector<std::size_t> possibly_fastest(std::span<const Samples> cases, double significance) {
  const double level =
      significance / static_cast<double>(std::max<std::size_t>(2, cases.size()) - 1);
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const bool excluded = std::ranges::any_of(
        cases, [&](Samples other) { return is_slower(cases[i], other, level); });
    if (!excluded) places.push_back(i);
  }
  return places;
}

}  // namespace parbench
