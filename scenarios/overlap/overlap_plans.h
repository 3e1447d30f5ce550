// Plans of scenario overlap: products and copies alone, in turn and overlapped.
#pragma once

#include <cstdint>

#include "scenarios/framework/prepared_case.h"

namespace parbench {

/// Host memory of the copied matrices. `fresh` is pageable memory that the copy lane resets to
/// newly allocated state before each copy: releasing its pages and their first use are part of the
/// time.
enum class HostMemory { pinned, pageable, fresh };

/// Sizes of a case. Matrices {n, n} are copied. d2h: they are products {n, inner}·{inner, n}; h2d:
/// they are multiplied by a matrix {n, inner}.
struct OverlapSizes {
  std::int64_t n = 1;
  std::int64_t inner = 1;
  std::int64_t count = 1;
  std::int64_t chunk = 0;     // rows per copy; 0: all
  std::int64_t prefetch = 0;  // matrices in flight in addition to the current one
  bool to_host = true;        // d2h
  HostMemory memory = HostMemory::pinned;
  DType dtype = DType::f32;
  MathMode math = MathMode::strict;

  [[nodiscard]] double copied_bytes() const {
    return static_cast<double>(n * n * count) * static_cast<double>(size_of(dtype));
  }
};

enum class OverlapOrder {
  compute,     // products only
  copy,        // copies only
  sequential,  // all products, then all copies (d2h), or the reverse (h2d)
  overlapped,  // matrices are copied while others are computed, prefetch + 1 of them in flight
};

/// Adds the plan, the data and the checks.
void plan_overlap(CaseParts& parts, const OverlapSizes& sizes, OverlapOrder order);

}  // namespace parbench
