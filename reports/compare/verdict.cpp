// Student's t-test (Boost.Math), Holm's procedure, and the rule for verdicts.
#include "reports/compare/verdict.h"

#include <algorithm>
#include <array>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace parbench::compare {
namespace {

/// Returns half the width of the interval that misses the true value with probability `level`.
double half_width(const Estimate& estimate, double level) {
  if (estimate.variance == 0) return 0;
  const boost::math::students_t_distribution<double> t(estimate.degrees_of_freedom);
  return boost::math::quantile(boost::math::complement(t, level / 2)) *
         std::sqrt(estimate.variance);
}

Change change_at(const Estimate& estimate, double level) {
  const double half = half_width(estimate, level);
  return {
      std::expm1(estimate.log_ratio),
      {std::expm1(estimate.log_ratio - half), std::expm1(estimate.log_ratio + half), 1 - level}};
}

Verdict verdict_of(const Change& change, bool evidence, double threshold) {
  if (evidence && std::abs(change.value) >= threshold) {
    return change.value > 0 ? Verdict::regressed : Verdict::improved;
  }
  const bool within = change.interval.low >= -threshold && change.interval.high <= threshold;
  return within ? Verdict::same : Verdict::undecided;
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  constexpr std::array<std::string_view, 4> names{"regressed", "improved", "same", "undecided"};
  return names.at(static_cast<std::size_t>(verdict));
}

double p_value(const Estimate& estimate) {
  if (estimate.log_ratio == 0) return 1;
  if (estimate.variance == 0) return 0;
  const boost::math::students_t_distribution<double> t(estimate.degrees_of_freedom);
  const double statistic = std::abs(estimate.log_ratio) / std::sqrt(estimate.variance);
  return 2 * boost::math::cdf(boost::math::complement(t, statistic));
}

std::vector<double> holm_levels(std::span<const double> p_values, double significance) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return p_values[i]; });
  std::vector<double> levels(p_values.size());
  std::size_t untested = p_values.size();  // hypotheses not yet rejected
  for (const std::size_t i : order) {
    levels[i] = significance / static_cast<double>(untested);
    if (p_values[i] <= levels[i]) --untested;
  }
  return levels;
}

std::vector<Judgement> judge(std::span<const Estimate> estimates, const Rule& rule) {
  std::vector<double> p_values;
  p_values.reserve(estimates.size());
  for (const Estimate& estimate : estimates) p_values.push_back(p_value(estimate));
  const std::vector<double> levels = holm_levels(p_values, rule.significance);
  std::vector<Judgement> judgements;
  judgements.reserve(estimates.size());
  for (std::size_t i = 0; i < estimates.size(); ++i) {
    const Change change = change_at(estimates[i], levels[i]);
    const bool evidence = p_values[i] <= levels[i];
    judgements.push_back({verdict_of(change, evidence, rule.threshold), change, p_values[i]});
  }
  return judgements;
}

}  // namespace parbench::compare
