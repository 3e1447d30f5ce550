// What an answer recommends: of cases that do the same work, the one that is expected to be the
// fastest, or a simpler one that is as fast within 3%.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/units/interval.h"

namespace parbench {

/// Cases whose expected speeds differ by at most this share are tied: the simpler one is
/// recommended.
inline constexpr double largest_tie = 0.03;

/// Other programs disturb a case whose cores they had for so much of the time.
inline constexpr double min_cores_taken = 0.10;

/// A case, by what distinguishes it from those it was compared with: "split 5".
struct LabelledCase {
  std::string label;
  std::string name;  // the case's
  friend bool operator==(const LabelledCase&, const LabelledCase&) = default;
};

struct Recommendation {
  std::string setting =
      {};  // what its cases have in common and others have not: "n 1024"; may be empty
  /// The recommended case, then those tied with it, then the others that the samples do not rule
  /// out as the fastest; both in the order of their expected speed.
  std::vector<LabelledCase> candidates = {};
  /// The cases beside the recommended one that are tied with the fastest, itself included, in the
  /// order of their expected speed.
  std::vector<LabelledCase> tied = {};
  /// Whether a case other than the baseline is recommended and the whole interval of its gain,
  /// which has the confidence that is wanted, is above 1.
  bool pays = false;
  /// Over the baseline: of the recommended case, or of the fastest other one where the baseline is
  /// recommended.
  std::optional<LabelledCase> gaining = {};
  std::optional<Ratio> gain = {};
  /// Over the same baseline: of `tied.front()`, where that is the fastest and a simpler case than
  /// it, but not the baseline, is recommended.
  std::optional<Ratio> fastest_gain = {};
  std::string remark = {};  // "93% (90–96%) of the copy hidden"; may be empty
  /// Share of the core time that other programs had while these cases were measured, where that
  /// can explain the gain, or hide one: then there is no verdict. Otherwise 0.
  double load = 0;
  /// Share of the core time that other programs had, where the gain stands without them, but
  /// another case might be faster by a tenth, or the load left other cases open. Otherwise 0.
  double hiding_load = 0;
  /// Number of processes that took the samples of the gain, if there were several.
  int processes = 0;
  friend bool operator==(const Recommendation&, const Recommendation&) = default;
};

/// What the samples show of a recommendation's gain, in ascending order.
enum class Payoff { does_not_pay, shows_no_gain, gains_little, may_pay, undecided, pays };

/// Returns `undecided` where load on the cores can explain the result, `pays` only for a
/// recommendation that pays, and `may_pay` for one of another case than
/// the baseline whose gain is not shown. Where the baseline is recommended, the whole interval of
/// the other's gain is below 1, with the confidence that is wanted (`does_not_pay`), above 1, by
/// less than a tie (`gains_little`), or neither; above 1 by more it `may_pay`, which only reports
/// of earlier versions have.
[[nodiscard]] inline Payoff payoff_of(const Recommendation& one) {
  if (one.load > 0) return Payoff::undecided;
  if (one.pays) return Payoff::pays;
  if (!one.gain || !one.gaining) return Payoff::shows_no_gain;
  const bool is_recommended =
      !one.candidates.empty() && one.candidates.front().name == one.gaining->name;
  if (is_recommended) return Payoff::may_pay;
  if (one.gain->below(1) && !is_low(one.gain->interval)) return Payoff::does_not_pay;
  if (!one.gain->above(1)) return Payoff::shows_no_gain;
  return one.gain->value <= 1 + largest_tie ? Payoff::gains_little : Payoff::may_pay;
}

/// "pays", "has no verdict", "may pay", "gains less than 3%", "shows no gain", "does not pay".
[[nodiscard]] inline std::string_view to_string(Payoff payoff) {
  switch (payoff) {
    case Payoff::pays:
      return "pays";
    case Payoff::undecided:
      return "has no verdict";
    case Payoff::may_pay:
      return "may pay";
    case Payoff::gains_little:
      return "gains less than 3%";
    case Payoff::shows_no_gain:
      return "shows no gain";
    case Payoff::does_not_pay:
      break;
  }
  return "does not pay";
}

}  // namespace parbench
