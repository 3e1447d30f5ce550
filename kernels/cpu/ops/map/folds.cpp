// Reductions of tiles, in loops that are compiled once per instruction set.
#include <algorithm>

#include "kernels/base/simd.h"
#include "kernels/cpu/ops/map/tiles.h"
#include "kernels/cpu/ops/vectors.h"

namespace parbench::cpu {
namespace {

// Operations that combine a number, or a vector lane by lane, with another one. A NaN stays a NaN.

struct Sum {
  template <class Value>
  [[gnu::always_inline]] void operator()(Value& a, const Value& b) const {
    a += b;
  }
};

struct Product {
  template <class Value>
  [[gnu::always_inline]] void operator()(Value& a, const Value& b) const {
    a *= b;
  }
};

struct Maximum {
  template <class Value>
  [[gnu::always_inline]] void operator()(Value& a, const Value& b) const {
    const Value greater = a > b ? a : b;
    a = a == a ? greater : a;  // NOLINT(misc-redundant-expression): false for NaN
  }
};

struct Minimum {
  template <class Value>
  [[gnu::always_inline]] void operator()(Value& a, const Value& b) const {
    const Value less = a < b ? a : b;
    a = a == a ? less : a;  // NOLINT(misc-redundant-expression): false for NaN
  }
};

/// Calls `function` with the operation of a reduction, such as `Sum`.
template <class Function>
[[gnu::always_inline]] inline void with_combination(Reduction reduction, const Function& function) {
  switch (reduction) {
    case Reduction::maximum:
      return function(Maximum{});
    case Reduction::minimum:
      return function(Minimum{});
    case Reduction::product:
      return function(Product{});
    default:
      return function(Sum{});
  }
}

/// Combines the lanes of a vector: repeatedly the lower half with the upper half.
template <class Combination>
[[gnu::always_inline]] inline float folded_lanes(const Floats& vector,
                                                 const Combination& combined) {
  float parts[lanes];
  store(parts, vector);
  for (std::size_t half = lanes / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) combined(parts[i], parts[i + half]);
  }
  return parts[0];
}

/// Reduces a row, with four vectors of partial results, so that successive additions are
/// independent.
template <class Combination>
[[gnu::always_inline]] inline float folded_row(const float* in, std::size_t count,
                                               const Combination& combined) {
  std::size_t i = 0;
  float result = 0;
  Floats next;
  if (count >= lanes) {
    Floats first;
    load(first, in);
    i = lanes;
    if (count >= 4 * lanes) {
      Floats more[3];
      for (Floats& one : more) {
        load(one, in + i);
        i += lanes;
      }
      for (; i + 4 * lanes <= count; i += 4 * lanes) {
        load(next, in + i);
        combined(first, next);
        for (std::size_t k = 0; k < 3; ++k) {
          load(next, in + i + (k + 1) * lanes);
          combined(more[k], next);
        }
      }
      combined(first, more[0]);
      combined(more[1], more[2]);
      combined(first, more[1]);
    }
    for (; i + lanes <= count; i += lanes) {
      load(next, in + i);
      combined(first, next);
    }
    result = folded_lanes(first, combined);
  } else {
    result = in[i++];
  }
  for (; i < count; ++i) combined(result, in[i]);
  return result;
}

PARBENCH_SIMD void fold_rows(Reduction reduction, float* out, const float* in, std::size_t rows,
                             std::size_t count) {
  with_combination(
      reduction, [&](const auto& combined) __attribute__((always_inline)) {
        for (std::size_t row = 0; row < rows; ++row) {
          out[row] = folded_row(in + row * count, count, combined);
        }
      });
}

/// out[i] = the combination of a[i] and b[i]; `out` may be `a`.
PARBENCH_SIMD void combine_range(Reduction reduction, float* out, const float* a, const float* b,
                                 std::size_t count) {
  with_combination(
      reduction, [&](const auto& combined) __attribute__((always_inline)) {
#pragma omp simd
        for (std::size_t i = 0; i < count; ++i) {
          float value = a[i];
          combined(value, b[i]);
          out[i] = value;
        }
      });
}

/// Combines the four quarters of `in`, `count` elements each, element by element; `out` may be
/// `in`.
PARBENCH_SIMD void combine_quarters(Reduction reduction, float* out, const float* in,
                                    std::size_t count) {
  with_combination(
      reduction, [&](const auto& combined) __attribute__((always_inline)) {
#pragma omp simd
        for (std::size_t i = 0; i < count; ++i) {
          float value = in[i];
          float other = in[2 * count + i];
          combined(value, in[count + i]);
          combined(other, in[3 * count + i]);
          combined(value, other);
          out[i] = value;
        }
      });
}

template <class Element>
[[gnu::always_inline]] inline void combine_totals(Reduction reduction, double* totals,
                                                  const Element* others, std::size_t count) {
  with_combination(
      reduction, [&](const auto& combined) __attribute__((always_inline)) {
#pragma omp simd
        for (std::size_t i = 0; i < count; ++i) {
          double value = totals[i];
          combined(value, static_cast<double>(others[i]));
          totals[i] = value;
        }
      });
}

PARBENCH_SIMD void combine_range(Reduction reduction, double* totals, const float* block,
                                 std::size_t count) {
  combine_totals(reduction, totals, block, count);
}

PARBENCH_SIMD void combine_range(Reduction reduction, double* totals, const double* others,
                                 std::size_t count) {
  combine_totals(reduction, totals, others, count);
}

/// Reduces `rows` rows of `count` elements to one row: combines the first quarter of the rows with
/// the others, or the first half with the second, until one row is left.
void fold_columns(Reduction reduction, float* work, const float* in, std::size_t rows,
                  std::size_t count) {
  while (rows > 1) {
    const std::size_t parts = rows >= 4 ? 4 : 2;
    const std::size_t part = rows / parts;
    if (parts == 4) {
      combine_quarters(reduction, work, in, part * count);
    } else {
      combine_range(reduction, work, in, in + part * count, part * count);
    }
    const std::size_t left = rows - parts * part;
    std::copy_n(in + parts * part * count, left * count, work + part * count);
    in = work;
    rows = part + left;
  }
  if (in != work) std::copy_n(in, count, work);
}

/// Reduces the middle dimension of `in` {outer, middle, inner}.
void fold(Reduction reduction, float* work, const float* in, std::size_t outer, std::size_t middle,
          std::size_t inner) {
  if (inner == 1) return fold_rows(reduction, work, in, outer, middle);
  for (std::size_t i = 0; i < outer; ++i) {
    const float* from = in + i * middle * inner;
    if (in != work) {
      fold_columns(reduction, work + i * inner, from, middle, inner);
      continue;
    }
    float* rows = work + i * middle * inner;
    fold_columns(reduction, rows, rows, middle, inner);
    if (i > 0) std::copy_n(rows, inner, work + i * inner);
  }
}

}  // namespace

void fold_tile(Reduction reduction, float* work, const float* block, const TileExtents& extents,
               const std::array<bool, tile_dimensions>& is_reduced) {
  std::size_t inner = 1;
  auto outer = static_cast<std::size_t>(element_count(extents));
  for (std::size_t i = 0; i < tile_dimensions; ++i) {
    const auto extent = static_cast<std::size_t>(extents.at(i));
    outer /= extent;
    if (!is_reduced.at(i)) {
      inner *= extent;
    } else if (extent > 1) {
      fold(reduction, work, block, outer, extent, inner);
      block = work;
    }
  }
  if (block != work) std::copy_n(block, inner, work);
}

void combine(Reduction reduction, double* totals, const float* block, std::size_t count) {
  combine_range(reduction, totals, block, count);
}

void combine(Reduction reduction, double* totals, const double* others, std::size_t count) {
  combine_range(reduction, totals, others, count);
}

}  // namespace parbench::cpu
