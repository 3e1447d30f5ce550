// Results of movements, operations that only select, repeat or rearrange elements, as strided views
// of other tensors.
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

/// Returns the view of the result of a movement (is_movement), from the view of the movement's
/// input; nothing for a reshape whose result strides cannot describe.
[[nodiscard]] std::optional<StridedView> moved(const Operation& operation, const StridedView& input,
                                               std::int64_t samples);

/// Returns the view of the result of a chain of movements of `base`, a canonical tensor, for one
/// sample; nothing if strides cannot describe the result. `chain`: the movements, the last one
/// first.
[[nodiscard]] std::optional<StridedView> moved(const Graph& graph, int base,
                                               const std::vector<int>& chain);

/// Returns whether a kind of operation is a movement: its result has the input's elements,
/// selected, repeated or in another shape or order. These are expansions, permutations, reshapes,
/// slices, and `detached`, whose elements stay in place.
[[nodiscard]] bool is_movement(OpKind kind);

}  // namespace parbench::general
