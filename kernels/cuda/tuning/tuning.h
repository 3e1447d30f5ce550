// Selects kernels by measured times, and stores selections. Needs no device.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/core/op.h"
#include "kernels/cuda/tuning/tuning_file.h"

namespace parbench::cuda {

/// Limits of tuning for one operation.
struct TuningLimits {
  std::size_t candidates = 16;  // maximum number of candidates to run
  double seconds = 1;           // no further candidate begins after this time
};

/// Sorts operations by decreasing FLOPs, because tuning saves most for the largest ones. Keeps the
/// order of operations with equal FLOPs.
[[nodiscard]] std::vector<OpDesc> by_decreasing_work(std::vector<OpDesc> operations);

/// Seconds that a device object may spend on tuning, over all its operations.
class TuningBudget {
 public:
  explicit TuningBudget(double seconds = 10) : left_(seconds) {}

  void spend(double seconds) { left_ -= seconds; }
  [[nodiscard]] bool exhausted() const { return left_ <= 0; }
  /// Returns the limits for the next operation: the default limits, but at most the seconds that
  /// are left.
  [[nodiscard]] TuningLimits limits() const {
    TuningLimits next;
    next.seconds = std::min(next.seconds, left_);
    return next;
  }

 private:
  double left_;
};

/// Runs candidates of one operation.
struct TuningRuns {
  /// Returns the seconds of one run, after a warm-up run; nothing if the candidate cannot run.
  std::function<std::optional<double>(std::size_t index)> probe;
  /// Returns the seconds of further runs of the candidate probed last; empty if they fail.
  std::function<std::vector<double>()> repeat;
};

/// Measures candidates in order and returns the index of the one with the lowest median. A
/// candidate whose probe takes more than 1.5 times the lowest median so far is discarded.
/// Candidates within 1% of the lowest median count as equal, and the first of them is chosen,
/// because a choice by noise would differ between runs. Returns nothing if no candidate can run.
/// `now`: seconds of a clock.
[[nodiscard]] std::optional<std::size_t> fastest(std::size_t candidates, const TuningLimits& limits,
                                                 const std::function<double()>& now,
                                                 const TuningRuns& runs);

/// A candidate, and how it was chosen.
struct Choice {
  std::size_t index = 0;
  ChosenBy by = ChosenBy::library;
};

/// Returns the library's first candidate; nothing if there is none. `tunes`: whether the device has
/// a tuner, which could not measure these candidates (for lack of time or memory, or because none
/// of them ran).
[[nodiscard]] std::optional<Choice> library_choice(std::optional<std::size_t> first, bool tunes);

/// Choices by operation. Equal devices share one object, because their measurements could lead to
/// different choices, but equal operations must compute the same bits.
class TuningChoices {
 public:
  using Choose = std::function<std::optional<std::size_t>()>;

  /// Without a file, choices are kept until the process ends.
  explicit TuningChoices(std::optional<TuningFile> file = std::nullopt) : file_(std::move(file)) {}

  /// Returns the choice for the operation that was made in this process, or that the file contains
  /// for the same number of candidates; otherwise calls `choose` and stores its result. An empty
  /// result (for lack of time or memory) is stored as well, but not in the file: all devices then
  /// use the library's first candidate. If `choose` throws, nothing is stored.
  [[nodiscard]] std::optional<std::size_t> once(const std::string& operation,
                                                std::size_t candidates, const Choose& choose);

 private:
  std::optional<TuningFile> file_;
  std::map<std::string, std::optional<std::size_t>> choices_;
};

}  // namespace parbench::cuda
