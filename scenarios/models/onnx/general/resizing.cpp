// Operators that change the size of images. Each dimension is resized separately, by selecting
// elements or by a product with an interpolation matrix; or blocks of channels are moved.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "scenarios/models/onnx/general/indexing.h"
#include "scenarios/models/onnx/translator.h"

namespace parbench::onnx_import {
namespace {

/// Resizing of one dimension from the extent `from` to the extent `to`.
struct Resizing {
  std::int64_t from = 1;
  std::int64_t to = 1;
  double scale = 1;
  double roi_start = 0;
  double roi_end = 1;
};

struct Mode {
  std::string interpolation = "nearest";
  std::string coordinates = "half_pixel";
  std::string rounding = "round_prefer_floor";
  double cubic = -0.75;
  bool excludes_outside = false;
  bool antialias = false;
};

/// Converts a rounded value to an integer. Throws CannotTranslate unless it is between ±2^53.
std::int64_t whole(double value) {
  constexpr double max = 9007199254740992.0;  // 2^53
  refuse_if(!(std::abs(value) < max), "its scales or its region are too large");
  return static_cast<std::int64_t>(value);
}

/// Returns the position in the input that corresponds to a position of the output.
double position_in_input(const Resizing& one, const Mode& mode, std::int64_t position) {
  const auto x = static_cast<double>(position);
  const auto from = static_cast<double>(one.from);
  const auto to = static_cast<double>(one.to);
  if (mode.coordinates == "asymmetric") return x / one.scale;
  if (mode.coordinates == "align_corners") return one.to == 1 ? 0 : x * (from - 1) / (to - 1);
  if (mode.coordinates == "pytorch_half_pixel") return one.to > 1 ? (x + 0.5) / one.scale - 0.5 : 0;
  if (mode.coordinates == "half_pixel") return (x + 0.5) / one.scale - 0.5;
  if (mode.coordinates == "tf_half_pixel_for_nn") return (x + 0.5) / one.scale;
  if (mode.coordinates == "half_pixel_symmetric") {
    const double adjustment = to / (one.scale * from);
    return from / 2 * (1 - adjustment) + (x + 0.5) / one.scale - 0.5;
  }
  if (mode.coordinates == "tf_crop_and_resize") {
    return one.to == 1 ? 0.5 * (one.roi_start + one.roi_end) * (from - 1)
                       : one.roi_start * (from - 1) +
                             x * (one.roi_end - one.roi_start) * (from - 1) / (to - 1);
  }
  throw CannotTranslate("its coordinates are " + mode.coordinates);
}

/// Like position_in_input. Throws CannotTranslate for a position outside of the image that `mode`
/// extrapolates.
double read_position(const Resizing& one, const Mode& mode, std::int64_t position) {
  const double found = position_in_input(one, mode, position);
  const bool is_inside = found >= 0 && found <= static_cast<double>(one.from - 1);
  refuse_if(mode.coordinates == "tf_crop_and_resize" && !is_inside, "it extrapolates");
  return found;
}

std::int64_t nearest(double position, const std::string& rounding) {
  if (rounding == "floor") return whole(std::floor(position));
  if (rounding == "ceil") return whole(std::ceil(position));
  if (rounding == "round_prefer_ceil") return whole(std::floor(position + 0.5));
  return whole(std::ceil(position - 0.5));
}

/// Returns the weight of an element in an interpolation, by its distance.
double weight_at(double distance, const Mode& mode) {
  const double d = std::abs(distance);
  if (mode.interpolation == "linear") return std::max(0.0, 1 - d);
  const double a = mode.cubic;
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

/// Returns a matrix {from, to}: the weights of all elements of the input for each element of the
/// output.
std::vector<double> interpolation(const Resizing& one, const Mode& mode) {
  const double wide = mode.antialias && one.scale < 1 ? 1 / one.scale : 1;
  const double support = (mode.interpolation == "linear" ? 1 : 2) * wide;
  std::vector<double> matrix(static_cast<std::size_t>(one.from * one.to), 0);
  for (std::int64_t to = 0; to < one.to; ++to) {
    const double position = read_position(one, mode, to);
    double sum = 0;
    const auto first = whole(std::ceil(position - support));
    const auto last = whole(std::floor(position + support));
    std::vector<std::pair<std::int64_t, double>> weights;
    for (std::int64_t from = first; from <= last; ++from) {
      const bool outside = from < 0 || from >= one.from;
      if (outside && (mode.excludes_outside || mode.antialias)) continue;
      const double weight = weight_at((static_cast<double>(from) - position) / wide, mode);
      weights.emplace_back(std::clamp(from, std::int64_t{0}, one.from - 1), weight);
      sum += weight;
    }
    for (const auto& [from, weight] : weights) {
      matrix[static_cast<std::size_t>(from * one.to + to)] += weight / sum;
    }
  }
  return matrix;
}

/// Returns whether indices select each of `from` elements equally often, in order.
bool is_repetition(const Integers& indices, std::int64_t from) {
  const auto count = static_cast<std::int64_t>(indices.size());
  if (count % from != 0) return false;
  for (std::int64_t i = 0; i < count; ++i) {
    if (indices[static_cast<std::size_t>(i)] != i / (count / from)) return false;
  }
  return true;
}

Term resized(Term x, std::size_t axis, const Resizing& one, const Mode& mode) {
  refuse_if(one.to < 1, "its result has no elements");
  constexpr std::int64_t max_side = 1 << 16;
  refuse_if(one.to > std::min(max_side, max_extent / one.from),
            "its result is larger than any image");
  if (mode.interpolation == "nearest") {
    Integers indices;
    for (std::int64_t to = 0; to < one.to; ++to) {
      const std::int64_t position = nearest(read_position(one, mode, to), mode.rounding);
      indices.push_back(std::clamp(position, std::int64_t{0}, one.from - 1));
    }
    return is_repetition(indices, one.from) ? repeated(x, axis, one.to / one.from)
                                            : taken(x, axis, indices);
  }
  const Term matrix{x.graph, x.graph->constant({one.from, one.to}, interpolation(one, mode))};
  const std::size_t last = x.rank() - 1;
  return x.move_axis(axis, last).multiply(matrix).move_axis(last, axis);
}

/// Returns the resizing of each axis, by `sizes` or, without them, `scales`. `policy`:
/// keep_aspect_ratio_policy.
std::vector<Resizing> resizings(const Extents& shape, const Integers& axes,
                                const std::vector<double>& scales, const Integers& sizes,
                                const std::string& policy) {
  std::vector<Resizing> all;
  double common = 0;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    Resizing one{.from = shape[general::dimension_of(axes[i], shape.size())].size};
    const auto from = static_cast<double>(one.from);
    one.scale = sizes.empty() ? scales.at(i) : static_cast<double>(sizes.at(i)) / from;
    one.to = sizes.empty() ? whole(std::floor(from * one.scale)) : sizes[i];
    const bool is_first = all.empty();
    if (policy == "not_larger") common = is_first ? one.scale : std::min(common, one.scale);
    if (policy == "not_smaller") common = is_first ? one.scale : std::max(common, one.scale);
    all.push_back(one);
  }
  for (Resizing& one : all) {
    if (common == 0) continue;
    one.scale = common;
    one.to = whole(std::floor(common * static_cast<double>(one.from) + 0.5));
  }
  return all;
}

/// Translates Resize, and its predecessor Upsample, which has fewer attributes.
Outputs resize(Arguments& arguments) {
  Term x = arguments.operand(0);
  const Extents shape = x.shape();
  const bool is_old = arguments.translator().opset() < 11 || arguments.node().op == "Upsample";
  const Mode mode{
      .interpolation = arguments.text("mode", "nearest"),
      .coordinates =
          arguments.text("coordinate_transformation_mode", is_old ? "asymmetric" : "half_pixel"),
      .rounding = arguments.text("nearest_mode", is_old ? "floor" : "round_prefer_floor"),
      .cubic = arguments.attribute("cubic_coeff_a", -0.75),
      .excludes_outside = arguments.flag("exclude_outside", false),
      .antialias = arguments.flag("antialias", false)};
  const Integers axes = arguments.integer_list("axes", general::axes_between(0, shape.size()));
  const std::size_t scales_at = is_old ? 1 : 2;
  std::vector<double> scales = arguments.numbers(scales_at);
  Integers sizes = arguments.integers(3);
  refuse_if(sizes.empty() && scales.size() != axes.size(), "its scales are not one a dimension");
  for (std::int64_t& size : sizes) size = size % samples_prime == 0 ? size / samples_prime : size;
  std::vector<Resizing> all =
      resizings(shape, axes, scales, sizes, arguments.text("keep_aspect_ratio_policy", "stretch"));
  if (mode.coordinates == "tf_crop_and_resize") {
    const std::vector<double> roi = arguments.numbers(1);
    for (std::size_t i = 0; i < all.size() && roi.size() == 2 * all.size(); ++i) {
      all[i].roi_start = roi[i];
      all[i].roi_end = roi[all.size() + i];
    }
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t axis = general::dimension_of(axes[i], shape.size());
    const bool stays =
        all[i].to == all[i].from && all[i].scale == 1 && mode.coordinates != "tf_crop_and_resize";
    if (stays) continue;
    if (shape[axis].samples) {
      const std::int64_t samples = arguments.translator().samples_of_file();
      if (arguments.has(3) && all[i].to == all[i].from * samples) continue;
      throw CannotTranslate("it changes the number of samples");
    }
    x = resized(x, axis, all[i], mode);
  }
  return {x};
}

// --- blocks of pixels ---

/// Returns the side of blocks in images {N, C, H, W}.
std::int64_t block_of(const Arguments& arguments, const Extents& image) {
  const std::int64_t block = arguments.integer("blocksize", 1);
  refuse_if(block < 1, fmt::format("its blocksize is {}", block));
  refuse_if(image.size() != 4, "its input has no four dimensions");
  return block;
}

/// Moves blocks of channels to pixels.
Outputs depth_to_space(Arguments& arguments) {
  const Term x = arguments.operand(0);
  const Extents from = x.shape();
  const std::int64_t block = block_of(arguments, from);
  const Extent channels{.size = from[1].size / (block * block)};
  const bool columns_first = arguments.text("mode", "DCR") == "CRD";
  const Extents divided = columns_first
                              ? Extents{from[0], channels, {block}, {block}, from[2], from[3]}
                              : Extents{from[0], {block}, {block}, channels, from[2], from[3]};
  const Integers order = columns_first ? Integers{0, 1, 4, 2, 5, 3} : Integers{0, 3, 4, 1, 5, 2};
  return {x.reshape(divided).permute(order).reshape(
      {from[0], channels, {from[2].size * block}, {from[3].size * block}})};
}

Outputs space_to_depth(Arguments& arguments) {
  const Term x = arguments.operand(0);
  const Extents from = x.shape();
  const std::int64_t block = block_of(arguments, from);
  const Extent rows{.size = from[2].size / block};
  const Extent columns{.size = from[3].size / block};
  const Term divided = x.reshape({from[0], from[1], rows, {block}, columns, {block}});
  return {divided.permute({0, 3, 5, 1, 2, 4})
              .reshape({from[0], {from[1].size * block * block}, rows, columns})};
}

}  // namespace

OperatorTable resizing_operators() {
  return {{"DepthToSpace", depth_to_space},
          {"Resize", resize},
          {"SpaceToDepth", space_to_depth},
          {"Upsample", resize}};
}

}  // namespace parbench::onnx_import
