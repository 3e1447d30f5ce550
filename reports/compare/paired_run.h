// The record of how `ab` ran its pairs, sufficient to judge them again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reports/compare/paired.h"

namespace parbench::compare {

struct Pair {
  bool now_first = false;  // NEW ran before BASE
  std::string started_utc;
  double seconds = 0;  // duration of both runs together
  LogRatios log_ratios;
};

/// The reason why no further pair was run.
enum class PairsEnd { settled, looks_taken, time_spent, nothing_comparable, interrupted, failed };

struct PairedRun {
  std::string base_command;
  std::string now_command;
  std::string measure;     // "report", "google-benchmark", "wall"
  std::uint64_t seed = 1;  // seed of the order within pairs
  double seconds = 0;
  double max_seconds = 0;  // time limit of the command
  std::vector<int> looks;  // numbers of pairs at which verdicts may be given
  std::vector<int> looks_taken;
  std::vector<Pair> pairs;
  PairsEnd end = PairsEnd::settled;
};

/// Returns "settled", "looks taken", ….
[[nodiscard]] std::string_view to_string(PairsEnd end);

/// Returns a sentence such as "7 pairs in 2 min 05 s, in the order AB BA BA AB AB BA AB (A is BASE,
/// B is NEW; seed 1): every verdict is settled."
[[nodiscard]] std::string pairs_text(const PairedRun& run);

}  // namespace parbench::compare
