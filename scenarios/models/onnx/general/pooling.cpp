// Poolings. Those with square windows become layers of their own kinds; others are computed tap by
// tap.
#include <algorithm>
#include <limits>

#include "scenarios/models/layers/images.h"
#include "scenarios/models/onnx/general/indexing.h"
#include "scenarios/models/onnx/general/windows.h"

namespace parbench::onnx_import {
namespace {

using enum ElementOp;

/// The input of a pooling, and its windows.
struct Pooling {
  explicit Pooling(Arguments& arguments)
      : x(arguments.operand(0)),
        image(image_of(x.shape())),
        windows(windows_of(arguments, image, arguments.integer_list("kernel_shape", {}))),
        axes(general::axes_between(2, x.rank())) {
    if (arguments.is_network() && starts_with_samples(x.shape())) {
      layer_window = square_window(windows, image, true);
    }
  }

  /// Returns whether one window covers the whole image; it may extend beyond the image.
  [[nodiscard]] bool covers() const {
    for (std::size_t d = 0; d < windows.rank(); ++d) {
      if (windows.results[d] != 1 || windows.dilations[d] != 1 ||
          windows.kernel[d] < windows.front[d] + image[d]) {
        return false;
      }
    }
    return true;
  }

  Term x;
  Integers image;
  Windows windows;
  general::Axes axes;                  // of the image
  std::optional<Window> layer_window;  // for a layer of its own kind; nothing for others
};

Outputs max_pool(Arguments& arguments) {
  constexpr float lowest = std::numeric_limits<float>::lowest();
  const Pooling of(arguments);
  const std::vector<std::string>& outputs = arguments.node().outputs;
  refuse_if(outputs.size() > 1 && !outputs[1].empty(), "its places of maxima are read");
  if (of.covers() && of.windows.kernel != of.image) {
    return {of.x.reduce(Reduction::maximum, of.axes)};
  }
  if (of.layer_window) {
    return {arguments.add_layer(std::make_shared<const MaxPool>(*of.layer_window), {of.x})};
  }
  return {over_taps(padded(of.x, of.windows, lowest), of.windows, maximum)};
}

Outputs average_pool(Arguments& arguments) {
  const Pooling of(arguments);
  const Windows& windows = of.windows;
  const bool counts = arguments.flag("count_include_pad", false);
  const bool rounds_up = arguments.flag("ceil_mode", false);
  const auto is_positive = [](std::int64_t one) { return one > 0; };
  const bool has_zeros = std::ranges::any_of(windows.front, is_positive) ||
                         std::ranges::any_of(windows.back, is_positive);
  if (of.covers() && !(counts && has_zeros)) return {of.x.mean(of.axes)};
  if (of.layer_window && !(counts && rounds_up)) {
    return {
        arguments.add_layer(std::make_shared<const AveragePool>(*of.layer_window, counts), {of.x})};
  }
  const Term sum = over_taps(padded(of.x, windows, 0), windows, addition);
  if (!has_zeros && !rounds_up) return {sum * (1 / static_cast<float>(windows.taps()))};
  Extents one = of.x.shape();
  one[0] = {};
  one[1] = {};
  Windows inside = windows;  // windows without the padding that the file does not ask for
  for (std::size_t d = 0; counts && d < windows.rank(); ++d) {
    one[d + 2].size += windows.front[d] + windows.back[d];
    inside.front[d] = 0;
  }
  return {sum / over_taps(padded(arguments.filled(1, one), inside, 0), inside, addition)};
}

Outputs lp_pool(Arguments& arguments) {
  const Pooling of(arguments);
  const auto order = static_cast<float>(arguments.integer("p", 2));
  const Term powers = padded(of.x.abs().power(order), of.windows, 0);
  return {over_taps(powers, of.windows, addition).power(1 / order)};
}

}  // namespace

OperatorTable pooling_operators() {
  return {{"AveragePool", average_pool}, {"LpPool", lp_pool}, {"MaxPool", max_pool}};
}

}  // namespace parbench::onnx_import
