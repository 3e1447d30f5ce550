// Square windows, with equal strides and dilations.
#include "scenarios/models/onnx/operators/windows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

namespace parbench::onnx_import {

std::int64_t same(const Extents& values, std::int64_t fallback, std::string_view what) {
  if (values.empty()) return fallback;
  if (std::ranges::adjacent_find(values, std::ranges::not_equal_to()) != values.end()) {
    throw CannotMap(fmt::format("its {} differ: {}", what, fmt::join(values, ", ")));
  }
  return values.front();
}

namespace {

void check_extent(std::int64_t extent) {
  if (extent <= 0) throw CannotMap("its window is empty");
  if (extent > max_window) throw CannotMap("its window is larger than any image");
}

/// What an image has to be padded by, at both ends together, for as many positions as it has at
/// stride 1.
std::int64_t same_padding(const Window& window, std::int64_t extent) {
  const std::int64_t positions = (extent + window.stride - 1) / window.stride;
  return std::max<std::int64_t>(0, (positions - 1) * window.stride + window.extent() - extent);
}

/// Of the odd one, SAME_LOWER has one more in front, which no layer has.
void pad_automatically(Window& window, const Shape& image, bool more_in_front) {
  const std::int64_t padding =
      same({same_padding(window, image[1]), same_padding(window, image[2])}, 0, "paddings");
  if (more_in_front && padding % 2 != 0) {
    throw CannotMap("its automatic padding is larger in front of the image");
  }
  window.padding = padding / 2;
  window.trailing = padding % 2;
}

/// `paddings`: above, on the left, below, on the right.
void pad(Window& window, const Extents& paddings) {
  if (paddings.empty()) return;
  if (paddings.size() != 4) throw CannotMap("its paddings are not those of four edges");
  window.padding = same({paddings[0], paddings[1]}, 0, "paddings");
  const std::int64_t behind = same({paddings[2], paddings[3]}, 0, "paddings");
  for (const std::int64_t one : {window.padding, behind}) {
    if (one >= 0 && one < window.extent()) continue;
    throw CannotMap(fmt::format("its padding {} does not fit its window", one));
  }
  window.trailing = behind - window.padding;
  if (window.trailing < 0) throw CannotMap("its padding is larger in front of the image");
}

}  // namespace

const Shape& square_weights(const NodeView& view) {
  const Shape& shape = view.weights(1, "weights").shape;
  if (shape.size() != 4 || shape[2] != shape[3]) {
    throw CannotMap("its weights are not those of square windows");
  }
  return shape;
}

Window bare_window(const NodeView& view, std::int64_t kernel) {
  const Window window{.kernel = kernel,
                      .stride = same(view.attribute("strides", Extents()), 1, "strides"),
                      .dilation = same(view.attribute("dilations", Extents()), 1, "dilations")};
  for (const std::int64_t extent : {window.kernel, window.stride, window.dilation}) {
    check_extent(extent);
  }
  check_extent(window.extent());
  return window;
}

std::string automatic_padding(const NodeView& view) {
  return view.attribute("auto_pad", std::string("NOTSET"));
}

bool is_same_padding(const std::string& automatic) {
  return automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
}

Window window_of(const NodeView& view, const Shape& image, std::int64_t kernel) {
  Window window = bare_window(view, kernel);
  const std::string automatic = automatic_padding(view);
  if (is_same_padding(automatic)) {
    pad_automatically(window, image, automatic == "SAME_LOWER");
  } else if (automatic == "NOTSET") {
    pad(window, view.attribute("pads", Extents()));
  }
  return window;
}

Edges edges_of(const NodeView& view, const Window& window, const Shape& image) {
  const std::string automatic = automatic_padding(view);
  if (is_same_padding(automatic)) {
    const std::int64_t height = same_padding(window, image[1]);
    const std::int64_t width = same_padding(window, image[2]);
    const std::int64_t odd = automatic == "SAME_LOWER" ? 1 : 0;
    const std::int64_t top = (height + odd) / 2;
    const std::int64_t left = (width + odd) / 2;
    return {.top = top, .left = left, .bottom = height - top, .right = width - left};
  }
  const Extents paddings = view.attribute("pads", Extents());
  if (automatic != "NOTSET" || paddings.empty()) return {};
  if (paddings.size() != 4) throw CannotMap("its paddings are not those of four edges");
  for (const std::int64_t one : paddings) {
    if (one >= 0 && one < window.extent()) continue;
    throw CannotMap(fmt::format("its padding {} does not fit its window", one));
  }
  return {.top = paddings[0], .left = paddings[1], .bottom = paddings[2], .right = paddings[3]};
}

std::int64_t smallest(const Edges& edges) {
  return std::min({edges.top, edges.left, edges.bottom, edges.right});
}

Edges sum(const Edges& a, const Edges& b) {
  return {a.top + b.top, a.left + b.left, a.bottom + b.bottom, a.right + b.right};
}

Edges beyond(const Edges& edges, std::int64_t padding) {
  return sum(edges, {-padding, -padding, -padding, -padding});
}

std::int64_t padding_alike(const Edges& edges, const Window& window) {
  return std::clamp<std::int64_t>(smallest(edges), 0, window.extent() - 1);
}

}  // namespace parbench::onnx_import
