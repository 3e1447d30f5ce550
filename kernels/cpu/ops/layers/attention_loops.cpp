// Softmax and its gradient in several passes over a row of scores, which is short enough to stay in
// the cache between passes.
#include "kernels/cpu/ops/layers/attention_loops.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/base/simd.h"
#include "kernels/cpu/ops/layers/vector_math.h"

namespace parbench::cpu {
namespace {

// The functions below are inlined into functions that are compiled once per instruction set.

/// Replaces the visible scores of a row with exp(scale · (score − maximum)). Returns their sum;
/// `max` gets the maximum.
[[gnu::always_inline]] inline float exponentials_of_row(float* scores, std::size_t visible,
                                                        float scale, float& max) {
  float highest = std::numeric_limits<float>::lowest();
#pragma omp simd reduction(max : highest)
  for (std::size_t i = 0; i < visible; ++i) {
    highest = scores[i] > highest ? scores[i] : highest;
  }
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t i = 0; i < visible; ++i) {
    scores[i] = vector_exp(scale * (scores[i] - highest));
    sum += scores[i];
  }
  max = highest;
  return sum;
}

template <class Element>
[[gnu::always_inline]] inline void soften_all(Element* probabilities, float* log_sums,
                                              float* scores, const ScoreBlock& block) {
  for (std::size_t row = 0; row < block.rows; ++row) {
    float* own_scores = scores + row * block.keys;
    Element* own = probabilities + row * block.keys;
    const std::size_t visible = block.visible(row);
    float max = 0;
    const float sum = exponentials_of_row(own_scores, visible, block.scale, max);
    const float factor = 1 / sum;
#pragma omp simd
    for (std::size_t i = 0; i < visible; ++i) set_element(own[i], own_scores[i] * factor);
    std::fill(own + visible, own + block.keys, Element{0});
    log_sums[row] = block.scale * max + std::log(sum);
  }
}

template <class Element>
[[gnu::always_inline]] inline void restore_all(Element* probabilities, const float* log_sums,
                                               const float* scores, const ScoreBlock& block) {
  for (std::size_t row = 0; row < block.rows; ++row) {
    const float* own_scores = scores + row * block.keys;
    Element* own = probabilities + row * block.keys;
    const std::size_t visible = block.visible(row);
    const float log_sum = log_sums[row];
    const float scale = block.scale;
#pragma omp simd
    for (std::size_t i = 0; i < visible; ++i) {
      set_element(own[i], vector_exp(scale * own_scores[i] - log_sum));
    }
    std::fill(own + visible, own + block.keys, Element{0});
  }
}

template <class Element>
[[gnu::always_inline]] inline void differentiate_all(Element* probabilities, const float* diff,
                                                     const float* means, const ScoreBlock& block) {
  for (std::size_t row = 0; row < block.rows; ++row) {
    Element* own = probabilities + row * block.keys;
    const float* own_diff = diff + row * block.keys;
    const std::size_t visible = block.visible(row);
    const float mean = means[row];
    const float scale = block.scale;
#pragma omp simd
    for (std::size_t i = 0; i < visible; ++i) {
      set_element(own[i], scale * to_f32(own[i]) * (own_diff[i] - mean));
    }
  }
}

template <class Element>
[[gnu::always_inline]] inline void multiply_all(float* sums, const Element* a, const Element* b,
                                                std::size_t next_b, std::size_t rows,
                                                std::size_t width) {
  for (std::size_t row = 0; row < rows; ++row) {
    const Element* left = a + row * width;
    const Element* right = b + row * next_b;
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t i = 0; i < width; ++i) sum += to_f32(left[i]) * to_f32(right[i]);
    sums[row] = sum;
  }
}

template <class Element>
[[gnu::always_inline]] inline void scatter_all(Element* to, std::size_t next, const float* from,
                                               std::size_t rows, std::size_t width) {
  for (std::size_t row = 0; row < rows; ++row) {
    Element* own = to + row * next;
    const float* values = from + row * width;
#pragma omp simd
    for (std::size_t i = 0; i < width; ++i) set_element(own[i], values[i]);
  }
}

}  // namespace

PARBENCH_SIMD void soften_rows(float* probabilities, float* log_sums, float* scores,
                               const ScoreBlock& block) {
  soften_all(probabilities, log_sums, scores, block);
}

PARBENCH_SIMD void soften_rows(std::uint16_t* probabilities, float* log_sums, float* scores,
                               const ScoreBlock& block) {
  soften_all(probabilities, log_sums, scores, block);
}

PARBENCH_SIMD void restore_rows(float* probabilities, const float* log_sums, const float* scores,
                                const ScoreBlock& block) {
  restore_all(probabilities, log_sums, scores, block);
}

PARBENCH_SIMD void restore_rows(std::uint16_t* probabilities, const float* log_sums,
                                const float* scores, const ScoreBlock& block) {
  restore_all(probabilities, log_sums, scores, block);
}

PARBENCH_SIMD void differentiate_rows(float* probabilities, const float* diff, const float* means,
                                      const ScoreBlock& block) {
  differentiate_all(probabilities, diff, means, block);
}

PARBENCH_SIMD void differentiate_rows(std::uint16_t* probabilities, const float* diff,
                                      const float* means, const ScoreBlock& block) {
  differentiate_all(probabilities, diff, means, block);
}

PARBENCH_SIMD void multiply_rows(float* sums, const float* a, const float* b, std::size_t next_b,
                                 std::size_t rows, std::size_t width) {
  multiply_all(sums, a, b, next_b, rows, width);
}

PARBENCH_SIMD void multiply_rows(float* sums, const std::uint16_t* a, const std::uint16_t* b,
                                 std::size_t next_b, std::size_t rows, std::size_t width) {
  multiply_all(sums, a, b, next_b, rows, width);
}

PARBENCH_SIMD void scatter_rows(float* to, std::size_t next, const float* from, std::size_t rows,
                                std::size_t width) {
  scatter_all(to, next, from, rows, width);
}

PARBENCH_SIMD void scatter_rows(std::uint16_t* to, std::size_t next, const float* from,
                                std::size_t rows, std::size_t width) {
  scatter_all(to, next, from, rows, width);
}

}  // namespace parbench::cpu
