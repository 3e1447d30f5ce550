// Windows that move over one, two or three dimensions, and the elements that their taps read.
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

/// Larger numbers are treated as mistakes; their products would exceed 64 bits.
constexpr std::int64_t max_extent = 1 << 24;

/// Parameters of windows, by dimension after the channels.
struct Windows {
  Integers kernel;
  Integers strides;
  Integers dilations;
  Integers front;  // padding
  Integers back;
  Integers results;  // numbers of positions

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

/// Returns a list from an attribute; if it is omitted, every element is `fallback`. These functions
/// throw CannotTranslate.
[[nodiscard]] Integers of_rank(const Arguments& arguments, std::string_view name, std::size_t rank,
                               std::int64_t fallback);
void check_kernel(const Integers& kernel);
/// Refuses windows with too many taps to compute each separately.
void check_taps(const Windows& windows);
/// Returns the extents of the dimensions after the channels.
[[nodiscard]] Integers image_of(const Extents& shape);
[[nodiscard]] Windows windows_of(const Arguments& arguments, const Integers& image,
                                 Integers kernel);
/// Returns a window for a layer of its own kind; nothing for others. `has_trailing`: the kind
/// supports trailing padding, but not together with dilation.
[[nodiscard]] std::optional<Window> square_window(const Windows& windows, const Integers& image,
                                                  bool has_trailing);

/// Returns the input with the padding that the windows read.
[[nodiscard]] Term padded(Term x, const Windows& windows, float value);
/// Returns the taps of a window, with the last dimension fastest.
[[nodiscard]] std::vector<Integers> taps_of(const Windows& windows);
/// Returns the elements that a tap reads, for all windows.
[[nodiscard]] Term read_by_tap(Term x, const Windows& windows, const Integers& tap);
/// Combines the elements that all taps read with an operator.
[[nodiscard]] Term over_taps(Term x, const Windows& windows, ElementOp op);

}  // namespace parbench::onnx_import
