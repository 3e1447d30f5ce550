// Softmax cross-entropy over the rows of logits: one pass for the maximum, one for the sum of the
// exponentials, one for the gradient.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>

#include "kernels/base/simd.h"
#include "kernels/cpu/ops/flat_loops.h"
#include "kernels/cpu/ops/layers/vector_math.h"
#include "kernels/cpu/ops/loop_op.h"
#include "kernels/cpu/ops/parallel.h"

namespace parbench::cpu {
namespace {

template <class Element>
[[gnu::always_inline]] inline float max_of_logits(const Element* logits, std::size_t classes) {
  float max = std::numeric_limits<float>::lowest();
#pragma omp simd reduction(max : max)
  for (std::size_t i = 0; i < classes; ++i) {
    const float logit = to_f32(logits[i]);
    max = logit > max ? logit : max;
  }
  return max;
}

// Sums in f32 within blocks and adds the blocks in f64: a vocabulary has tens of thousands of
// classes.
template <class Element>
[[gnu::always_inline]] inline double sum_of_exponentials(const Element* logits, float max,
                                                         std::size_t classes) {
  constexpr std::size_t block = 1024;
  double total = 0;
  for (std::size_t first = 0; first < classes; first += block) {
    const std::size_t end = std::min(classes, first + block);
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t i = first; i < end; ++i) sum += vector_exp(to_f32(logits[i]) - max);
    total += static_cast<double>(sum);
  }
  return total;
}

/// Returns the row's cross-entropy; writes its gradient times `scale`. Exponentials are computed
/// twice, which avoids a buffer that bf16 would need.
template <class Element>
[[gnu::always_inline]] inline double cross_entropy_of(Element* diff, const Element* logits,
                                                      std::size_t classes, std::size_t target,
                                                      float scale) {
  const float max = max_of_logits(logits, classes);
  const double sum = sum_of_exponentials(logits, max, classes);
  const float distance = to_f32(logits[target]) - max;  // read before it is overwritten
  const auto factor = static_cast<float>(static_cast<double>(scale) / sum);
#pragma omp simd
  for (std::size_t i = 0; i < classes; ++i) {
    set_element(diff[i], vector_exp(to_f32(logits[i]) - max) * factor);
  }
  set_element(diff[target], vector_exp(distance) * factor - scale);
  return std::log(sum) - static_cast<double>(distance);
}

PARBENCH_SIMD double cross_entropy_row(float* diff, const float* logits, std::size_t classes,
                                       std::size_t target, float scale) {
  return cross_entropy_of(diff, logits, classes, target, scale);
}

PARBENCH_SIMD double cross_entropy_row(std::uint16_t* diff, const std::uint16_t* logits,
                                       std::size_t classes, std::size_t target, float scale) {
  return cross_entropy_of(diff, logits, classes, target, scale);
}

/// Writes the gradient of each row, and its loss to `losses`.
template <class Element>
void cross_entropy_rows(const SoftmaxCrossEntropy& desc, double* losses, Addresses arguments,
                        int threads) {
  const auto classes = static_cast<std::size_t>(desc.classes);
  const auto* logits = reinterpret_cast<const Element*>(arguments[0]);
  const auto* targets = reinterpret_cast<const std::int32_t*>(arguments[1]);
  auto* diff = reinterpret_cast<Element*>(arguments[3]);
  const auto scale = static_cast<float>(1.0 / static_cast<double>(desc.total));
  parallel_ranges(static_cast<std::size_t>(desc.rows) * classes, classes, threads,
                  [&](std::size_t begin, std::size_t end) {
                    for (std::size_t i = begin; i < end; i += classes) {
                      const std::size_t row = i / classes;
                      losses[row] = 0;
                      if (targets[row] == desc.ignored) {
                        std::fill_n(diff + i, classes, Element{0});
                      } else {
                        const auto target = static_cast<std::size_t>(targets[row]);
                        losses[row] =
                            cross_entropy_row(diff + i, logits + i, classes, target, scale);
                      }
                    }
                  });
}

}  // namespace

Planned plan(const SoftmaxCrossEntropy& desc) {
  const auto rows = static_cast<std::size_t>(desc.rows);
  const LoopNeeds needs{.scratch_bytes = rows * sizeof(double)};
  return typed_loop_op(desc, needs,
                       [desc, rows]<class Element>(Element /*unused*/, const Execution& execution,
                                                   Addresses arguments) {
                         auto* losses = reinterpret_cast<double*>(execution.scratch);
                         cross_entropy_rows<Element>(desc, losses, arguments, execution.threads);
                         const double sum = std::accumulate(losses, losses + rows, 0.0);
                         const auto mean =
                             static_cast<float>(sum / static_cast<double>(desc.total));
                         float* loss = floats(arguments[2]);
                         *loss = desc.accumulate ? *loss + mean : mean;
                       });
}

}  // namespace parbench::cpu
