// The interpreter of element programs in device code. For .cu files only.
#pragma once

#include "kernels/cuda/device_code/maps/map_program_kernels.h"
#include "kernels/cuda/device_code/vector.cuh"

namespace parbench::cuda {

__device__ inline float widened(std::int32_t value) { return static_cast<float>(value); }

/// The indices of an element in the loops of a map.
template <class Index>
struct MapIndices {
  Index at[Map::max_dimensions];

  /// Sets the indices of `count` loops, from `first` on.
  __device__ void set(const DeviceMap& map, int first, int count, Index element) {
    for (int i = first; i < first + count; ++i) {
      const auto extent = static_cast<Index>(map.extents[i]);
      const Index next = element / extent;
      at[i] = element - next * extent;
      element = next;
    }
  }
};

template <class Index>
__device__ inline std::int64_t position_of(const DeviceOperand& operand, int loops,
                                           const MapIndices<Index>& indices) {
  std::int64_t position = operand.offset;
  for (int i = 0; i < loops; ++i) position += operand.strides[i] * indices.at[i];
  return position;
}

/// Loads `size` adjacent elements, or with `is_one` a single element for all of them.
template <int size, class Element>
__device__ inline void load_neighbours(const void* data, std::int64_t position, bool is_one,
                                       float* out) {
  const auto* address = static_cast<const Element*>(data) + position;
  if (size == 1 || is_one) {
    const float value = widened(*address);
    for (int i = 0; i < size; ++i) out[i] = value;
    return;
  }
  const Group<Element, size> group = load<size>(address);
#pragma unroll
  for (int i = 0; i < size; ++i) out[i] = widened(group.at[i]);
}

template <int size>
__device__ inline void load_operand(const DeviceOperand& operand, std::int64_t position,
                                    float* out) {
  const bool is_one = operand.strides[0] == 0;
  switch (operand.kind) {
    case DeviceOperand::Kind::f32:
      return load_neighbours<size, float>(operand.data, position, is_one, out);
    case DeviceOperand::Kind::bf16:
      return load_neighbours<size, std::uint16_t>(operand.data, position, is_one, out);
    case DeviceOperand::Kind::i32:
      return load_neighbours<size, std::int32_t>(operand.data, position, is_one, out);
    case DeviceOperand::Kind::coordinate:
      for (int i = 0; i < size; ++i) out[i] = static_cast<float>(position + (is_one ? 0 : i));
  }
}

template <int size>
__device__ inline void store_operand(const DeviceOperand& operand, std::int64_t position,
                                     const float* values) {
  const auto put = [&](auto* elements) {
    using Element = std::remove_pointer_t<decltype(elements)>;
    Group<Element, size> group;
#pragma unroll
    for (int i = 0; i < size; ++i) narrow(values[i], group.at[i]);
    store<size>(elements + position, group);
  };
  if (operand.kind == DeviceOperand::Kind::bf16)
    return put(static_cast<std::uint16_t*>(operand.data));
  if (operand.kind == DeviceOperand::Kind::i32)
    return put(static_cast<std::int32_t*>(operand.data));
  put(static_cast<float*>(operand.data));
}

// A NaN stays a NaN.
template <class Value>
__device__ inline Value least(Value a, Value b) {
  return a != a || a < b ? a : b;
}
template <class Value>
__device__ inline Value greatest(Value a, Value b) {
  return a != a || a > b ? a : b;
}

__device__ inline float sign_of(float x) {
  const float sign = (x > 0 ? 1.0F : 0.0F) - (x < 0 ? 1.0F : 0.0F);
  return x == x ? sign : x;
}

__device__ inline float result_of_one(ElementOp op, float x) {
  switch (op) {
    case ElementOp::absolute:
      return fabsf(x);
    case ElementOp::ceiling:
      return ceilf(x);
    case ElementOp::cosine:
      return cosf(x);
    case ElementOp::error_function:
      return erff(x);
    case ElementOp::exponential:
      return expf(x);
    case ElementOp::floor:
      return floorf(x);
    case ElementOp::logarithm:
      return logf(x);
    case ElementOp::negation:
      return -x;
    case ElementOp::reciprocal:
      return 1.0F / x;
    case ElementOp::rounding:
      return rintf(x);
    case ElementOp::sign:
      return sign_of(x);
    case ElementOp::sine:
      return sinf(x);
    case ElementOp::square_root:
      return sqrtf(x);
    default:
      return tanhf(x);
  }
}

__device__ inline float result_of_two(ElementOp op, float a, float b) {
  switch (op) {
    case ElementOp::addition:
      return a + b;
    case ElementOp::difference:
      return a - b;
    case ElementOp::product:
      return a * b;
    case ElementOp::quotient:
      return a / b;
    case ElementOp::power:
      return b == 2.0F ? a * a : powf(a, b);
    case ElementOp::minimum:
      return least(a, b);
    case ElementOp::maximum:
      return greatest(a, b);
    case ElementOp::remainder:
      return fmodf(a, b);
    case ElementOp::less:
      return a < b ? 1.0F : 0.0F;
    default:
      return a == b ? 1.0F : 0.0F;
  }
}

/// A thread's registers: `size` elements of the result of each instruction.
template <int size>
struct MapRegisters {
  float at[DeviceMap::max_instructions][size];
};

template <int size>
__device__ inline void run_instruction(const DeviceInstruction& instruction,
                                       MapRegisters<size>& registers) {
  float(&to)[size] = registers.at[instruction.to];
  const float(&a)[size] = registers.at[instruction.from[0]];
  const float(&b)[size] = registers.at[instruction.from[1]];
  const float(&c)[size] = registers.at[instruction.from[2]];
  for (int i = 0; i < size; ++i) {
    if (instruction.op == ElementOp::number) {
      to[i] = instruction.number;
    } else if (instruction.op == ElementOp::selection) {
      to[i] = a[i] != 0 ? b[i] : c[i];
    } else if (instruction.op <= ElementOp::tanh) {
      to[i] = result_of_one(instruction.op, a[i]);
    } else {
      to[i] = result_of_two(instruction.op, a[i], b[i]);
    }
  }
}

/// Computes the results of `size` elements, of which the first is at `indices`; returns the
/// register that holds them.
template <int size, class Index>
__device__ inline const float* run_program(const DeviceMap& map, const MapIndices<Index>& indices,
                                           MapRegisters<size>& registers) {
  const int loops = map.kept + map.reduced;
  for (int i = 0; i < map.instructions; ++i) {
    const DeviceInstruction& instruction = map.instruction[i];
    if (instruction.op == ElementOp::input) {
      const DeviceOperand& operand = map.operand[instruction.from[0]];
      load_operand<size>(operand, position_of(operand, loops, indices),
                         registers.at[instruction.to]);
    } else {
      run_instruction(instruction, registers);
    }
  }
  return registers.at[map.instruction[map.instructions - 1].to];
}

}  // namespace parbench::cuda
