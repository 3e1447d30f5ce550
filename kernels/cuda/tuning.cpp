// Selection of the fastest candidate, and memory of selections.
#include "kernels/cuda/tuning.h"

#include <algorithm>

namespace parbench::cuda {
namespace {

constexpr double tie = 1.01;  // times as long, and still equal

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

std::optional<std::size_t> fastest(std::size_t candidates, const TuningLimits& limits,
                                   const std::function<double()>& now,
                                   const MeasureCandidate& measure) {
  const double end = now() + limits.seconds;
  std::vector<Measured> measured;
  for (std::size_t index = 0; index < candidates; ++index) {
    if (measured.size() >= limits.candidates || now() >= end) break;
    std::vector<double> runs = measure(index);
    if (!runs.empty()) measured.push_back({index, median(std::move(runs))});
  }
  if (measured.empty()) return std::nullopt;
  const double least = std::ranges::min(measured, {}, &Measured::seconds).seconds;
  const auto chosen = std::ranges::find_if(
      measured, [&](const Measured& one) { return one.seconds <= least * tie; });
  return chosen->index;
}

std::optional<Choice> library_choice(std::optional<std::size_t> first, bool tunes) {
  if (!first) return std::nullopt;
  return Choice{*first, tunes ? ChosenBy::heuristics : ChosenBy::library};
}

std::optional<std::size_t> TuningChoices::once(const std::string& operation, const Choose& choose) {
  const auto known = choices_.find(operation);
  if (known != choices_.end()) return known->second;
  return choices_.emplace(operation, choose()).first->second;
}

}  // namespace parbench::cuda
