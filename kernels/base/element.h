// Maps element types of tensors to C++ types.
#pragma once

#include <cstdint>
#include <utility>

#include "kernels/base/tensor.h"

namespace parbench {

/// Calls `function` with a zero of the C++ type of the elements: std::uint16_t for bf16, otherwise
/// float. Not for i32.
template <class Function>
decltype(auto) with_element(DType dtype, Function&& function) {
  if (dtype == DType::bf16) return std::forward<Function>(function)(std::uint16_t{0});
  return std::forward<Function>(function)(0.0F);
}

}  // namespace parbench
