// Leaf loops, compiled once per instruction set, and their division among threads.
#include "kernels/cpu/flat_loops.h"

#include <algorithm>

#include "kernels/bfloat16.h"
#include "kernels/cpu/parallel.h"
#include "kernels/simd.h"

namespace parbench::cpu {
namespace {

constexpr std::size_t grain = 1024;  // elements; whole cache lines for every type

// The attribute for a loop does not reach into an OpenMP region, hence one function for each. `omp
// simd` because outputs may be inputs: element by element, which the compiler cannot know.

PARBENCH_SIMD void accumulate_range(float* destination, const float* source, std::size_t count) {
#pragma omp simd
  for (std::size_t i = 0; i < count; ++i) destination[i] += source[i];
}

PARBENCH_SIMD void descend_range(float* parameters, const float* gradients, float rate,
                                 std::size_t count) {
#pragma omp simd
  for (std::size_t i = 0; i < count; ++i) parameters[i] -= rate * gradients[i];
}

PARBENCH_SIMD void gated_sum_range(float* out, const float* gate, const float* a, const float* b,
                                   std::size_t count) {
#pragma omp simd
  for (std::size_t i = 0; i < count; ++i) {
    const float sum = a[i] + b[i];
    out[i] = gate[i] > 0 ? sum : 0.0F;
  }
}

PARBENCH_SIMD void gated_sum_range(std::uint16_t* out, const std::uint16_t* gate,
                                   const std::uint16_t* a, const std::uint16_t* b,
                                   std::size_t count) {
#pragma omp simd
  for (std::size_t i = 0; i < count; ++i) {
    const float sum = from_bf16(a[i]) + from_bf16(b[i]);
    out[i] = to_bf16(from_bf16(gate[i]) > 0 ? sum : 0.0F);
  }
}

PARBENCH_SIMD void narrow_range(std::uint16_t* destination, const float* source,
                                std::size_t count) {
#pragma omp simd
  for (std::size_t i = 0; i < count; ++i) destination[i] = to_bf16(source[i]);
}

float widened(float value) { return value; }
float widened(std::uint16_t value) { return from_bf16(value); }
void store(float& element, float value) { element = value; }
void store(std::uint16_t& element, float value) { element = to_bf16(value); }

template <class Element>
double squared_error_block(Element* difference, const Element* prediction, const Element* target,
                           float scale, std::size_t count) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t i = 0; i < count; ++i) {
    const float delta = widened(prediction[i]) - widened(target[i]);
    sum += static_cast<double>(delta) * static_cast<double>(delta);
    store(difference[i], scale * delta);
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

void gated_sum(float* out, const float* gate, const float* a, const float* b, std::size_t count,
               int threads) {
  parallel_ranges(count, grain, threads, [&](std::size_t begin, std::size_t end) {
    gated_sum_range(out + begin, gate + begin, a + begin, b + begin, end - begin);
  });
}

void gated_sum(std::uint16_t* out, const std::uint16_t* gate, const std::uint16_t* a,
               const std::uint16_t* b, std::size_t count, int threads) {
  parallel_ranges(count, grain, threads, [&](std::size_t begin, std::size_t end) {
    gated_sum_range(out + begin, gate + begin, a + begin, b + begin, end - begin);
  });
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
