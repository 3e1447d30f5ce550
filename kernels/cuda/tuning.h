// Which of several kernels for the same work to take, by the times of their runs, and what was
// taken. No device is needed here.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernels/op.h"

namespace parbench::cuda {

/// What tuning of one operation may cost.
struct TuningLimits {
  std::size_t candidates = 16;  // that ran
  double seconds = 1;           // after which no further one is begun
};

/// What tuning may cost a device altogether, however many operations its cases have.
class TuningBudget {
 public:
  explicit TuningBudget(double seconds = 10) : left_(seconds) {}

  void spend(double seconds) { left_ -= seconds; }
  [[nodiscard]] bool exhausted() const { return left_ <= 0; }
  /// Of the next operation: the usual ones, or what is left.
  [[nodiscard]] TuningLimits limits() const {
    TuningLimits next;
    next.seconds = std::min(next.seconds, left_);
    return next;
  }

 private:
  double left_;
};

/// Seconds of a candidate's runs; none where it cannot run.
using MeasureCandidate = std::function<std::vector<double>(std::size_t index)>;

/// Measures candidates in their order, the likeliest first, and returns the one with the least
/// median. Those within 1% of it count as equal, and the earliest of them is taken: what noise
/// decides would differ from run to run. Nothing when none can run. `now`: seconds of a clock.
[[nodiscard]] std::optional<std::size_t> fastest(std::size_t candidates, const TuningLimits& limits,
                                                 const std::function<double()>& now,
                                                 const MeasureCandidate& measure);

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

  /// What was chosen for the operation, or what `choose` chooses now. That there is no choice, as
  /// memory was short, is remembered as well: all then take the library's own. What `choose` throws
  /// is passed on, and nothing remembered.
  [[nodiscard]] std::optional<std::size_t> once(const std::string& operation, const Choose& choose);

 private:
  std::map<std::string, std::optional<std::size_t>> choices_;
};

}  // namespace parbench::cuda
