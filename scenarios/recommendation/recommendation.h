// The recommendation of an answer. Among cases that do the same work, it is the case that is
// expected to be the fastest, or a simpler one that is as fast within 3%.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/units/interval.h"

namespace parbench {

/// Maximum relative difference between the expected speeds of the fastest case and of a case tied
/// with it.
inline constexpr double largest_tie = 0.03;

/// Minimum share of a case's core time at which other programs count as a disturbance.
inline constexpr double min_cores_taken = 0.10;

/// A case with a label that distinguishes it from those with which it was compared: "split 5".
struct LabelledCase {
  std::string label;
  std::string name;  // name of the case
  friend bool operator==(const LabelledCase&, const LabelledCase&) = default;
};

struct Recommendation {
  /// Common parameters that distinguish these cases from others: "n 1024"; may be empty.
  std::string setting = {};
  /// The recommended case, followed by the cases tied with it, followed by the others that the
  /// samples do not rule out as the fastest. The tied cases and the others are each in the order of
  /// expected speed.
  std::vector<LabelledCase> candidates = {};
  /// Cases other than the recommended one that are tied with the fastest, including the fastest, in
  /// the order of expected speed.
  std::vector<LabelledCase> tied = {};
  /// Whether a case other than the baseline is recommended and its gain is shown: the whole
  /// interval is above 1, with 95% confidence, and load cannot explain it.
  bool pays = false;
  /// The recommended case; if the baseline is recommended, the other case with the largest gain,
  /// where gains that are shown come before others. `gain`: gain of this case over the baseline.
  std::optional<LabelledCase> gaining = {};
  std::optional<Ratio> gain = {};
  /// Gain of `tied.front()` over the baseline, if that case is the fastest and a simpler case other
  /// than the baseline is recommended.
  std::optional<Ratio> fastest_gain = {};
  std::string remark = {};  // "93% (90–96%) of the copy hidden"; may be empty
  /// Share of the core time that other programs had, if there is no verdict because this load can
  /// explain the gain or hide which case is the fastest; otherwise 0.
  double load = 0;
  /// Share of the core time that other programs had, if the recommended case pays, but the load may
  /// hide that another case is faster: by 10% or more, or one that the samples do not rule out.
  /// Otherwise 0.
  double hiding_load = 0;
  /// Number of processes that took the samples of the gain, if several.
  int processes = 0;
  friend bool operator==(const Recommendation&, const Recommendation&) = default;
};

/// Verdicts on the gain of a recommendation, in ascending order.
enum class Payoff { does_not_pay, shows_no_gain, gains_little, may_pay, undecided, pays };

/// Returns `undecided` if `load` is above 0, `pays` for a recommendation that pays, and `may_pay`
/// if a case other than the baseline is recommended but its gain is not shown. If the baseline is
/// recommended, the verdict is about the gain of the case `gaining`: `does_not_pay` if the whole
/// interval is below 1, with 95% confidence; if it is above 1, `gains_little` for a gain of at most
/// 3% and `may_pay` for a larger gain (only in reports of earlier versions); otherwise
/// `shows_no_gain`.
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
