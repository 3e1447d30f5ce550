// Windows that move over one, two or three dimensions, and what their taps read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "scenarios/models/layers/window.h"
#include "scenarios/models/onnx/translator.h"

namespace parbench::onnx_import {

/// Larger numbers are mistakes, and their products beyond 64 bits.
constexpr std::int64_t max_extent = 1 << 24;

/// How windows move, by dimension behind the channels.
struct Windows {
  Integers kernel;
  Integers strides;
  Integers dilations;
  Integers front;  // padding
  Integers back;
  Integers results;  // how many there are

  [[nodiscard]] std::size_t rank() const { return kernel.size(); }
  [[nodiscard]] std::int64_t reach(std::size_t d) const {
    return (kernel[d] - 1) * dilations[d] + 1;
  }
  [[nodiscard]] std::int64_t taps() const {
    std::int64_t count = 1;
    for (const std::int64_t side : kernel) count = std::min(count, max_extent) * side;
    return count;
  }
};

/// A list of an attribute, which is `fallback` throughout where it is left out. These functions
/// throw CannotTranslate.
[[nodiscard]] Integers of_rank(const Arguments& arguments, std::string_view name, std::size_t rank,
                               std::int64_t fallback);
void check_kernel(const Integers& kernel);
/// Refuses windows of too many taps to compute each by itself.
void check_taps(const Windows& windows);
/// Extents of the dimensions behind the channels.
[[nodiscard]] Integers image_of(const general::Extents& shape);
[[nodiscard]] Windows windows_of(const Arguments& arguments, const Integers& image,
                                 Integers kernel);
/// A window of a kind of its own; nothing for others. `has_trailing`: the kind has it, and no
/// dilation with it.
[[nodiscard]] std::optional<Window> square_window(const Windows& windows, const Integers& image,
                                                  bool has_trailing);

/// The input with what the windows read beyond its edges.
[[nodiscard]] int padded(general::Graph& graph, int x, const Windows& windows, float value);
/// The taps of a window, the last dimension fastest.
[[nodiscard]] std::vector<Integers> taps_of(const Windows& windows);
/// What a tap reads, for all windows.
[[nodiscard]] int read_by_tap(general::Graph& graph, int x, const Windows& windows,
                              const Integers& tap);
/// What all taps read, joined by an operator.
[[nodiscard]] int over_taps(general::Graph& graph, int x, const Windows& windows, ElementOp op);

}  // namespace parbench::onnx_import
