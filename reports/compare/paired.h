// Sequential comparison of two programs that are measured in pairs of runs: when pairs are judged,
// which verdicts they give, and when to stop. The code that runs the pairs makes no decisions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reports/compare/verdict.h"

namespace parbench::compare {

/// Logarithms of time ratios, new over base, by case name, for the cases that are comparable in a
/// pair.
using LogRatios = std::map<std::string, double>;

/// The verdict on a case from the pairs.
struct PairedVerdict {
  std::string name;
  int pairs = 0;  // number of pairs with the case, up to the look that gave this verdict
  /// The judgement at the look that gave the verdict, or at the last look if undecided. None before
  /// the first look, and none for a case with fewer than two pairs.
  std::optional<Judgement> judgement;

  [[nodiscard]] bool is_settled() const {
    return judgement && judgement->verdict != Verdict::undecided;
  }
};

/// A group-sequential comparison. Pairs are judged after fixed numbers of pairs, the looks: a
/// paired t-test for each case, corrected over the cases by Holm's procedure. The significance is
/// divided by the number of looks, so that by Bonferroni's inequality the probability of any false
/// evidence at any look is at most `rule.significance`, however cases and looks depend on each
/// other. A verdict is final: later pairs do not change it.
class PairedComparison {
 public:
  struct Plan {
    /// The rule for all cases and looks together.
    Rule rule{.significance = 0.02, .threshold = 0.02};
    /// Numbers of pairs, ascending, the first at least 2. Each is about √2 times its predecessor,
    /// so that a comparison runs at most about √2 times the pairs it needs.
    std::vector<int> looks{5, 7, 10, 14, 20, 28, 40};
  };

  PairedComparison() : PairedComparison(Plan{}) {}
  /// Throws std::invalid_argument if the looks are not ascending numbers of at least 2.
  explicit PairedComparison(Plan plan);

  /// Adds the next pair, and judges if this completes a look. Ratios that are not finite are
  /// ignored. Throws std::logic_error if the comparison is finished.
  void add(const LogRatios& pair);

  /// Gives up a case: it takes no more ratios, is not waited for and gets no verdict. If it has two
  /// ratios or more, Holm's procedure still counts it.
  void give_up(const std::string& name);

  /// Ends the comparison with a last look at the pairs so far, unless they were already judged. The
  /// reason for the end must not depend on the data: for example, the time limit was reached.
  void conclude();

  [[nodiscard]] int pairs() const { return pairs_; }
  /// Returns whether the last `add` or `conclude` was a look.
  [[nodiscard]] bool is_look() const { return judged_at_ == pairs_; }
  /// Returns the number of pairs at the next look; nothing if finished.
  [[nodiscard]] std::optional<int> next_look() const;
  /// Returns the looks so far, as numbers of pairs.
  [[nodiscard]] const std::vector<int>& looks() const { return looks_so_far_; }
  /// Returns whether there are cases that were not given up, and each of them has a verdict other
  /// than undecided.
  [[nodiscard]] bool is_settled() const;
  /// Returns whether no further pair can be added: settled, concluded, or all looks done.
  [[nodiscard]] bool is_finished() const;
  /// Returns the verdicts on all cases that were not given up, sorted by name.
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
