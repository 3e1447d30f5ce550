// What an answer recommends: of cases that do the same work, the simplest that may be the fastest.
#pragma once

#include <optional>
#include <string>
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
  /// Those that cannot be distinguished from the fastest, simplest first; the first is recommended.
  std::vector<LabelledCase> candidates = {};
  /// Whether it gains over the baseline: the baseline is no candidate, and the gain is beyond 1.
  bool pays = false;
  /// Over the baseline: of the recommended case, or of the fastest other one where none pays.
  std::optional<LabelledCase> gaining = {};
  std::optional<Ratio> gain = {};
  std::string remark = {};  // "93% (90–96%) of the copy hidden"; may be empty
  friend bool operator==(const Recommendation&, const Recommendation&) = default;
};

}  // namespace parbench::report
