// Two programs measured in pairs, one after the other: when the pairs are judged, with which
// verdicts, and when to stop. The code that runs the pairs decides nothing.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reports/compare/verdict.h"

namespace parbench::compare {

/// The logarithm of the ratio of times, new over base, of each case that both sides of a pair have
/// measured, by the case's name.
using LogRatios = std::map<std::string, double>;

/// The verdict of the pairs on a case.
struct PairedVerdict {
  std::string name;
  int pairs = 0;  // that have the case, up to the look of this verdict
  /// As of the look at which the verdict was given, or of the last look where it is undecided; none
  /// before the first look, and of a case that fewer than two pairs have.
  std::optional<Judgement> judgement;

  [[nodiscard]] bool is_settled() const {
    return judgement && judgement->verdict != Verdict::undecided;
  }
};

/// A group-sequential comparison. The pairs are judged after fixed numbers of them, its looks: a
/// paired t-test of each case, corrected by Holm over the cases. The significance is divided by the
/// number of looks, so that by Bonferroni's inequality the probability of any false evidence at any
/// look is at most `rule.significance`, however the cases and the looks depend on each other.
/// A verdict that is given stands: later pairs do not change it.
class PairedComparison {
 public:
  struct Plan {
    /// The rule for all cases and looks together.
    Rule rule{.significance = 0.02, .threshold = 0.02};
    /// Numbers of pairs, ascending, the first at least 2. Each is about √2 of the one before, so
    /// that a comparison takes at most so many times the pairs that it needs.
    std::vector<int> looks{5, 7, 10, 14, 20, 28, 40};
  };

  PairedComparison() : PairedComparison(Plan{}) {}
  /// Throws std::invalid_argument for looks that are none.
  explicit PairedComparison(Plan plan);

  /// Takes the next pair, and judges when it makes a look full. Ratios that are not finite are left
  /// out. Throws std::logic_error when the comparison is finished.
  void add(const LogRatios& pair);

  /// From now on the case takes no ratios, is not waited for and has no verdict. What it had by now
  /// stays in the number of cases that Holm's procedure counts.
  void give_up(const std::string& name);

  /// Ends the comparison: the pairs so far take the place of the next look. Only for reasons that
  /// lie outside of the data, as when the time is spent.
  void conclude();

  [[nodiscard]] int pairs() const { return pairs_; }
  /// Whether the last pair or `conclude` has just been judged.
  [[nodiscard]] bool is_look() const { return judged_at_ == pairs_; }
  /// Pairs at the next look; nothing once it is finished.
  [[nodiscard]] std::optional<int> next_look() const;
  /// Looks so far, as numbers of pairs.
  [[nodiscard]] const std::vector<int>& looks() const { return looks_so_far_; }
  /// Every case that was not given up has a verdict other than undecided, and there is one.
  [[nodiscard]] bool is_settled() const;
  /// No further pair can be added: settled, concluded, or all looks are taken.
  [[nodiscard]] bool is_finished() const;
  /// Returns the verdicts by name, of all cases in the pairs that were not given up.
  [[nodiscard]] std::vector<PairedVerdict> verdicts() const;
  [[nodiscard]] const Plan& plan() const { return plan_; }

 private:
  struct CaseState {
    std::vector<double> log_ratios;
    int judged_pairs = 0;
    std::optional<Judgement> judgement;
    bool given_up = false;
  };

  void look();

  Plan plan_;
  std::map<std::string, CaseState> cases_;
  std::vector<int> looks_so_far_;
  int pairs_ = 0;
  int judged_at_ = -1;
  bool concluded_ = false;
};

}  // namespace parbench::compare
