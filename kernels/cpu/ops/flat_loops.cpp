// Inner loops, compiled once per instruction set, and their division among threads.
#include "kernels/cpu/ops/flat_loops.h"

#include <algorithm>

#include "kernels/base/bfloat16.h"
#include "kernels/base/simd.h"
#include "kernels/cpu/ops/parallel.h"
#include "kernels/cpu/ops/vectors.h"

namespace parbench::cpu {
namespace {

constexpr std::size_t grain = 1024;  // elements; whole cache lines for every type

// The attribute for several instruction sets does not apply inside OpenMP regions, so each loop is
// a function of its own. `omp simd` lets the compiler assume that an output is either the memory of
// an input or does not overlap with that input.

PARBENCH_SIMD void accumulate_range(float* destination, const float* source, std::size_t count) {
#pragma omp simd
  for (std::size_t i = 0; i < count; ++i) destination[i] += source[i];
}

PARBENCH_SIMD void descend_range(float* parameters, const float* gradients, float rate,
                                 std::size_t count) {
#pragma omp simd
  for (std::size_t i = 0; i < count; ++i) parameters[i] -= rate * gradients[i];
}

// Masks are read and written 16 bits at a time. The following bodies of loops are inlined into the
// functions that are compiled once per instruction set.

template <class Element>
[[gnu::always_inline]] inline void add_relu_blocks(Element* destination, std::uint8_t* mask,
                                                   const Element* addend, std::size_t count) {
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    Floats sum;
    Floats other;
    load(sum, destination + i);
    load(other, addend + i);
    sum += other;
    set_bits(mask + i / 8, sum > 0.0F);
    sum = sum <= 0.0F ? 0.0F : sum;
    store(destination + i, sum);
  }
  std::fill_n(mask + i / 8, mask_bytes(count - i), std::uint8_t{0});
  for (; i < count; ++i) {
    const float sum = widened(destination[i]) + widened(addend[i]);
    if (sum > 0) mask[i / 8] |= static_cast<std::uint8_t>(1U << i % 8);
    round_to(destination[i], sum <= 0 ? 0.0F : sum);
  }
}

template <bool two, class Element>
[[gnu::always_inline]] inline void masked_blocks(Element* out, const std::uint8_t* mask,
                                                 const Element* a, const Element* b,
                                                 std::size_t count) {
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    Selection wanted;
    Floats sum;
    get_bits(wanted, mask + i / 8);
    load(sum, a + i);
    if constexpr (two) {
      Floats other;
      load(other, b + i);
      sum += other;
    }
    sum = wanted ? sum : 0.0F;
    store(out + i, sum);
  }
  for (; i < count; ++i) {
    float sum = widened(a[i]);
    if constexpr (two) sum += widened(b[i]);
    round_to(out[i], (mask[i / 8] & 1U << i % 8) != 0 ? sum : 0.0F);
  }
}

PARBENCH_SIMD void add_relu_range(float* destination, std::uint8_t* mask, const float* addend,
                                  std::size_t count) {
  add_relu_blocks(destination, mask, addend, count);
}

PARBENCH_SIMD void add_relu_range(std::uint16_t* destination, std::uint8_t* mask,
                                  const std::uint16_t* addend, std::size_t count) {
  add_relu_blocks(destination, mask, addend, count);
}

PARBENCH_SIMD void masked_sum_range(float* out, const std::uint8_t* mask, const float* a,
                                    const float* b, std::size_t count) {
  if (b != nullptr) {
    masked_blocks<true>(out, mask, a, b, count);
  } else {
    masked_blocks<false>(out, mask, a, b, count);
  }
}

PARBENCH_SIMD void masked_sum_range(std::uint16_t* out, const std::uint8_t* mask,
                                    const std::uint16_t* a, const std::uint16_t* b,
                                    std::size_t count) {
  if (b != nullptr) {
    masked_blocks<true>(out, mask, a, b, count);
  } else {
    masked_blocks<false>(out, mask, a, b, count);
  }
}

PARBENCH_SIMD void narrow_range(std::uint16_t* destination, const float* source,
                                std::size_t count) {
#pragma omp simd
  for (std::size_t i = 0; i < count; ++i) destination[i] = to_bf16(source[i]);
}

