// Shapes, element types and memory layouts: how operations and buffers describe their data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace parbench {

/// Element type of a tensor. i32 is for indices: no operation computes with it, and it is no
/// NumberFormat that a user could ask for.
enum class DType { f32, bf16, i32 };

[[nodiscard]] std::string_view to_string(DType dtype);
[[nodiscard]] std::size_t size_of(DType dtype);  // bytes of one element

/// How operations that sum products multiply f32 tensors. Nothing of it shows in memory, and it
/// means nothing for other types.
enum class MathMode {
  strict,  // as f32
  tf32     // inputs may be cut to TF32 (10 bits of mantissa) for tensor cores; sums are f32
};

/// What a case computes with, in the one word that users know: "f32", "tf32" or "bf16".
struct NumberFormat {
  DType dtype = DType::f32;
  MathMode math = MathMode::strict;
  friend bool operator==(const NumberFormat&, const NumberFormat&) = default;
};

[[nodiscard]] std::string_view to_string(const NumberFormat& format);
/// All of them, as `to_string` says them.
[[nodiscard]] std::vector<std::string> number_format_names();
/// The one of that name; nothing for another word.
[[nodiscard]] std::optional<NumberFormat> number_format_named(std::string_view name);

/// Extents, outermost first: {N, C, H, W} for activations, {O, I, KH, KW} for convolution weights
/// ({G, O/G, I/G, KH, KW} when grouped), {rows, columns} for matrices.
using Shape = std::vector<std::int64_t>;

/// Throws UsageError for a product beyond 64 bits, and so does `canonical` for its bytes.
[[nodiscard]] std::int64_t element_count(const Shape& shape);
[[nodiscard]] std::string to_string(const Shape& shape);

/// A backend's own description of a memory layout. Portable code only compares and prints it.
class LayoutDetail {
 public:
  virtual ~LayoutDetail() = default;
  [[nodiscard]] virtual bool equals(const LayoutDetail& other) const = 0;
  [[nodiscard]] virtual std::string name() const = 0;
};

/// How the elements of a tensor lie in memory. A default-constructed layout is canonical: dense and
/// row-major in the order of the shape. Anything else belongs to the device that made it.
class Layout {
 public:
  Layout() = default;
  explicit Layout(std::shared_ptr<const LayoutDetail> detail) : detail_(std::move(detail)) {}

  [[nodiscard]] bool is_canonical() const { return detail_ == nullptr; }
  [[nodiscard]] const LayoutDetail* detail() const { return detail_.get(); }
  [[nodiscard]] std::string name() const { return detail_ ? detail_->name() : "canonical"; }

  friend bool operator==(const Layout& a, const Layout& b) {
    if (a.detail_ == b.detail_) return true;
    return a.detail_ && b.detail_ && a.detail_->equals(*b.detail_);
  }

 private:
  std::shared_ptr<const LayoutDetail> detail_;
};

/// Everything needed to allocate, fill, reorder or compare a tensor.
struct TensorDesc {
  Shape shape;
  DType dtype = DType::f32;
  Layout layout;
  std::size_t bytes = 0;  // with the layout's padding

  friend bool operator==(const TensorDesc& a, const TensorDesc& b) {
    return a.shape == b.shape && a.dtype == b.dtype && a.layout == b.layout;
  }
};

/// A dense row-major tensor.
[[nodiscard]] TensorDesc canonical(Shape shape, DType dtype = DType::f32);

/// Bytes that only the operation itself and its counterpart understand: masks, indices, counters.
[[nodiscard]] TensorDesc opaque(std::size_t bytes);
[[nodiscard]] bool is_opaque(const Layout& layout);

}  // namespace parbench
