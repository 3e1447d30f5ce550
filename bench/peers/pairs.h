// Samples two sides in alternation, so that disturbances of the machine affect both.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace parbench::peers {

struct Effort {
  int pairs = 15;
  double sample_seconds = 0.1;  // minimum duration of a sample, reached by repeating
};

/// Mean seconds of one execution in each sample. Samples with the same index form a pair.
struct Pairs {
  std::vector<double> ours;
  std::vector<double> peer;
};

/// Function that executes a side `executions` times and returns the total seconds.
using Run = std::function<double(int executions)>;

/// Samples both sides in pairs, with equally many executions in each sample. The order alternates
/// from pair to pair, so that a drift favours neither side.
[[nodiscard]] inline Pairs sample_pairs(const Effort& effort, const Run& ours, const Run& peer) {
  constexpr double max_executions = 10000;
  const double once = std::max(std::min(ours(1), peer(1)), 1e-9);
  const int executions =
      static_cast<int>(std::clamp(std::ceil(effort.sample_seconds / once), 1.0, max_executions));
  Pairs pairs;
  for (int pair = 0; pair < effort.pairs; ++pair) {
    const bool ours_first = pair % 2 == 0;
    if (ours_first) pairs.ours.push_back(ours(executions) / executions);
    pairs.peer.push_back(peer(executions) / executions);
    if (!ours_first) pairs.ours.push_back(ours(executions) / executions);
  }
  return pairs;
}

}  // namespace parbench::peers
