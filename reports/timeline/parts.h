// The calls of each task on each of its lanes as one.
#pragma once

#include <cstddef>
#include <vector>

#include "reports/timeline/timeline.h"

namespace parbench::timeline {

struct Part {
  std::size_t task = 0;
  std::size_t lane = 0;
  Span enqueued;
  Span ran;
  double flops = 0;  // of all its calls; 0 where nothing is counted
  double bytes = 0;
};

/// In the order of their first calls.
[[nodiscard]] std::vector<Part> parts_of(const Timeline& timeline);

}  // namespace parbench::timeline
