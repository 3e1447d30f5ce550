// From estimated changes to verdicts: evidence corrected for the number of cases, intervals, and a
// minimum size. Pure functions; they do not depend on the source of the estimates.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "kernels/base/units/interval.h"

namespace parbench::compare {

enum class Verdict { regressed, improved, same, undecided };

/// "regressed", …
[[nodiscard]] std::string_view to_string(Verdict verdict);

/// An estimate of the logarithm of a ratio of times, new over base, and of its error.
struct Estimate {
  double log_ratio = 0;
  double variance = 0;            // of `log_ratio`, estimated
  double degrees_of_freedom = 1;  // of that variance; more than 0, infinite where it is known
};

/// New over base in time, less one: 0.05 takes 5% longer.
struct Change {
  double value = 0;
  Interval interval;  // an end that is too large for a number is infinite
};

struct Rule {
  /// Probability that any unchanged case of a family gets evidence for a change.
  double significance = 0.05;
  /// Changes below it, as a fraction of the time, do not matter.
  double threshold = 0.02;
  /// Share of the cases of BASE that must be decided, from 0 to 1, for the comparison to pass.
  double required_decided = 0;
};

struct Judgement {
  Verdict verdict = Verdict::undecided;
  Change change;
  double p_value = 1;  // two-sided, of no change, by itself
};

/// Two-sided, by Student's t.
[[nodiscard]] double p_value(const Estimate& estimate);

/// Holm's step-down procedure ("A simple sequentially rejective multiple test procedure", 1979):
/// for each p-value the level that it was held against. At most that level means evidence; whatever
/// the dependence between them, the probability of any false evidence is at most `significance`. Of
/// m values the one of rank r has significance/(m − r + 1); behind the first that exceeds its
/// level, all have the level of that one.
[[nodiscard]] std::vector<double> holm_levels(std::span<const double> p_values,
                                              double significance);

/// Judges a family of cases together. A case's interval is that of the level which Holm's procedure
/// held it against, so that it excludes 0 exactly where there is evidence. Then
///   regressed, improved: evidence, and the change is at least the threshold;
///   same: the whole interval lies within the threshold to both sides;
///   undecided: everything else.
[[nodiscard]] std::vector<Judgement> judge(std::span<const Estimate> estimates, const Rule& rule);

}  // namespace parbench::compare
