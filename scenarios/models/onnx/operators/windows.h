// The windows of convolutions and poolings as files have them, and what they pad.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/models/layers/window.h"
#include "scenarios/models/onnx/importer.h"

namespace parbench::onnx_import {

using Extents = std::vector<std::int64_t>;

/// Of kernels, strides, paddings and the like, far above any image.
inline constexpr std::int64_t max_window = 1 << 20;

// All of these throw CannotMap for what no window has.

/// The value that all numbers of a list have; the fallback for an empty one.
[[nodiscard]] std::int64_t same(const Extents& values, std::int64_t fallback,
                                std::string_view what);

/// The shape of the weights of a node, whose windows are square.
[[nodiscard]] const Shape& square_weights(const NodeView& view);

/// The window of a node without its padding, and with it.
[[nodiscard]] Window bare_window(const NodeView& view, std::int64_t kernel);
[[nodiscard]] Window window_of(const NodeView& view, const Shape& image, std::int64_t kernel);

/// The attribute auto_pad; "NOTSET" without it.
[[nodiscard]] std::string automatic_padding(const NodeView& view);
/// Whether it is one that leaves as many positions as the image has at stride 1.
[[nodiscard]] bool is_same_padding(const std::string& automatic);

/// The zeros that a convolution adds at the edges of an image.
[[nodiscard]] Edges edges_of(const NodeView& view, const Window& window, const Shape& image);

[[nodiscard]] std::int64_t smallest(const Edges& edges);
[[nodiscard]] Edges sum(const Edges& a, const Edges& b);
/// What a window with that padding leaves of edges.
[[nodiscard]] Edges beyond(const Edges& edges, std::int64_t padding);
/// As much padding alike at all edges as a window may have.
[[nodiscard]] std::int64_t padding_alike(const Edges& edges, const Window& window);

}  // namespace parbench::onnx_import
