// E-divisive with a permutation test that stops as soon as a segment cannot be significant.
#include "reports/dashboard/change_points.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <utility>

namespace parbench::report {
namespace {

struct Split {
  double statistic = 0;  // Q; 0: no difference
  std::size_t at = 0;
};

/// Computes Q for all τ and κ of a segment in time n² and memory n². The sums of several rows or
/// columns are interleaved, because each addition of a single sum would wait for the previous one.
class EnergyScan {
 public:
  EnergyScan(std::size_t max_values, std::size_t min_segment)
      : min_segment_(min_segment),
        sums_(padded(max_values) * (max_values + 1)),
        pairs_(max_values + 1),
        across_(max_values + 1),
        statistics_(max_values + 1) {
    for (std::size_t i = 0; i <= max_values; ++i) {
      inverse_.push_back(i == 0 ? 0.0 : 1.0 / static_cast<double>(i));
    }
  }

  /// Returns the split with the max Q, or the first one found whose Q reaches `enough`.
  Split best(std::span<const double> values, double enough) {
    sum_distances(values);
    std::ranges::fill(across_, 0.0);
    Split best;
    for (std::size_t tau = 1; tau + min_segment_ <= values.size(); ++tau) {
      const double* const row = &sums_[(tau - 1) * (values.size() + 1)];
      for (std::size_t k = 0; k <= values.size(); ++k) across_[k] += row[k];
      if (tau < min_segment_) continue;
      try_ends(values.size(), tau, best);
      if (best.statistic >= enough) break;
    }
    return best;
  }

 private:
  static constexpr std::size_t lanes = 4;
  static std::size_t padded(std::size_t count) { return (count + lanes - 1) / lanes * lanes; }

  /// Fills sums_[i·(n + 1) + k] with the sum of distances between value i and the first k values,
  /// and pairs_[k] with the sum over all pairs of the first k values.
  void sum_distances(std::span<const double> values) {
    const std::size_t stride = values.size() + 1;
    for (std::size_t first = 0; first < values.size(); first += lanes) {
      std::array<double, lanes> own{};
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        own[lane] = values[std::min(first + lane, values.size() - 1)];
      }
      std::array<double, lanes> sums{};
      for (std::size_t k = 0; k <= values.size(); ++k) {
        for (std::size_t lane = 0; lane < lanes; ++lane) {
          sums_[(first + lane) * stride + k] = sums[lane];
        }
        if (k == values.size()) break;
        for (std::size_t lane = 0; lane < lanes; ++lane) {
          sums[lane] += std::abs(own[lane] - values[k]);
        }
      }
    }
    pairs_[0] = 0;
    for (std::size_t k = 0; k < values.size(); ++k) {
      pairs_[k + 1] = pairs_[k] + sums_[k * stride + k];
    }
  }

  /// Computes Q for all ends κ of a segment that is split at τ, and replaces `best` if the largest
  /// of them is larger. Requires across_[k], the sum of distances between the values before τ and
  /// the first k values.
  void try_ends(std::size_t count, std::size_t tau, Split& best) {
    const auto m = static_cast<double>(tau);
    const double within_left = pairs_[tau];
    const double mean_left = 2 * within_left * inverse_[tau] * inverse_[tau - 1];
    const std::size_t first = tau + min_segment_;
    for (std::size_t kappa = first; kappa <= count; ++kappa) {
      const std::size_t length = kappa - tau;
      const double between = across_[kappa] - 2 * within_left;
      const double within_right = pairs_[kappa] - within_left - between;
      statistics_[kappa] =
          inverse_[kappa] * (2 * between - m * static_cast<double>(length) * mean_left -
                             2 * m * within_right * inverse_[length - 1]);
    }
    std::array<double, lanes> max{};
    for (std::size_t kappa = first; kappa + lanes <= count + 1; kappa += lanes) {
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        max[lane] = std::max(max[lane], statistics_[kappa + lane]);
      }
    }
    double largest = std::ranges::max(max);
    for (std::size_t kappa = count + 1 - std::min(lanes, count + 1 - first); kappa <= count;
         ++kappa) {
      largest = std::max(largest, statistics_[kappa]);
    }
    if (largest > best.statistic) best = {largest, tau};
  }

