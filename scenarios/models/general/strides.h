// Tensors as other tensors' elements at strides: what moves elements without a copy.
#pragma once

#include <cstdint>
#include <optional>

#include "scenarios/models/general/graph.h"

namespace parbench::general {

/// The elements of an operation in the memory of another one: those at offset + Σ strides·i.
struct StridedView {
  int base = 0;
  std::int64_t offset = 0;
  Shape shape = {};
  Shape strides = {};

  /// Whether the elements lie one behind the other in canonical order.
  [[nodiscard]] bool is_contiguous() const;
};

/// The strides of a canonical tensor.
[[nodiscard]] Shape canonical_strides(const Shape& shape);

/// The view of an operation's result by one of its input, for kinds that only move elements.
/// Nothing where a reshape divides or joins dimensions that do not lie in one piece.
[[nodiscard]] std::optional<StridedView> moved(const Operation& operation, const StridedView& input,
                                               std::int64_t samples);

/// Whether an operation only moves elements, so that `moved` knows its kind.
[[nodiscard]] bool is_movement(OpKind kind);

}  // namespace parbench::general
