// A machine that is made up, for tests of the sampler.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "bench/sampling/sampler.h"

namespace parbench::test {

/// Plays the machine: hands out times and keeps a log of the steps.
class Machine {
 public:
  /// Seconds of one execution, by case and sample number.
  using Times = std::function<double(std::size_t index, int sample)>;

  Machine(SamplerOptions options, const std::vector<SamplerCase>& cases, Times times,
          double margin_seconds = 0)
      : sampler(options, {.total_seconds = options.total_seconds, .margin_seconds = margin_seconds},
                cases),
        times_(std::move(times)) {}

  /// At most `limit` steps; returns whether the sampler came to an end.
  bool run(int limit = 100'000) {
    for (int i = 0; i < limit; ++i) {
      const auto step = sampler.next();
      if (!step) return true;
      take(*step);
    }
    return false;
  }

  void take(const Step& step) {
    steps.push_back(step);
    const int number = step.kind == StepKind::sample ? taken_[step.index]++ : 0;
    const double seconds = times_(step.index, number);
    const double wall = seconds * static_cast<double>(step.iterations);
    clock += wall;
    spent[step.index] += wall;
    sampler.record(step, {seconds, seconds, step.iterations, step.round}, wall);
  }

  [[nodiscard]] int count(std::size_t index) const {
    return static_cast<int>(sampler.samples(index).size());
  }

  Sampler sampler;
  std::vector<Step> steps;
  std::map<std::size_t, double> spent;
  double clock = 0;

 private:
  Times times_;
  std::map<std::size_t, int> taken_;
};

inline double noisy(int sample, double middle, double amplitude) {
  static constexpr std::array pattern{0.0, 1.0, -1.0, 0.6, -0.6, 0.2, -0.2};
  return middle * (1 + amplitude * pattern[static_cast<std::size_t>(sample) % pattern.size()]);
}

}  // namespace parbench::test
