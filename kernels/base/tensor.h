// Shapes, element types and memory layouts of the data of operations and buffers.
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

/// Element type of a tensor. i32 is for indices: arithmetic is in f32 or bf16, so i32 is not a
/// NumberFormat that users can choose.
enum class DType { f32, bf16, i32 };

[[nodiscard]] std::string_view to_string(DType dtype);
[[nodiscard]] std::size_t size_of(DType dtype);  // bytes of one element

/// How matrix products and convolutions multiply f32 tensors. The tensors in memory are the same in
/// both modes. Ignored for other types.
enum class MathMode {
  strict,  // products of f32 numbers
  tf32     // inputs may be rounded to TF32 (10 bits of mantissa) for tensor cores; sums are f32
};

/// The number format of a case, as users name it: "f32", "tf32" or "bf16".
struct NumberFormat {
  DType dtype = DType::f32;
  MathMode math = MathMode::strict;
  friend bool operator==(const NumberFormat&, const NumberFormat&) = default;
};

[[nodiscard]] std::string_view to_string(const NumberFormat& format);
[[nodiscard]] std::vector<std::string> number_format_names();
/// Returns the number format of that name; nothing for an unknown name.
[[nodiscard]] std::optional<NumberFormat> number_format_named(std::string_view name);

/// Extents, outermost first: {N, C, H, W} for activations, {O, I, KH, KW} for convolution weights
/// ({G, O/G, I/G, KH, KW} when grouped), {rows, columns} for matrices.
using Shape = std::vector<std::int64_t>;

/// Returns the number of elements. Throws UsageError if it exceeds 64 bits.
[[nodiscard]] std::int64_t element_count(const Shape& shape);
[[nodiscard]] std::string to_string(const Shape& shape);

/// Backend-specific description of a memory layout. Portable code compares and prints it, and reads
/// the strides of a StridedLayout.
class LayoutDetail {
 public:
  virtual ~LayoutDetail() = default;
  [[nodiscard]] virtual bool equals(const LayoutDetail& other) const = 0;
  [[nodiscard]] virtual std::string name() const = 0;
};

/// Memory layout of a tensor. A default-constructed layout is canonical: dense and row-major in the
/// order of the shape. Other layouts belong to the device that made them.
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
  std::size_t bytes = 0;  // including the layout's padding

  friend bool operator==(const TensorDesc& a, const TensorDesc& b) {
    return a.shape == b.shape && a.dtype == b.dtype && a.layout == b.layout;
  }
};

/// Returns the description of a dense row-major tensor. Throws UsageError if its number of bytes
/// exceeds 64 bits.
[[nodiscard]] TensorDesc canonical(Shape shape, DType dtype = DType::f32);

/// Returns the description of bytes that only the operations of one backend interpret: masks and
/// indices that a forward pass saves, counters.
[[nodiscard]] TensorDesc opaque(std::size_t bytes);
[[nodiscard]] bool is_opaque(const Layout& layout);

}  // namespace parbench
