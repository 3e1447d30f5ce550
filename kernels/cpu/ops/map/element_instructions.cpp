// One loop for each operation, compiled once per instruction set.
#include "kernels/cpu/ops/map/element_instructions.h"

#include <algorithm>
#include <cmath>

#include "kernels/base/simd.h"
#include "kernels/cpu/ops/map/element_math.h"

namespace parbench::cpu {
namespace {

using Sources = std::array<InstructionSource, 3>;

// `omp simd` lets the compiler assume that an output is either the memory of an input or does not
// overlap with that input.

template <class Function>
[[gnu::always_inline]] inline void unary(float* out, const float* a, std::size_t count,
                                         const Function& function) {
#pragma omp simd
  for (std::size_t i = 0; i < count; ++i) out[i] = function(a[i]);
}

template <bool one_a, bool one_b, class Function>
[[gnu::always_inline]] inline void binary_of(float* out, const float* a, const float* b,
                                             std::size_t count, const Function& function) {
  const float first_a = *a;
  const float first_b = *b;
#pragma omp simd
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = function(one_a ? first_a : a[i], one_b ? first_b : b[i]);
  }
}

template <class Function>
[[gnu::always_inline]] inline void binary(float* out, const Sources& sources, std::size_t count,
                                          const Function& function) {
  const auto& [a, b, unused] = sources;
  if (a.is_uniform) {
    binary_of<true, false>(out, a.elements, b.elements, count, function);
  } else if (b.is_uniform) {
    binary_of<false, true>(out, a.elements, b.elements, count, function);
  } else {
    binary_of<false, false>(out, a.elements, b.elements, count, function);
  }
}

template <bool one_a, bool one_b>
[[gnu::always_inline]] inline void select_of(float* out, const float* condition, const float* a,
                                             const float* b, std::size_t count) {
  const float first_a = *a;
  const float first_b = *b;
#pragma omp simd
  for (std::size_t i = 0; i < count; ++i) {
    const float chosen = one_a ? first_a : a[i];
    const float other = one_b ? first_b : b[i];
    out[i] = condition[i] != 0.0F ? chosen : other;
  }
}

PARBENCH_SIMD void copy_block(float* out, const float* in, std::size_t count) {
#pragma omp simd
  for (std::size_t i = 0; i < count; ++i) out[i] = in[i];
}

void copy_source(float* out, const InstructionSource& source, std::size_t count) {
  if (source.is_uniform) {
    std::fill_n(out, count, *source.elements);
  } else {
    copy_block(out, source.elements, count);
  }
}

PARBENCH_SIMD void select_range(float* out, const Sources& sources, std::size_t count) {
  const auto& [condition, a, b] = sources;
  if (a.is_uniform && b.is_uniform) {
    select_of<true, true>(out, condition.elements, a.elements, b.elements, count);
  } else if (a.is_uniform) {
    select_of<true, false>(out, condition.elements, a.elements, b.elements, count);
  } else if (b.is_uniform) {
    select_of<false, true>(out, condition.elements, a.elements, b.elements, count);
  } else {
    select_of<false, false>(out, condition.elements, a.elements, b.elements, count);
  }
}

void select(float* out, const Sources& sources, std::size_t count) {
  const auto& [condition, a, b] = sources;
  if (condition.is_uniform && count > 1) {
    return copy_source(out, *condition.elements != 0.0F ? a : b, count);
  }
  select_range(out, sources, count);
}

[[gnu::always_inline]] inline float sign_of(float x) {
  const float sign = (x > 0.0F ? 1.0F : 0.0F) - (x < 0.0F ? 1.0F : 0.0F);
  return x == x ? sign : x;
}

PARBENCH_SIMD void round_range(ElementOp op, float* out, const float* a, std::size_t count) {
  switch (op) {
    case ElementOp::absolute:
      return unary(out, a, count, [](float x) { return std::fabs(x); });
    case ElementOp::ceiling:
      return unary(out, a, count, [](float x) { return std::ceil(x); });
    case ElementOp::floor:
      return unary(out, a, count, [](float x) { return std::floor(x); });
    case ElementOp::negation:
      return unary(out, a, count, [](float x) { return -x; });
    case ElementOp::reciprocal:
      return unary(out, a, count, [](float x) { return 1.0F / x; });
    case ElementOp::rounding:
      return unary(out, a, count, [](float x) { return std::rint(x); });
    case ElementOp::sign:
      return unary(out, a, count, [](float x) { return sign_of(x); });
    default:
      return unary(out, a, count, [](float x) { return std::sqrt(x); });
  }
}

PARBENCH_SIMD void function_range(ElementOp op, float* out, const float* a, std::size_t count) {
  switch (op) {
    case ElementOp::cosine:
      return unary(out, a, count, [](float x) { return sine_of(x, 1); });
    case ElementOp::error_function:
      return unary(out, a, count, [](float x) { return error_function_of(x); });
    case ElementOp::exponential:
      return unary(out, a, count, [](float x) { return exponential_of(x); });
    case ElementOp::logarithm:
      return unary(out, a, count, [](float x) { return logarithm_of(x); });
    case ElementOp::sine:
      return unary(out, a, count, [](float x) { return sine_of(x, 0); });
    default:
      return unary(out, a, count, [](float x) { return tanh_of(x); });
  }
}

PARBENCH_SIMD float largest_angle(const float* a, std::size_t count) {
  float largest = 0;
#pragma omp simd reduction(max : largest)
  for (std::size_t i = 0; i < count; ++i) {
    const float angle = std::fabs(a[i]);
    largest = angle > largest ? angle : largest;
  }
  return largest;
}

/// Computes sines or cosines. Calls the C library if an angle exceeds `max_reduced_angle`.
void run_angles(ElementOp op, float* out, const float* a, std::size_t count) {
  if (largest_angle(a, count) <= max_reduced_angle) return function_range(op, out, a, count);
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = op == ElementOp::sine ? std::sin(a[i]) : std::cos(a[i]);
  }
}

