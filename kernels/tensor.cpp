#include "kernels/tensor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <numeric>

namespace parbench {

std::string_view to_string(DType dtype) { return dtype == DType::bf16 ? "bf16" : "f32"; }

std::size_t size_of(DType dtype) { return dtype == DType::bf16 ? 2 : 4; }

std::int64_t element_count(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::string to_string(const Shape& shape) { return fmt::format("{}", fmt::join(shape, "x")); }

TensorDesc canonical(Shape shape, DType dtype) {
  TensorDesc desc{.shape = std::move(shape), .dtype = dtype, .layout = {}, .bytes = 0};
  desc.bytes = static_cast<std::size_t>(element_count(desc.shape)) * size_of(dtype);
  return desc;
}

}  // namespace parbench
