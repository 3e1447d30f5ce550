// Layouts that strides describe, so that programs over strided tensors can work in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/base/tensor.h"

namespace parbench {

/// A dimension of a tensor as it lies in memory, or a part of one that is divided into blocks.
struct LayoutPart {
  std::size_t dimension = 0;
  std::int64_t extent = 1;
  std::int64_t stride = 1;  // elements
};

class StridedLayout : public LayoutDetail {
 public:
  /// The parts of a tensor of that shape by dimension, the outer ones of a dimension first. Empty
  /// where it has elements that belong to none: padding.
  [[nodiscard]] virtual std::vector<LayoutPart> parts(const Shape& shape) const = 0;
};

/// The parts of a tensor; empty for a layout that strides do not describe.
[[nodiscard]] std::vector<LayoutPart> parts_of(const TensorDesc& tensor);

}  // namespace parbench
