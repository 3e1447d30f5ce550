// Arithmetic of strides.
#include "scenarios/models/onnx/views.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "scenarios/models/onnx/importer.h"

namespace parbench::onnx_import {
namespace {

constexpr std::size_t max_dimensions = 16;

/// Joins neighbours that lie in memory as one axis. That of the samples stays by itself.
Dimension joined(const Dimension& axes) {
  Dimension result;
  for (const Axis& axis : axes) {
    const bool follows = !result.empty() && !result.back().samples && !axis.samples &&
                         result.back().stride == axis.extent * axis.stride;
    if (follows) {
      result.back() = {.extent = result.back().extent * axis.extent, .stride = axis.stride};
    } else {
      result.push_back(axis);
    }
  }
  return result;
}

Dimension all_axes(const View& view) {
  Dimension axes;
  for (const Dimension& one : view.dimensions) axes.insert(axes.end(), one.begin(), one.end());
  return joined(axes);
}

/// Takes axes for a dimension of that extent from the front of `axes`.
Dimension taken(Dimension& axes, std::int64_t extent) {
  Dimension dimension;
  const auto take_first = [&] {
    dimension.push_back(axes.front());
    axes.erase(axes.begin());
  };
  if (extent == 1 && !axes.empty() && axes.front().samples && axes.front().extent == 1) {
    take_first();
  }
  while (extent > 1 && !axes.empty()) {
    Axis& first = axes.front();
    if (extent % first.extent == 0) {
      extent /= first.extent;
      take_first();
      continue;
    }
    if (first.samples || first.extent % extent != 0) {
      throw CannotMap("its shape divides the samples, or joins parts of dimensions");
    }
    first.extent /= extent;
    dimension.push_back({.extent = extent, .stride = first.stride * first.extent});
    extent = 1;
  }
  if (extent != 1) throw CannotMap("its shape has more elements than its input");
  return joined(dimension);
}

/// With numbers in place of 0 and −1.
Shape known_shape(const Shape& from, Shape shape, bool allows_zero) {
  std::int64_t known = 1;
  std::int64_t total = 1;
  for (const std::int64_t extent : from) total *= extent;
  const auto refuse = [&] {
    throw CannotMap(fmt::format("its shape ({}) is not that of its input ({})",
                                fmt::join(shape, ", "), fmt::join(from, ", ")));
  };
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && !allows_zero && i < from.size()) shape[i] = from[i];
    if (shape[i] == -1) continue;
    if (shape[i] < 1 || shape[i] > total / known) refuse();
    known *= shape[i];
  }
  std::ranges::replace(shape, std::int64_t{-1}, total / known);
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) {
    if (extent > total / count) refuse();
    count *= extent;
  }
  if (count != total) refuse();
  return shape;
}

}  // namespace

View whole_view(int activation, const Shape& sample, std::int64_t samples) {
  View view{.activation = activation};
  std::int64_t stride = 1;
  for (std::size_t i = sample.size(); i-- > 0;) {
    Dimension dimension;
    if (sample[i] > 1) dimension.push_back({.extent = sample[i], .stride = stride});
    view.dimensions.insert(view.dimensions.begin(), std::move(dimension));
    stride *= sample[i];
  }
  view.dimensions.insert(view.dimensions.begin(),
                         {{.extent = samples, .stride = stride, .samples = true}});
  return view;
}

std::int64_t extent_of(const Dimension& dimension) {
  std::int64_t extent = 1;
  for (const Axis& axis : dimension) extent *= axis.extent;
  return extent;
}

Shape shape_of(const View& view) {
  Shape shape;
  for (const Dimension& one : view.dimensions) shape.push_back(extent_of(one));
  return shape;
}

bool is_in_order(const View& view, const Shape& sample) {
  const Dimension axes = all_axes(view);
  const std::int64_t count = element_count(sample);
  return view.offset == 0 && !axes.empty() && axes.front().samples &&
         (count == 1 ? axes.size() == 1
                     : axes.size() == 2 && axes[1] == Axis{.extent = count, .stride = 1});
}

bool is_whole(const View& view, const Shape& sample) {
  Dimension axes = all_axes(view);
  std::ranges::sort(axes, std::ranges::greater(),
                    [](const Axis& axis) { return std::pair(axis.samples, axis.stride); });
  View sorted{.activation = view.activation, .offset = view.offset};
  for (const Axis& axis : axes) sorted.dimensions.push_back({axis});
  return is_in_order(sorted, sample);
}

bool keeps_rows(const View& view, const Shape& sample) {
  const Dimension row =
      sample.back() == 1 ? Dimension() : Dimension{{.extent = sample.back(), .stride = 1}};
  return !view.dimensions.empty() && view.dimensions.back() == row && is_whole(view, sample);
}

std::size_t place_of(std::int64_t axis, std::size_t rank) {
  const auto count = static_cast<std::int64_t>(rank);
  if (axis < -count || axis >= count) {
    throw CannotMap(fmt::format("its axis {} is none of {} dimensions", axis, rank));
  }
  return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}

View transposed(const View& view, const std::vector<std::int64_t>& order) {
  View result = view;
  result.dimensions.clear();
  std::vector<bool> is_taken(view.dimensions.size());
  for (const std::int64_t one : order) {
    const std::size_t place = place_of(one, view.dimensions.size());
    if (is_taken[place]) throw CannotMap("its order has a dimension twice");
    is_taken[place] = true;
    result.dimensions.push_back(view.dimensions[place]);
  }
  if (result.dimensions.size() == view.dimensions.size()) return result;
  throw CannotMap("its order is not that of all dimensions");
}

View regrouped(const View& view, const Shape& shape, bool allows_zero) {
  if (shape.size() > max_dimensions) throw CannotMap("its shape has too many dimensions");
  const Shape wanted = known_shape(shape_of(view), shape, allows_zero);
  View result = view;
  result.dimensions.clear();
  Dimension axes = all_axes(view);
  for (const std::int64_t extent : wanted) result.dimensions.push_back(taken(axes, extent));
  if (axes.empty()) return result;
  // That of a single sample, behind all others.
  if (result.dimensions.empty()) throw CannotMap("its shape has no dimension of samples");
  Dimension& last = result.dimensions.back();
  last.insert(last.end(), axes.begin(), axes.end());
  return result;
}

View selected(const View& view, std::size_t dimension, std::int64_t first, std::int64_t count) {
  View result = view;
  Dimension& axes = result.dimensions.at(dimension);
  const std::int64_t extent = extent_of(axes);
  if (first < 0 || count < 1 || first > extent || count > extent - first) {
    throw CannotMap(fmt::format("it selects {} of {} positions from {} on", count, extent, first));
  }
  if (first == 0 && count == extent) return result;
  const std::int64_t inner = extent / axes.front().extent;
  if (axes.front().samples || first % inner != 0 || count % inner != 0) {
    throw CannotMap("it divides the samples, or a dimension that lies in several parts");
  }
  result.offset += first / inner * axes.front().stride;
  axes.front().extent = count / inner;
  if (axes.front().extent == 1) axes.erase(axes.begin());
  return result;
}

View with_row_length(View view, int activation, std::int64_t from, std::int64_t to) {
  view.activation = activation;
  view.dimensions.back().clear();
  for (Dimension& dimension : view.dimensions) {
    for (Axis& axis : dimension) axis.stride = axis.stride / from * to;
  }
  if (to > 1) view.dimensions.back().push_back({.extent = to, .stride = 1});
  return view;
}

}  // namespace parbench::onnx_import
