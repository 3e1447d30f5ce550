// Runs of scenarios of several devices that are over in a moment, for tests of the real binary.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace parbench::test {

struct SmallRun {
  std::string scenario;
  Words sizes;

  /// The command line: all strategies on two devices, three samples each.
  [[nodiscard]] Words words() const {
    Words words{PARBENCH_BINARY, "--scenario", scenario,
                "--devices",     "2",          "--benchmark_repetitions=3"};
    words.insert(words.end(), sizes.begin(), sizes.end());
    return words;
  }
  friend void PrintTo(const SmallRun& run, std::ostream* out) { *out << run.scenario; }
};

inline std::vector<SmallRun> small_runs() {
  return {{"collectives", {"--size", "4KiB"}},
          {"data-parallel", {"--model", "linear"}},
          {"tensor-parallel",
           {"--model", "perceptron-block", "--batch", "4", "--hidden", "16", "--sequence", "8"}},
          {"hybrid", {"--model", "mlp", "--batch", "8", "--hidden", "16", "--layers", "4"}},
          {"graph", {"--dag", "mlp,layered", "--batch", "8", "--features", "16", "--nodes", "12"}}};
}

/// Skips a test of these runs on a machine, or a set of cores, with one core alone.
inline void require_two_cores() {
  if (run({PARBENCH_BINARY, "devices"}).out.find("cpu:1 ") == std::string::npos) {
    GTEST_SKIP() << "one core: no second device";
  }
}

/// Of an instance of a test, in which a name has no hyphens: "data_parallel".
inline std::string name_of(const ::testing::TestParamInfo<SmallRun>& info) {
  std::string name = info.param.scenario;
  std::ranges::replace(name, '-', '_');
  return name;
}

}  // namespace parbench::test
