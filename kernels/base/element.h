// From a number format to the type that holds its elements.
#pragma once

#include <cstdint>
#include <utility>

#include "kernels/base/tensor.h"

namespace parbench {

/// Calls `function` with a value of the type that holds elements: float, or std::uint16_t for bf16.
template <class Function>
decltype(auto) with_element(DType dtype, Function&& function) {
  if (dtype == DType::bf16) return std::forward<Function>(function)(std::uint16_t{0});
  return std::forward<Function>(function)(0.0F);
}

}  // namespace parbench
