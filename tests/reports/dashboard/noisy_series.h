// Histories with steps that are known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace parbench::report {

/// Noise around levels: `level(i)` of value i.
inline std::vector<double> series(std::size_t count,
                                  const std::function<double(std::size_t)>& level,
                                  std::uint64_t seed, double spread = 0.01) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> noise(0, spread);
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(level(i) + noise(generator));
  return values;
}

inline bool is_near(std::size_t found, std::size_t wanted) {
  return found <= wanted + 1 && wanted <= found + 1;
}

}  // namespace parbench::report
