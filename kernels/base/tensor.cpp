#include "kernels/base/tensor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "kernels/base/error.h"

namespace parbench {

std::string_view to_string(DType dtype) {
  switch (dtype) {
    case DType::f32:
      break;
    case DType::bf16:
      return "bf16";
    case DType::i32:
      return "i32";
  }
  return "f32";
}

std::size_t size_of(DType dtype) { return dtype == DType::bf16 ? 2 : 4; }

namespace {

constexpr std::array<NumberFormat, 3> number_formats{
    {{DType::f32}, {DType::f32, MathMode::tf32}, {DType::bf16}}};

[[noreturn]] void refuse_size(const Shape& shape) {
  throw UsageError(fmt::format(
      "the size of a tensor of shape {} exceeds 64 bits; use smaller sizes", to_string(shape)));
}

class OpaqueLayout final : public LayoutDetail {
 public:
  [[nodiscard]] bool equals(const LayoutDetail& other) const override {
    return dynamic_cast<const OpaqueLayout*>(&other) != nullptr;
  }
  [[nodiscard]] std::string name() const override { return "opaque"; }
};

}  // namespace

std::string_view to_string(const NumberFormat& format) {
  return format == number_formats[1] ? "tf32" : to_string(format.dtype);
}

std::vector<std::string> number_format_names() {
  std::vector<std::string> names;
  for (const NumberFormat& format : number_formats) names.emplace_back(to_string(format));
  return names;
}

std::optional<NumberFormat> number_format_named(std::string_view name) {
  for (const NumberFormat& format : number_formats) {
    if (to_string(format) == name) return format;
  }
  return std::nullopt;
}

std::int64_t element_count(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) {
    if (__builtin_mul_overflow(count, extent, &count)) refuse_size(shape);
  }
  return count;
}

std::string to_string(const Shape& shape) { return fmt::format("{}", fmt::join(shape, "x")); }

TensorDesc canonical(Shape shape, DType dtype) {
  TensorDesc desc{.shape = std::move(shape), .dtype = dtype, .layout = {}, .bytes = 0};
  std::int64_t bytes = 0;
  const auto element = static_cast<std::int64_t>(size_of(dtype));
  if (__builtin_mul_overflow(element_count(desc.shape), element, &bytes)) refuse_size(desc.shape);
  desc.bytes = static_cast<std::size_t>(bytes);
  return desc;
}

TensorDesc opaque(std::size_t bytes) {
  return {.shape = {static_cast<std::int64_t>(bytes)},
          .dtype = DType::f32,
          .layout = Layout(std::make_shared<OpaqueLayout>()),
          .bytes = bytes};
}

bool is_opaque(const Layout& layout) {
  return dynamic_cast<const OpaqueLayout*>(layout.detail()) != nullptr;
}

}  // namespace parbench
