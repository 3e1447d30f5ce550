// Tensors of a graph that are no layer of their own: parts of an activation, its dimensions in
// another order, divided or joined.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/base/tensor.h"

namespace parbench::onnx_import {

/// Elements that lie `stride` apart in an activation {samples, …} without gaps.
struct Axis {
  std::int64_t extent = 1;
  std::int64_t stride = 1;
  bool samples = false;  // of the batch: never divided, and kept when its extent is 1

  friend bool operator==(const Axis&, const Axis&) = default;
};

/// A dimension, slowest axis first; none where its extent is 1.
using Dimension = std::vector<Axis>;

struct View {
  int activation = 0;
  std::vector<Dimension> dimensions = {};
  std::int64_t offset = 0;
  double scale = 1;  // that each element still has to be multiplied by
};

/// All of an activation whose samples have that shape.
[[nodiscard]] View whole_view(int activation, const Shape& sample, std::int64_t samples);

[[nodiscard]] std::int64_t extent_of(const Dimension& dimension);
[[nodiscard]] Shape shape_of(const View& view);

/// Whether the elements lie in the order of memory, in however many dimensions, and are all of it.
[[nodiscard]] bool is_in_order(const View& view, const Shape& sample);
/// Whether each element of the activation is there once, in any order, and its last dimension is
/// the one of the view.
[[nodiscard]] bool keeps_rows(const View& view, const Shape& sample);
/// Whether each element of the activation is there once, in any order.
[[nodiscard]] bool is_whole(const View& view, const Shape& sample);

// All of these throw CannotMap where no view is the result.

[[nodiscard]] View transposed(const View& view, const std::vector<std::int64_t>& order);
/// 0 and −1 mean what they do in a Reshape.
[[nodiscard]] View regrouped(const View& view, const Shape& shape, bool allows_zero);
/// `count` positions of a dimension.
[[nodiscard]] View selected(const View& view, std::size_t dimension, std::int64_t first,
                            std::int64_t count);
/// Of so many outputs for each row of a view that keeps rows.
[[nodiscard]] View with_row_length(View view, int activation, std::int64_t from, std::int64_t to);

/// Products of queries and keys, on the way to attention.
struct Scores {
  View queries;  // {…, positions, size}
  View keys;     // the same, with the positions last
  double scale = 1;
  bool causal = false;     // only positions up to the query's are left
  bool is_shares = false;  // behind the softmax
};

/// The place of an axis that counts from the end where it is negative.
[[nodiscard]] std::size_t place_of(std::int64_t axis, std::size_t rank);

}  // namespace parbench::onnx_import
