// The loops of attention between its matrix products: softmax, its gradient, and copies of one
// head's vectors. Each runs in the calling thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace parbench::cpu {

/// Scores of some queries, {rows, keys}: their first query is the `first`-th of its sequence, and a
/// causal query sees the keys up to its own position.
struct ScoreBlock {
  std::size_t first = 0;
  std::size_t rows = 0;
  std::size_t keys = 0;
  bool causal = true;
  float scale = 1;

  [[nodiscard]] std::size_t visible(std::size_t row) const {
    const std::size_t seen = first + row + 1;
    return causal && seen < keys ? seen : keys;
  }
};

/// probabilities = softmax(scale · scores) over the visible keys of each row, 0 at the others;
/// log_sums[row] = log Σ exp(scale · scores). Overwrites the scores.
void soften_rows(float* probabilities, float* log_sums, float* scores, const ScoreBlock& block);
void soften_rows(std::uint16_t* probabilities, float* log_sums, float* scores,
                 const ScoreBlock& block);

/// The same probabilities from the log_sums.
void restore_rows(float* probabilities, const float* log_sums, const float* scores,
                  const ScoreBlock& block);
void restore_rows(std::uint16_t* probabilities, const float* log_sums, const float* scores,
                  const ScoreBlock& block);

/// Turns probabilities into the gradient of the scores before scaling: scale · probability ·
/// (diff − mean of the row), where `diff` is the gradient of the probabilities and the mean is
/// taken with them as weights.
void differentiate_rows(float* probabilities, const float* diff, const float* means,
                        const ScoreBlock& block);
void differentiate_rows(std::uint16_t* probabilities, const float* diff, const float* means,
                        const ScoreBlock& block);

/// sums[row] = Σ a[row] · b[row] over `width` elements. Rows of `a` are dense, those of `b`
/// `next_b` elements apart.
void multiply_rows(float* sums, const float* a, const float* b, std::size_t next_b,
                   std::size_t rows, std::size_t width);
void multiply_rows(float* sums, const std::uint16_t* a, const std::uint16_t* b, std::size_t next_b,
                   std::size_t rows, std::size_t width);

/// Copies dense rows to rows that are `next` elements apart, rounded to their type.
void scatter_rows(float* to, std::size_t next, const float* from, std::size_t rows,
                  std::size_t width);
void scatter_rows(std::uint16_t* to, std::size_t next, const float* from, std::size_t rows,
                  std::size_t width);

}  // namespace parbench::cpu
