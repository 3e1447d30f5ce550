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

/// Plays the machine: hands out times and keeps a log of the measurements.
class Machine {
 public:
  /// Seconds of one execution, by case and sample number.
  using Times = std::function<double(std::size_t index, int sample)>;

  Machine(SamplerOptions options, const std::vector<SamplerCase>& cases, Times times,
          double margin_seconds = 0)
      : sampler(options, {.total_seconds = options.total_seconds, .margin_seconds = margin_seconds},
                cases),
        times_(std::move(times)) {}

  /// At most `limit` measurements; returns whether the sampler came to an end.
  bool run(int limit = 100'000) {
    for (int i = 0; i < limit; ++i) {
      const auto measurement = sampler.next();
      if (!measurement) return true;
      take(*measurement);
    }
    return false;
  }

  void take(const Measurement& measurement) {
    measurements.push_back(measurement);
    const int number =
        measurement.kind == MeasurementKind::sample ? taken_[measurement.index]++ : 0;
    const double seconds = times_(measurement.index, number);
    const double wall = seconds * static_cast<double>(measurement.iterations);
    clock += wall;
    spent[measurement.index] += wall;
    sampler.record(measurement, {seconds, seconds, measurement.iterations, measurement.round},
                   wall);
  }

  [[nodiscard]] int count(std::size_t index) const {
    return static_cast<int>(sampler.samples(index).size());
  }

  Sampler sampler;
  std::vector<Measurement> measurements;
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
