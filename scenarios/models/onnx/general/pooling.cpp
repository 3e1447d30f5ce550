// Poolings. Those with square windows become layers of their own kinds; others are computed tap by
// tap.
#include <algorithm>
#include <limits>
#include <numeric>

#include "scenarios/models/layers/images.h"
#include "scenarios/models/onnx/general/indexing.h"
#include "scenarios/models/onnx/general/windows.h"

namespace parbench::onnx_import {
namespace {

using general::Extents;
using general::Graph;
using enum ElementOp;

/// Returns whether one window covers the whole image; it may extend beyond the image.
bool covers(const Windows& windows, const Integers& image) {
  for (std::size_t d = 0; d < windows.rank(); ++d) {
    if (windows.results[d] != 1 || windows.dilations[d] != 1 ||
        windows.kernel[d] < windows.front[d] + image[d]) {
      return false;
    }
  }
  return true;
}

Integers image_axes(const Windows& windows) {
  Integers axes(windows.rank());
  std::iota(axes.begin(), axes.end(), 2);
  return axes;
}

Outputs max_pool(Arguments& arguments) {
  constexpr float lowest = std::numeric_limits<float>::lowest();
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  const Extents from = graph.shape(x);
  const Integers image = image_of(from);
  const Windows windows = windows_of(arguments, image, arguments.integer_list("kernel_shape", {}));
  if (arguments.node().outputs.size() > 1 && !arguments.node().outputs[1].empty()) {
    throw CannotTranslate("its places of maxima are read");
  }
  if (covers(windows, image) && windows.kernel != image) {
    return {graph.reduce(Reduction::maximum, x, image_axes(windows))};
  }
  const auto square = square_window(windows, image, true);
  if (square && arguments.is_network() && starts_with_samples(from)) {
    return {arguments.translator().add_layer(
        arguments.node(), std::make_shared<const MaxPool>(*square), {x}, {}, -1)};
  }
  return {over_taps(graph, padded(graph, x, windows, lowest), windows, maximum)};
}

Outputs average_pool(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  const Extents from = graph.shape(x);
  const Integers image = image_of(from);
  const Windows windows = windows_of(arguments, image, arguments.integer_list("kernel_shape", {}));
  const bool counts = arguments.flag("count_include_pad", false);
  const auto is_positive = [](std::int64_t one) { return one > 0; };
  const bool has_zeros = std::ranges::any_of(windows.front, is_positive) ||
                         std::ranges::any_of(windows.back, is_positive);
  if (covers(windows, image) && !(counts && has_zeros)) {
    return {graph.mean(x, image_axes(windows))};
  }
  const bool is_padded = has_zeros || arguments.flag("ceil_mode", false);
  const auto square = square_window(windows, image, true);
  if (square && !(counts && arguments.flag("ceil_mode", false)) && arguments.is_network() &&
      starts_with_samples(from)) {
    return {arguments.translator().add_layer(
        arguments.node(), std::make_shared<const AveragePool>(*square, counts), {x}, {}, -1)};
  }
  const int sum = over_taps(graph, padded(graph, x, windows, 0), windows, addition);
  if (!is_padded) {
    return {graph.apply(product, sum, 1 / static_cast<float>(windows.taps()))};
  }
  Extents one = from;
  one[0] = {};
  one[1] = {};
  Windows inside = windows;  // windows without the padding that the file does not ask for
  int ones = graph.number(1, one);
  if (counts) {
    for (std::size_t d = 0; d < windows.rank(); ++d) {
      one[d + 2].size += windows.front[d] + windows.back[d];
      inside.front[d] = 0;
    }
    ones = graph.number(1, one);
  }
  const int count = over_taps(graph, padded(graph, ones, inside, 0), inside, addition);
  return {graph.apply(quotient, sum, count)};
}

Outputs lp_pool(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  const Integers image = image_of(graph.shape(x));
  const Windows windows = windows_of(arguments, image, arguments.integer_list("kernel_shape", {}));
  const auto order = static_cast<float>(arguments.integer("p", 2));
  const int powers = graph.apply(power, graph.apply(absolute, x), order);
  const int sum = over_taps(graph, padded(graph, powers, windows, 0), windows, addition);
  return {graph.apply(power, sum, 1 / order)};
}

}  // namespace

OperatorTable pooling_operators() {
  return {{"AveragePool", average_pool}, {"LpPool", lp_pool}, {"MaxPool", max_pool}};
}

}  // namespace parbench::onnx_import
