// Tensors as strided views of other tensors: movements of elements without copies.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "scenarios/models/general/graph.h"

namespace parbench::general {

/// The elements of an operation in the memory of another one: at offset + Σ strides·i.
struct StridedView {
  int base = 0;
  std::int64_t offset = 0;
  Shape shape = {};
  Shape strides = {};

  /// Returns whether the elements are contiguous in canonical order.
  [[nodiscard]] bool is_contiguous() const;
};

/// Returns the strides of a canonical tensor.
[[nodiscard]] Shape canonical_strides(const Shape& shape);

/// Returns the view of an operation's result from that of its input, for kinds that only move
/// elements. Nothing if a reshape divides or joins dimensions that are not contiguous.
[[nodiscard]] std::optional<StridedView> moved(const Operation& operation, const StridedView& input,
                                               std::int64_t samples);

/// Returns the view of the last of a chain of operations, for one sample, from the canonical tensor
/// `base`. `chain`: starts with the last operation.
[[nodiscard]] std::optional<StridedView> moved(const Graph& graph, int base,
                                               const std::vector<int>& chain);

/// Returns whether an operation only moves elements, so that `moved` supports its kind.
[[nodiscard]] bool is_movement(OpKind kind);

}  // namespace parbench::general
