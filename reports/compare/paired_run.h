// How the pairs of a comparison came about: what `ab` did, and what is needed to judge it again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reports/compare/paired.h"

namespace parbench::compare {

struct Pair {
  bool now_first = false;  // the order of its two runs
  std::string started_utc;
  double seconds = 0;  // both runs
  LogRatios log_ratios;
};

/// Why no further pair was run.
enum class PairsEnd { settled, looks_taken, time_spent, nothing_comparable, interrupted, failed };

struct PairedRun {
  std::string base_command;
  std::string now_command;
  std::string measure;     // "report", "google-benchmark", "wall"
  std::uint64_t seed = 1;  // of the order within pairs
  double seconds = 0;
  double max_seconds = 0;  // that it was given
  std::vector<int> looks;  // numbers of pairs at which verdicts may be given
  std::vector<int> looks_taken;
  std::vector<Pair> pairs;
  PairsEnd end = PairsEnd::settled;
};

/// "settled", "looks taken", …
[[nodiscard]] std::string_view to_string(PairsEnd end);

/// "7 pairs in 2 min 05 s, in the order AB BA BA AB AB BA AB (A is BASE, B is NEW; seed 1): every
/// verdict is settled."
[[nodiscard]] std::string pairs_text(const PairedRun& run);

}  // namespace parbench::compare
