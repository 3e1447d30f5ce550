// Selects the fastest candidate, and remembers selections.
#include "kernels/cuda/tuning/tuning.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "kernels/ops/flops.h"

namespace parbench::cuda {
namespace {

constexpr double tie = 1.01;  // max ratio to the lowest median of candidates that count as equal
constexpr double hopeless = 1.5;  // max ratio to the lowest median of a probe that is repeated

struct Measured {
  std::size_t index;
  double seconds;
};

double median(std::vector<double> seconds) {
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::ranges::nth_element(seconds, middle);
  return *middle;
}

}  // namespace

std::vector<OpDesc> by_decreasing_work(std::vector<OpDesc> operations) {
  std::ranges::stable_sort(operations, std::ranges::greater{}, flops_of);
  return operations;
}

std::optional<std::size_t> fastest(std::size_t candidates, const TuningLimits& limits,
                                   const std::function<double()>& now, const TuningRuns& runs) {
  const double end = now() + limits.seconds;
  std::vector<Measured> measured;
  double min = std::numeric_limits<double>::infinity();
  std::size_t ran = 0;
  for (std::size_t index = 0; index < candidates; ++index) {
    if (ran >= limits.candidates || (ran > 0 && now() >= end)) break;
    const std::optional<double> probe = runs.probe(index);
    if (!probe) continue;
    ++ran;
    if (*probe > hopeless * min) continue;
    std::vector<double> seconds = runs.repeat();
    if (seconds.empty()) continue;
    seconds.push_back(*probe);
    measured.push_back({index, median(std::move(seconds))});
    min = std::min(min, measured.back().seconds);
  }
  if (measured.empty()) return std::nullopt;
  const auto chosen =
      std::ranges::find_if(measured, [&](const Measured& one) { return one.seconds <= min * tie; });
  return chosen->index;
}

std::optional<Choice> library_choice(std::optional<std::size_t> first, bool tunes) {
  if (!first) return std::nullopt;
  return Choice{*first, tunes ? ChosenBy::heuristics : ChosenBy::library};
}

std::optional<std::size_t> TuningChoices::once(const std::string& operation, std::size_t candidates,
                                               const Choose& choose) {
  const auto known = choices_.find(operation);
  if (known != choices_.end()) return known->second;
  std::optional<std::size_t> choice;
  if (file_) choice = file_->find(operation, candidates);
  if (!choice) {
    choice = choose();
    if (file_ && choice) file_->add(operation, candidates, *choice);
  }
  choices_.emplace(operation, choice);
  return choice;
}

}  // namespace parbench::cuda