  std::size_t min_segment_;
  std::vector<double> sums_;
  std::vector<double> pairs_;
  std::vector<double> across_;
  std::vector<double> statistics_;  // values of Q for the current τ, by end κ
  std::vector<double> inverse_;
};

/// Bisects one window recursively.
class Window {
 public:
  Window(std::span<const double> values, const ChangePointParameters& parameters)
      : values_(values),
        parameters_(parameters),
        // E needs at least two values
        min_segment_(std::max<std::size_t>(parameters.min_segment, 2)),
        scan_(values.size(), min_segment_) {}

  std::vector<std::size_t> changes() {
    std::vector<std::pair<std::size_t, std::size_t>> open{{0, values_.size()}};
    std::vector<std::size_t> found;
    while (!open.empty()) {
      const auto [begin, end] = open.back();
      open.pop_back();
      if (end - begin < 2 * min_segment_) continue;
      const auto segment = values_.subspan(begin, end - begin);
      const Split split = scan_.best(segment, unreachable);
      if (split.at == 0 || !is_significant(segment, split.statistic)) continue;
      found.push_back(begin + split.at);
      open.emplace_back(begin, begin + split.at);
      open.emplace_back(begin + split.at, end);
    }
    std::ranges::sort(found);
    return found;
  }

 private:
  static constexpr double unreachable = HUGE_VAL;

  /// Permutation test: p = (1 + permutations that reach Q)/(1 + permutations) ≤ significance. Stops
  /// as soon as p exceeds the significance.
  bool is_significant(std::span<const double> segment, double statistic) {
    constexpr double rounding = 1e-9;  // the same values may be summed in another order
    const double wanted = statistic * (1 - rounding);
    const double max =
        parameters_.significance * (1 + static_cast<double>(parameters_.permutations)) - 1;
    std::vector<double> shuffled(segment.begin(), segment.end());
    std::mt19937_64 generator;  // the standard fixes its sequence for a seed
    int reached = 0;
    for (int i = 0; i < parameters_.permutations && reached <= max; ++i) {
      shuffle(shuffled, generator);
      if (scan_.best(shuffled, wanted).statistic >= wanted) ++reached;
    }
    return reached <= max;
  }

  /// Shuffles by Fisher and Yates, because std::shuffle may differ between libraries.
  static void shuffle(std::vector<double>& values, std::mt19937_64& generator) {
    for (std::size_t left = values.size(); left > 1; --left) {
      std::swap(values[left - 1], values[generator() % left]);
    }
  }

  std::span<const double> values_;
  const ChangePointParameters& parameters_;
  std::size_t min_segment_;
  EnergyScan scan_;
};

/// Returns the starts of the windows: half a window apart, the last window at the end of the
/// series.
std::vector<std::size_t> window_starts(std::size_t count, std::size_t window) {
  std::vector<std::size_t> starts;
  for (std::size_t start = 0; start + window < count; start += window / 2) starts.push_back(start);
  starts.push_back(count > window ? count - window : 0);
  return starts;
}

}  // namespace

std::vector<std::size_t> change_points(std::span<const double> values,
                                       const ChangePointParameters& parameters) {
  const std::vector<std::size_t> starts = window_starts(values.size(), parameters.window);
  const std::size_t slack = std::max(parameters.window / 8, parameters.min_segment);
  std::vector<std::size_t> changes;
  std::size_t begin = 0;  // changes before this value are those of earlier windows
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const bool last = i + 1 == starts.size();
    const std::size_t border = starts[i] + parameters.window / 2 + parameters.window / 4;
    std::size_t end = last ? values.size() : border + slack;
    const auto window =
        values.subspan(starts[i], std::min(parameters.window, values.size() - starts[i]));
    for (const std::size_t change : Window(window, parameters).changes()) {
      const std::size_t at = starts[i] + change;
      if (at < begin || at >= end) continue;
      changes.push_back(at);
      end = std::max(end, at + slack);
    }
    begin = border - slack;
    if (!changes.empty()) begin = std::max(begin, changes.back() + slack);
  }
  return changes;
}

}  // namespace parbench::report
