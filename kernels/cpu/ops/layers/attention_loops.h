// Loops of attention between its matrix products: softmax, its gradient, and copies of a head's
// vectors. Each runs in the calling thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace parbench::cpu {

/// Scores of some queries, {rows, keys}. `first`: position of the first of these queries in its
/// sequence. A query attends to its visible keys: with `causal` the keys up to its own position.
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

/// probabilities = softmax(scale · scores) over the visible keys of each row, 0 for the others;
/// log_sums[row] = log Σ exp(scale · scores). Overwrites the scores.
void soften_rows(float* probabilities, float* log_sums, float* scores, const ScoreBlock& block);
void soften_rows(std::uint16_t* probabilities, float* log_sums, float* scores,
                 const ScoreBlock& block);

/// Recomputes the probabilities of `soften_rows` from the scores and the log_sums.
void restore_rows(float* probabilities, const float* log_sums, const float* scores,
                  const ScoreBlock& block);
void restore_rows(std::uint16_t* probabilities, const float* log_sums, const float* scores,
                  const ScoreBlock& block);

/// Turns probabilities into the gradient of the scores before scaling: scale · probability · (diff
/// − mean of the row). `diff` is the gradient of the probabilities; the mean is weighted with the
/// probabilities.
void differentiate_rows(float* probabilities, const float* diff, const float* means,
                        const ScoreBlock& block);
void differentiate_rows(std::uint16_t* probabilities, const float* diff, const float* means,
                        const ScoreBlock& block);

/// sums[row] = Σ a[row] · b[row] over `width` elements. Rows of `a` are dense, rows of `b` are
/// `next_b` elements apart.
void multiply_rows(float* sums, const float* a, const float* b, std::size_t next_b,
                   std::size_t rows, std::size_t width);
void multiply_rows(float* sums, const std::uint16_t* a, const std::uint16_t* b, std::size_t next_b,
                   std::size_t rows, std::size_t width);

/// Copies dense rows, rounded to the destination's type, to rows that are `next` elements apart.
void scatter_rows(float* to, std::size_t next, const float* from, std::size_t rows,
                  std::size_t width);
void scatter_rows(std::uint16_t* to, std::size_t next, const float* from, std::size_t rows,
                  std::size_t width);

}  // namespace parbench::cpu
