// What an answer recommends: of cases that do the same work, the simplest that may be the fastest.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/units/interval.h"

namespace parbench::report {

/// A case, by what distinguishes it from those it was compared with: "split 5".
struct LabelledCase {
  std::string label;
  std::string name;  // the case's
  friend bool operator==(const LabelledCase&, const LabelledCase&) = default;
};

struct Recommendation {
  std::string setting =
      {};  // what its cases have in common and others have not: "n 1024"; may be empty
  /// The recommended case, then the others that cannot be distinguished from the fastest, simplest
  /// first. The recommended case is one of them, or the baseline where none of them pays.
  std::vector<LabelledCase> candidates = {};
  /// Whether it gains over the baseline: the baseline cannot be the fastest, and the whole interval
  /// of the gain, which has the confidence that is wanted, is above 1.
  bool pays = false;
  /// Over the baseline: of the recommended case, or of the fastest other one where none pays.
  std::optional<LabelledCase> gaining = {};
  std::optional<Ratio> gain = {};
  /// Over the same baseline, where another case is recommended than the one that `gain` is of.
  std::optional<Ratio> recommended_gain = {};
  std::string remark = {};  // "93% (90–96%) of the copy hidden"; may be empty
  friend bool operator==(const Recommendation&, const Recommendation&) = default;
};

/// What the samples show of a recommendation's gain, in ascending order.
enum class Payoff { does_not_pay, shows_no_gain, may_pay, pays };

/// Returns `pays` only for a recommendation that pays. Of the others, the whole interval of the
/// gain is below 1, with the confidence that is wanted (`does_not_pay`), above 1 all the same
/// (`may_pay`), or neither. Where a case is recommended that gains as much itself, as far as that
/// interval shows, such as a graph of one stream, the gain of another shows nothing.
[[nodiscard]] inline Payoff payoff_of(const Recommendation& one) {
  if (one.pays) return Payoff::pays;
  if (!one.gain) return Payoff::shows_no_gain;
  if (one.gain->below(1) && !is_low(one.gain->interval)) return Payoff::does_not_pay;
  const double low = one.gain->interval ? one.gain->interval->low : one.gain->value;
  if (one.recommended_gain && one.recommended_gain->value >= low) return Payoff::shows_no_gain;
  const bool is_single = !one.gain->interval && one.gain->value > 1;  // one sample
  return is_single || one.gain->above(1) ? Payoff::may_pay : Payoff::shows_no_gain;
}

/// "pays", "may pay", "shows no gain", "does not pay".
[[nodiscard]] inline std::string_view to_string(Payoff payoff) {
  switch (payoff) {
    case Payoff::pays:
      return "pays";
    case Payoff::may_pay:
      return "may pay";
    case Payoff::shows_no_gain:
      return "shows no gain";
    case Payoff::does_not_pay:
      break;
  }
  return "does not pay";
}

}  // namespace parbench::report
