// Applies paired t-tests and sign tests to all pairs of cases.
#include "reports/statistics/fastest.h"

#include <algorithm>
#include <array>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

namespace parbench {
namespace {

/// Returns the probability of a mean at least this large if the true mean were at most 0.
double p_value_of_mean(const std::vector<double>& differences) {
  if (differences.size() < 2) return 1;
  const double center = mean(differences);
  const auto count = static_cast<double>(differences.size());
  const double error = standard_deviation(differences) / std::sqrt(count);
  if (error == 0) return center > 0 ? 0 : 1;
  const boost::math::students_t_distribution<double> t(count - 1);
  return boost::math::cdf(boost::math::complement(t, center / error));
}

/// Returns the probability of at least as many positive differences if their median were at most 0.
double p_value_of_median(const std::vector<double>& differences) {
  const auto positive = std::ranges::count_if(differences, [](double d) { return d > 0; });
  if (positive == 0) return 1;
  const boost::math::binomial_distribution<double> signs(static_cast<double>(differences.size()),
                                                         0.5);
  return boost::math::cdf(boost::math::complement(signs, static_cast<double>(positive - 1)));
}

bool is_slower(Samples one, Samples other, double level) {
  const std::vector<double> log_ratios = paired_values(
      std::array{one, other},
      [](std::span<const double> seconds, auto) { return std::log(seconds[0] / seconds[1]); });
  return std::min(p_value_of_mean(log_ratios), p_value_of_median(log_ratios)) <= level / 2 &&
         median(log_ratios) > 0;
}

}  // namespace

std::vector<std::size_t> possibly_fastest(std::span<const Samples> cases, double significance) {
  const double level =
      significance / static_cast<double>(std::max<std::size_t>(2, cases.size()) - 1);
  std::vector<std::size_t> fastest;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const bool excluded = std::ranges::any_of(
        cases, [&](Samples other) { return is_slower(cases[i], other, level); });
    if (!excluded) fastest.push_back(i);
  }
  if (fastest.empty()) {  // each is slower than another one in their common rounds
    fastest.resize(cases.size());
    std::iota(fastest.begin(), fastest.end(), std::size_t{0});
  }
  return fastest;
}

}  // namespace parbench
