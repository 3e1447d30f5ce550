// Computes the strides of each kind of movement.
#include "scenarios/models/general/strides.h"

namespace parbench::general {
namespace {

/// A dimension, or several joined ones, with more than one element.
struct Piece {
  std::int64_t extent = 1;
  std::int64_t stride = 0;
};

/// Returns the dimensions with more than one element; contiguous neighbours are joined.
std::vector<Piece> pieces_of(const StridedView& view) {
  std::vector<Piece> pieces;
  for (std::size_t d = 0; d < view.shape.size(); ++d) {
    if (view.shape[d] == 1) continue;
    const bool joins = !pieces.empty() && pieces.back().stride == view.strides[d] * view.shape[d];
    if (joins) {
      pieces.back() = {pieces.back().extent * view.shape[d], view.strides[d]};
    } else {
      pieces.push_back({view.shape[d], view.strides[d]});
    }
  }
  return pieces;
}

/// Returns the strides of a view, given by its pieces, after a reshape to `shape`; nothing if
/// strides cannot describe the result.
std::optional<Shape> regrouped(std::vector<Piece> pieces, const Shape& shape) {
  Shape strides(shape.size(), 0);
  for (std::size_t d = shape.size(); d-- > 0;) {
    if (shape[d] == 1) continue;
    if (pieces.empty() || pieces.back().extent % shape[d] != 0) return std::nullopt;
    Piece& last = pieces.back();
    strides[d] = last.stride;
    last = {last.extent / shape[d], last.stride * shape[d]};
    if (last.extent == 1) pieces.pop_back();
  }
  return strides;
}

}  // namespace

Shape canonical_strides(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

bool StridedView::is_contiguous() const {
  const std::vector<Piece> pieces = pieces_of(*this);
  return pieces.empty() || (pieces.size() == 1 && pieces.front().stride == 1);
}

bool is_movement(OpKind kind) {
  return kind == OpKind::expansion || kind == OpKind::permutation || kind == OpKind::reshape ||
         kind == OpKind::slice || kind == OpKind::detached;
}

std::optional<StridedView> moved(const Operation& operation, const StridedView& input,
                                 std::int64_t samples) {
  StridedView view = input;
  view.shape = shape_at(operation.shape, samples);
  if (operation.kind == OpKind::reshape) {
    const std::optional<Shape> strides = regrouped(pieces_of(input), view.shape);
    if (!strides) return std::nullopt;
    view.strides = *strides;
    return view;
  }
  for (std::size_t d = 0; d < view.shape.size(); ++d) {
    if (operation.kind == OpKind::permutation) {
      view.strides[d] = input.strides[static_cast<std::size_t>(operation.axes[d])];
    } else if (operation.kind == OpKind::slice) {
      view.offset += operation.starts[d] * input.strides[d];
      view.strides[d] = input.strides[d] * operation.steps[d];
    } else if (input.shape[d] != view.shape[d]) {
      view.strides[d] = 0;
    }
  }
  return view;
}

std::optional<StridedView> moved(const Graph& graph, int base, const std::vector<int>& chain) {
  const Shape whole = shape_at(graph.shape(base), 1);
  std::optional<StridedView> view{
      StridedView{.base = base, .shape = whole, .strides = canonical_strides(whole)}};
  for (auto one = chain.rbegin(); view && one != chain.rend(); ++one) {
    view = moved(graph.at(*one), *view, 1);
  }
  return view;
}

}  // namespace parbench::general