template <class Element, class Addend>
[[gnu::always_inline]] inline void add_row(Element* destination, const Element* source,
                                           const Addend* addend, std::size_t count) {
#pragma omp simd
  for (std::size_t i = 0; i < count; ++i) {
    round_to(destination[i], widened(source[i]) + widened(addend[i]));
  }
}

PARBENCH_SIMD void add_row_range(float* destination, const float* source, const float* addend,
                                 std::size_t count) {
  add_row(destination, source, addend, count);
}

PARBENCH_SIMD void add_row_range(std::uint16_t* destination, const std::uint16_t* source,
                                 const std::uint16_t* addend, std::size_t count) {
  add_row(destination, source, addend, count);
}

PARBENCH_SIMD void add_row_range(std::uint16_t* destination, const std::uint16_t* source,
                                 const float* addend, std::size_t count) {
  add_row(destination, source, addend, count);
}

/// Adds `addend` to each of `repeats` rows of `count` elements. Threads divide all elements into
/// consecutive ranges, which they process row by row.
template <class Element, class Addend>
void add_rows(Element* destination, const Element* source, const Addend* addend,
              std::size_t repeats, std::size_t count, int threads) {
  parallel_ranges(repeats * count, grain, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end;) {
      const std::size_t column = i % count;
      const std::size_t length = std::min(count - column, end - i);
      add_row_range(destination + i, source + i, addend + column, length);
      i += length;
    }
  });
}

constexpr std::size_t rows_at_once = 8;

/// Adds `rows_at_once` rows, which begin `stride` elements apart, to the sums in order.
template <class Element>
[[gnu::always_inline]] inline void add_to_sums(float* sums, const Element* rows, std::size_t stride,
                                               std::size_t count) {
#pragma omp simd
  for (std::size_t i = 0; i < count; ++i) {
    float sum = sums[i];
    for (std::size_t row = 0; row < rows_at_once; ++row) sum += widened(rows[row * stride + i]);
    sums[i] = sum;
  }
}

template <class Element>
[[gnu::always_inline]] inline void add_to_sums(float* sums, const Element* row, std::size_t count) {
#pragma omp simd
  for (std::size_t i = 0; i < count; ++i) sums[i] += widened(row[i]);
}

/// Adds `repeats` rows to the sums in order.
template <class Element>
[[gnu::always_inline]] inline void add_all_to_sums(float* sums, const Element* rows,
                                                   std::size_t repeats, std::size_t stride,
                                                   std::size_t count) {
  std::size_t row = 0;
  for (; row + rows_at_once <= repeats; row += rows_at_once) {
    add_to_sums(sums, rows + row * stride, stride, count);
  }
  for (; row < repeats; ++row) add_to_sums(sums, rows + row * stride, count);
}

PARBENCH_SIMD void add_all_to_sums_range(float* sums, const float* rows, std::size_t repeats,
                                         std::size_t stride, std::size_t count) {
  add_all_to_sums(sums, rows, repeats, stride, count);
}

PARBENCH_SIMD void add_all_to_sums_range(float* sums, const std::uint16_t* rows,
                                         std::size_t repeats, std::size_t stride,
                                         std::size_t count) {
  add_all_to_sums(sums, rows, repeats, stride, count);
}

/// Sums rows. Threads divide the columns, so that the order of additions is the same for any number
/// of threads.
template <class Element>
void sum_rows(float* sums, const Element* rows, std::size_t repeats, std::size_t count,
              bool accumulate, int threads) {
  constexpr std::size_t columns = 64;
  parallel_ranges(repeats * count, repeats * columns, threads,
                  [&](std::size_t first_element, std::size_t end_element) {
                    const std::size_t begin = first_element / repeats;
                    const std::size_t end = end_element / repeats;
                    if (!accumulate) std::fill(sums + begin, sums + end, 0.0F);
                    add_all_to_sums_range(sums + begin, rows + begin, repeats, count, end - begin);
                  });
}

template <class Element>
double squared_error_block(Element* difference, const Element* prediction, const Element* target,
                           float scale, std::size_t count) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t i = 0; i < count; ++i) {
    const float delta = widened(prediction[i]) - widened(target[i]);
    sum += static_cast<double>(delta) * static_cast<double>(delta);
    round_to(difference[i], scale * delta);
  }
  return sum;
}

