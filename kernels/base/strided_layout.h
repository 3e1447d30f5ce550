// Layouts that strides can describe. Programs over strided tensors (Map) can then read and write
// the tensors directly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/base/tensor.h"

namespace parbench {

/// A dimension of a tensor in memory, or a part of a dimension that is divided into blocks.
struct LayoutPart {
  std::size_t dimension = 0;
  std::int64_t extent = 1;
  std::int64_t stride = 1;  // in elements
};

class StridedLayout : public LayoutDetail {
 public:
  /// Returns the parts of a tensor of that shape in order of its dimensions, the outer part of a
  /// dimension first. Empty if strides do not describe the layout, for example because it has
  /// padding, whose elements belong to no coordinates.
  [[nodiscard]] virtual std::vector<LayoutPart> parts(const Shape& shape) const = 0;
};

/// Returns the parts of a tensor; empty for a layout that strides do not describe.
[[nodiscard]] std::vector<LayoutPart> parts_of(const TensorDesc& tensor);

}  // namespace parbench
