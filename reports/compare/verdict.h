// Turns estimated changes into verdicts: corrects the evidence for the number of cases, computes
// intervals and applies a minimum size. Pure functions, independent of the source of the estimates.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "kernels/base/units/interval.h"

namespace parbench::compare {

enum class Verdict { regressed, improved, same, undecided };

/// Returns "regressed", ….
[[nodiscard]] std::string_view to_string(Verdict verdict);

/// An estimate of the logarithm of a time ratio, new over base, with its error.
struct Estimate {
  double log_ratio = 0;
  double variance = 0;  // estimated variance of `log_ratio`
  /// Degrees of freedom of `variance`; above 0, infinite if the variance is known.
  double degrees_of_freedom = 1;
};

/// Relative change in time, new over base minus one: 0.05 means 5% longer.
struct Change {
  double value = 0;
  Interval interval;  // an end that overflows is infinite
};

struct Rule {
  /// Max probability of evidence for any change in a family of unchanged cases.
  double significance = 0.05;
  /// Changes below this fraction of the time do not matter.
  double threshold = 0.02;
  /// Min share of BASE's cases, from 0 to 1, that must be decided for the comparison to pass.
  double required_decided = 0;
};

struct Judgement {
  Verdict verdict = Verdict::undecided;
  Change change;
  double p_value = 1;  // two-sided p-value of no change, before correction
};

/// Returns the two-sided p-value by Student's t-test.
[[nodiscard]] double p_value(const Estimate& estimate);

/// Returns the level that Holm's step-down procedure ("A simple sequentially rejective multiple
/// test procedure", 1979) compares each p-value with. A p-value of at most its level is evidence;
/// the probability of any false evidence is at most `significance`, whatever the dependence between
/// the values. Of m values, the one of rank r has the level significance/(m − r + 1); all values
/// after the first that exceeds its level get that same level.
[[nodiscard]] std::vector<double> holm_levels(std::span<const double> p_values,
                                              double significance);

/// Judges a family of cases together. The interval of a case has the confidence of its level in
/// Holm's procedure, so that it excludes 0 exactly if there is evidence. The verdicts are
///   regressed, improved: evidence, and the change is at least the threshold;
///   same: the whole interval lies within ± the threshold;
///   undecided: everything else.
[[nodiscard]] std::vector<Judgement> judge(std::span<const Estimate> estimates, const Rule& rule);

}  // namespace parbench::compare