template <class Element>
void squared_error_blocks(Element* difference, double* partial_sums, const Element* prediction,
                          const Element* target, float scale, std::size_t count, int threads) {
  parallel_ranges(count, error_block, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; i += error_block) {
      partial_sums[i / error_block] = squared_error_block(
          difference + i, prediction + i, target + i, scale, std::min(error_block, end - i));
    }
  });
}

}  // namespace

void accumulate(float* destination, const float* source, std::size_t count, int threads) {
  parallel_ranges(count, grain, threads, [&](std::size_t begin, std::size_t end) {
    accumulate_range(destination + begin, source + begin, end - begin);
  });
}

void descend(float* parameters, const float* gradients, float rate, std::size_t count,
             int threads) {
  parallel_ranges(count, grain, threads, [&](std::size_t begin, std::size_t end) {
    descend_range(parameters + begin, gradients + begin, rate, end - begin);
  });
}

void add_relu(float* destination, std::uint8_t* mask, const float* addend, std::size_t count,
              int threads) {
  parallel_ranges(count, grain, threads, [&](std::size_t begin, std::size_t end) {
    add_relu_range(destination + begin, mask + begin / 8, addend + begin, end - begin);
  });
}

void add_relu(std::uint16_t* destination, std::uint8_t* mask, const std::uint16_t* addend,
              std::size_t count, int threads) {
  parallel_ranges(count, grain, threads, [&](std::size_t begin, std::size_t end) {
    add_relu_range(destination + begin, mask + begin / 8, addend + begin, end - begin);
  });
}

void masked_sum(float* out, const std::uint8_t* mask, const float* a, const float* b,
                std::size_t count, int threads) {
  parallel_ranges(count, grain, threads, [&](std::size_t begin, std::size_t end) {
    masked_sum_range(out + begin, mask + begin / 8, a + begin, b == nullptr ? b : b + begin,
                     end - begin);
  });
}

void masked_sum(std::uint16_t* out, const std::uint8_t* mask, const std::uint16_t* a,
                const std::uint16_t* b, std::size_t count, int threads) {
  parallel_ranges(count, grain, threads, [&](std::size_t begin, std::size_t end) {
    masked_sum_range(out + begin, mask + begin / 8, a + begin, b == nullptr ? b : b + begin,
                     end - begin);
  });
}

void add_repeated(float* destination, const float* source, const float* addend, std::size_t repeats,
                  std::size_t count, int threads) {
  add_rows(destination, source, addend, repeats, count, threads);
}

void add_repeated(std::uint16_t* destination, const std::uint16_t* source,
                  const std::uint16_t* addend, std::size_t repeats, std::size_t count,
                  int threads) {
  add_rows(destination, source, addend, repeats, count, threads);
}

void add_repeated(std::uint16_t* destination, const std::uint16_t* source, const float* addend,
                  std::size_t repeats, std::size_t count, int threads) {
  add_rows(destination, source, addend, repeats, count, threads);
}

void sum_repeats(float* sums, const float* rows, std::size_t repeats, std::size_t count,
                 bool accumulate, int threads) {
  sum_rows(sums, rows, repeats, count, accumulate, threads);
}

void sum_repeats(float* sums, const std::uint16_t* rows, std::size_t repeats, std::size_t count,
                 bool accumulate, int threads) {
  sum_rows(sums, rows, repeats, count, accumulate, threads);
}

void squared_error(float* difference, double* partial_sums, const float* prediction,
                   const float* target, float scale, std::size_t count, int threads) {
  squared_error_blocks(difference, partial_sums, prediction, target, scale, count, threads);
}

void squared_error(std::uint16_t* difference, double* partial_sums, const std::uint16_t* prediction,
                   const std::uint16_t* target, float scale, std::size_t count, int threads) {
  squared_error_blocks(difference, partial_sums, prediction, target, scale, count, threads);
}

void narrow(std::uint16_t* destination, const float* source, std::size_t count) {
  narrow_range(destination, source, count);
}

}  // namespace parbench::cpu
