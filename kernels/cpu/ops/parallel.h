// Divides a flat range among an OpenMP team.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstddef>

namespace parbench::cpu {

/// Calls body(begin, end) for disjoint ranges that cover [0, count), in `threads` threads if the
/// work is large enough. Ranges begin at multiples of `grain`.
template <class Body>
void parallel_ranges(std::size_t count, std::size_t grain, int threads, const Body& body) {
  constexpr std::size_t worth_a_team = 16384;
  const std::size_t grains = (count + grain - 1) / grain;
  if (threads == 1 || count < worth_a_team || grains == 1) {
    body(std::size_t{0}, count);
    return;
  }
#pragma omp parallel num_threads(threads)
  {
    const auto team = static_cast<std::size_t>(omp_get_num_threads());
    const auto self = static_cast<std::size_t>(omp_get_thread_num());
    const std::size_t begin = std::min(count, grains * self / team * grain);
    const std::size_t end = std::min(count, grains * (self + 1) / team * grain);
    if (begin < end) body(begin, end);
  }
}

}  // namespace parbench::cpu
