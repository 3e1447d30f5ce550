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

/// Sorts operations by decreasing FLOPs, the order in which tuning them saves most; keeps the order
/// of equal ones.
[[nodiscard]] std::vector<OpDesc> by_decreasing_work(std::vector<OpDesc> operations);

/// Budget of a device for tuning, over all operations of all cases.
class TuningBudget {
 public:
  explicit TuningBudget(double seconds = 10) : left_(seconds) {}

  void spend(double seconds) { left_ -= seconds; }
  [[nodiscard]] bool exhausted() const { return left_ <= 0; }
  /// Returns the limits for the next operation: the default limits, or the rest of the budget.
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

/// Measures candidates in order and returns the one with the lowest median. A candidate whose probe
/// takes more than 1.5 times the lowest median so far is not repeated. Candidates within 1% of the
/// lowest count as equal, and the earliest of them is chosen, because a choice by noise would
/// differ between runs. Nothing if no candidate can run. `now`: seconds of a clock.
[[nodiscard]] std::optional<std::size_t> fastest(std::size_t candidates, const TuningLimits& limits,
                                                 const std::function<double()>& now,
                                                 const TuningRuns& runs);

/// A candidate, and how it was chosen.
struct Choice {
  std::size_t index = 0;
  ChosenBy by = ChosenBy::library;
};

/// Returns the library's first candidate, nothing if there is none. `tunes`: whether the device
/// measures candidates, but lacked time or memory for these.
[[nodiscard]] std::optional<Choice> library_choice(std::optional<std::size_t> first, bool tunes);

/// Choices by operation. Equal devices share one object: times differ between devices and
/// measurements, but equal operations must compute the same bits.
class TuningChoices {
 public:
  using Choose = std::function<std::optional<std::size_t>()>;

  /// Without a file, choices are kept until the process ends.
  explicit TuningChoices(std::optional<TuningFile> file = std::nullopt) : file_(std::move(file)) {}

  /// Returns the choice for the operation from that number of candidates, made in this process or
  /// read from the file; otherwise calls `choose` and stores its result. An empty result (for lack
  /// of memory) is also remembered, but not written to the file: all devices then take the
  /// library's first candidate. Exceptions of `choose` are passed on, and nothing is remembered.
  [[nodiscard]] std::optional<std::size_t> once(const std::string& operation,
                                                std::size_t candidates, const Choose& choose);

 private:
  std::optional<TuningFile> file_;
  std::map<std::string, std::optional<std::size_t>> choices_;
};

}  // namespace parbench::cuda