void run_unary(ElementOp op, float* out, const float* a, std::size_t count) {
  switch (op) {
    case ElementOp::cosine:
    case ElementOp::sine:
      return run_angles(op, out, a, count);
    case ElementOp::error_function:
    case ElementOp::exponential:
    case ElementOp::logarithm:
    case ElementOp::tanh:
      return function_range(op, out, a, count);
    default:
      return round_range(op, out, a, count);
  }
}

PARBENCH_SIMD void arithmetic_range(ElementOp op, float* out, const Sources& sources,
                                    std::size_t count) {
  switch (op) {
    case ElementOp::addition:
      return binary(out, sources, count, [](float a, float b) { return a + b; });
    case ElementOp::difference:
      return binary(out, sources, count, [](float a, float b) { return a - b; });
    case ElementOp::product:
      return binary(out, sources, count, [](float a, float b) { return a * b; });
    default:
      return binary(out, sources, count, [](float a, float b) { return a / b; });
  }
}

PARBENCH_SIMD void comparison_range(ElementOp op, float* out, const Sources& sources,
                                    std::size_t count) {
  switch (op) {
    case ElementOp::minimum:
      return binary(out, sources, count, [](float a, float b) {
        const float min = a < b ? a : b;  // b if one of them is NaN
        return a == a ? min : a;
      });
    case ElementOp::maximum:
      return binary(out, sources, count, [](float a, float b) {
        const float max = a > b ? a : b;
        return a == a ? max : a;
      });
    case ElementOp::less:
      return binary(out, sources, count, [](float a, float b) { return a < b ? 1.0F : 0.0F; });
    default:
      return binary(out, sources, count, [](float a, float b) { return a == b ? 1.0F : 0.0F; });
  }
}

PARBENCH_SIMD void square_range(float* out, const float* a, std::size_t count) {
  unary(out, a, count, [](float x) { return x * x; });
}

/// Computes powers. Squares, which are frequent in networks, have a loop of their own.
void run_power(float* out, const Sources& sources, std::size_t count) {
  const auto& [a, b, unused] = sources;
  if (b.is_uniform && *b.elements == 2.0F && !a.is_uniform) {
    return square_range(out, a.elements, count);
  }
  binary(out, sources, count, [](float x, float y) { return std::pow(x, y); });
}

}  // namespace

void run_instruction(ElementOp op, float* out, const Sources& sources, std::size_t count) {
  switch (op) {
    case ElementOp::selection:
      return select(out, sources, count);
    case ElementOp::power:
      return run_power(out, sources, count);
    case ElementOp::remainder:
      return binary(out, sources, count, [](float a, float b) { return std::fmod(a, b); });
    case ElementOp::minimum:
    case ElementOp::maximum:
    case ElementOp::less:
    case ElementOp::equal:
      return comparison_range(op, out, sources, count);
    default:
      break;
  }
  if (operand_count(op) == 1) return run_unary(op, out, sources[0].elements, count);
  arithmetic_range(op, out, sources, count);
}

}  // namespace parbench::cpu
