// Which of several kernels for the same work to take, by the times of their runs, and what was
// taken. No device is needed here.
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

/// What tuning of one operation may cost.
struct TuningLimits {
  std::size_t candidates = 16;  // that ran
  double seconds = 1;           // after which no further one is begun
};

/// Operations in the order in which they are worth tuning: the most arithmetic first, otherwise as
/// they were.
[[nodiscard]] std::vector<OpDesc> by_decreasing_work(std::vector<OpDesc> operations);

/// What tuning may cost a device altogether, however many operations its cases have.
class TuningBudget {
 public:
  explicit TuningBudget(double seconds = 10) : left_(seconds) {}

  void spend(double seconds) { left_ -= seconds; }
  [[nodiscard]] bool exhausted() const { return left_ <= 0; }
  /// Returns the limits of the next operation: the usual ones, or the rest of the budget.
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
  /// Seconds of one run, after one that warms up; nothing where the candidate cannot run.
  std::function<std::optional<double>(std::size_t index)> probe;
  /// Seconds of further runs of the candidate that was probed last; none where they fail.
  std::function<std::vector<double>()> repeat;
};

/// Measures candidates in their order, the likeliest first, and returns the one with the least
/// median. One whose probe takes more than 1.5 times the least median so far is not repeated: it
/// would cost most of the time and not be taken. Those within 1% of the least count as equal, and
/// the earliest of them is taken: what noise decides would differ from run to run. Nothing when
/// none can run. `now`: seconds of a clock.
[[nodiscard]] std::optional<std::size_t> fastest(std::size_t candidates, const TuningLimits& limits,
                                                 const std::function<double()>& now,
                                                 const TuningRuns& runs);

/// A candidate, and how it came to be the one.
struct Choice {
  std::size_t index = 0;
  ChosenBy by = ChosenBy::library;
};

/// The library's own first candidate, nothing where it has none. `tunes`: whether the device
/// measures candidates and has found none, for want of time or memory.
[[nodiscard]] std::optional<Choice> library_choice(std::optional<std::size_t> first, bool tunes);

/// What was chosen for each operation. Devices that are alike share one: times differ between them
/// and between measurements, but equal operations are to compute the same bits.
class TuningChoices {
 public:
  using Choose = std::function<std::optional<std::size_t>()>;

  /// Without a file choices are kept as long as the process runs.
  explicit TuningChoices(std::optional<TuningFile> file = std::nullopt) : file_(std::move(file)) {}

  /// What was chosen for the operation from so many candidates, in this process or an earlier one
  /// that wrote the file, or what `choose` chooses now. That there is no choice, as memory was
  /// short, is remembered as well, but not written: all then take the library's own. What `choose`
  /// throws is passed on, and nothing remembered.
  [[nodiscard]] std::optional<std::size_t> once(const std::string& operation,
                                                std::size_t candidates, const Choose& choose);

 private:
  std::optional<TuningFile> file_;
  std::map<std::string, std::optional<std::size_t>> choices_;
};

}  // namespace parbench::cuda
