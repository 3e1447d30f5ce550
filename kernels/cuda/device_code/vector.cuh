// Access to tensors in device code: groups of elements, with one load or store each, and arithmetic
// on them in f32. For .cu files only.
#pragma once

#include <cuda_bf16.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <type_traits>

#include "kernels/base/tensor.h"
#include "kernels/cuda/runtime/launch.h"

namespace parbench::cuda {

__device__ inline float widened(float value) { return value; }
__device__ inline float widened(__nv_bfloat16 value) { return __bfloat162float(value); }
/// Returns the value of a bf16 from its bits.
__device__ inline float widened(std::uint16_t value) {
  return __uint_as_float(static_cast<unsigned int>(value) << 16U);
}

/// Returns the nearest value of type Element, with ties to even.
template <class Element>
__device__ inline Element narrowed(float value) {
  if constexpr (std::is_same_v<Element, float>) {
    return value;
  } else {
    return __float2bfloat16_rn(value);
  }
}

/// Stores a value as an element: unchanged as f32, or the bits of the nearest bf16.
__device__ inline void narrow(float value, float& element) { element = value; }
__device__ inline void narrow(float value, std::uint16_t& element) {
  element = __bfloat16_as_ushort(__float2bfloat16_rn(value));
}
/// Stores the nearest whole number.
__device__ inline void narrow(float value, std::int32_t& element) {
  element = static_cast<std::int32_t>(rintf(value));
}

/// `size` consecutive elements, loaded or stored at once: their address must be a multiple of their
/// bytes.
template <class Element, int size>
struct alignas(sizeof(Element) * size) Group {
  Element at[size];
};

template <int size, class Element>
__device__ inline Group<Element, size> load(const Element* address) {
  return *reinterpret_cast<const Group<Element, size>*>(address);
}

template <int size, class Element>
__device__ inline void store(Element* address, const Group<Element, size>& group) {
  *reinterpret_cast<Group<Element, size>*>(address) = group;
}

/// Loads `size` elements from `address` on, as a group or one by one.
template <int size, bool grouped, class Element>
__device__ inline Group<Element, size> load_at(const Element* address) {
  if constexpr (grouped) {
    return load<size>(address);
  } else {
    Group<Element, size> group;
    for (int i = 0; i < size; ++i) group.at[i] = address[i];
    return group;
  }
}

template <int size, bool grouped, class Element>
__device__ inline void store_at(Element* address, const Group<Element, size>& group) {
  if constexpr (grouped) {
    store<size>(address, group);
  } else {
    for (int i = 0; i < size; ++i) address[i] = group.at[i];
  }
}

/// Number of elements that the widest memory instruction (16 bytes) accesses; for several types,
/// the number for the widest type.
template <class... Elements>
inline constexpr int group_size = 16 / static_cast<int>(std::max({sizeof(Elements)...}));

/// Returns whether an address is aligned for groups.
template <int size, class Element>
[[nodiscard]] bool holds_groups(const Element* address) {
  return reinterpret_cast<std::uintptr_t>(address) % (sizeof(Element) * size) == 0;
}

/// Return the index of the calling thread in a one-dimensional grid, and the number of threads.
__device__ inline std::int64_t grid_thread() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline std::int64_t grid_threads() {
  return static_cast<std::int64_t>(gridDim.x) * blockDim.x;
}

/// Limit of indices below which kernels compute them in 32 bits, where divisions are several times
/// as fast. An index below it plus the stride of a grid fits 32 bits.
inline constexpr std::int64_t small_index_end = std::int64_t{1} << 30;

/// Calls function(Element{}) with the C++ type of `dtype`. Throws std::invalid_argument for i32,
/// which has no arithmetic.
template <class Function>
void with_element(DType dtype, const Function& function) {
  if (dtype == DType::i32) throw std::invalid_argument("kernels compute in f32 and bf16 only");
  if (dtype == DType::bf16) {
    function(__nv_bfloat16{});
  } else {
    function(float{});
  }
}

}  // namespace parbench::cuda
