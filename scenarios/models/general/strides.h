// Results of operations that only move elements, as strided views of other tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "scenarios/models/general/graph.h"

namespace parbench::general {

/// The elements of an operation in the memory of another one, `base`: the element with coordinates
/// i is at offset + Σ strides·i.
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

/// Returns the view of the result of an operation that only moves elements, from the view of its
/// input. Nothing for a reshape whose result strides cannot describe.
[[nodiscard]] std::optional<StridedView> moved(const Operation& operation, const StridedView& input,
                                               std::int64_t samples);

/// Returns the view of the last of a chain of such operations on `base`, a canonical tensor, for
/// one sample. `chain`: starts with the last operation.
[[nodiscard]] std::optional<StridedView> moved(const Graph& graph, int base,
                                               const std::vector<int>& chain);

/// Returns whether an operation only moves elements, so that `moved` supports its kind.
[[nodiscard]] bool is_movement(OpKind kind);

}  // namespace parbench::general
