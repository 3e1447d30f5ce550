// Channels are taken by slices, rows and columns by padding with negative numbers.
#include "scenarios/models/onnx/operators/image_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "scenarios/models/layers/channels.h"
#include "scenarios/models/layers/padding.h"
#include "scenarios/models/onnx/constants.h"
#include "scenarios/models/onnx/operators/image_operators.h"

namespace parbench::onnx_import {
namespace {

/// {samples, channels, height, width}.
constexpr std::size_t rank = 4;
constexpr std::size_t channels = 1;

/// Positions of each dimension.
struct Part {
  std::array<std::int64_t, rank> first{};
  std::array<std::int64_t, rank> count{};
};

Part all_of(const Importer& importer, const Shape& image) {
  return {.first = {}, .count = {importer.samples_in_shapes(), image[0], image[1], image[2]}};
}

/// Adds the layers that a part of an image becomes; none for all of it.
int part_of_image(Importer& importer, const Node& node, int source, const Part& part) {
  const Shape image = importer.shape_of(source);
  const Part all = all_of(importer, image);
  for (std::size_t i = 0; i < rank; ++i) {
    if (part.count.at(i) < 1) throw CannotMap("it takes nothing");
    if (part.first.at(i) > all.count.at(i) - part.count.at(i) || part.first.at(i) < 0) {
      throw CannotMap("it takes more than there is");
    }
  }
  if (part.count[0] != all.count[0]) throw CannotMap("it divides the samples");
  int result = source;
  if (part.count[channels] != all.count[channels]) {
    result = importer.add(node, ChannelSlice(part.first[channels], part.count[channels]), {result});
  }
  return padded(importer, node, result,
                {.top = -part.first[2],
                 .left = -part.first[3],
                 .bottom = part.first[2] + part.count[2] - all.count[2],
                 .right = part.first[3] + part.count[3] - all.count[3]});
}

void set_image(Importer& importer, const std::string& name, int image) {
  importer.set_view(name,
                    whole_view(image, importer.shape_of(image), importer.samples_in_shapes()));
}

/// The edges that a Pad node names, by axis: `ends` has all starts, then all ends.
Edges edges_of(const std::vector<std::size_t>& axes, const std::vector<std::int64_t>& ends) {
  std::array<std::int64_t, 2 * rank> all{};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    all.at(axes[i]) = ends[i];
    all.at(rank + axes[i]) = ends[axes.size() + i];
  }
  if (all[0] != 0 || all[1] != 0 || all[rank] != 0 || all[rank + 1] != 0) {
    throw CannotMap("it pads samples or channels");
  }
  return {.top = all[2], .left = all[3], .bottom = all[rank + 2], .right = all[rank + 3]};
}

std::vector<std::size_t> axes_of_pad(const NodeView& view) {
  std::vector<std::size_t> axes;
  if (!view.has_input(3)) {
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), std::size_t{0});
    return axes;
  }
  for (const std::int64_t axis : view.integers("", 3)) axes.push_back(place_of(axis, rank));
  return axes;
}

}  // namespace

bool is_image(const Importer& importer, const std::string& name) {
  const View* view = importer.find_view(name);
  return view != nullptr && importer.shape_of(view->activation).size() == image_rank;
}

int padded(Importer& importer, const Node& node, int image, const Edges& edges) {
  return edges == Edges() ? image : importer.add(node, Padding(edges), {image});
}

void map_pad(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const std::string mode = view.attribute("mode", std::string("constant"));
  if (mode != "constant") throw CannotMap(fmt::format("its mode is {}, not constant", mode));
  if (view.scalar("value", 2, 0.0) != 0) throw CannotMap("it pads with another number than 0");
  const std::vector<std::int64_t> ends = view.integers("pads", 1);
  const View source = importer.view(view.input(0));
  if (std::ranges::all_of(ends, [](std::int64_t end) { return end == 0; })) {
    return importer.set_view(node.outputs.at(0), source);
  }
  const int image = view.activation(0);
  (void)image_shape(importer, image);
  const std::vector<std::size_t> axes = axes_of_pad(view);
  if (ends.size() != 2 * axes.size()) throw CannotMap("its pads are not two for each axis");
  importer.alias(node, padded(importer, node, image, edges_of(axes, ends)));
}

void split_image(Importer& importer, const Node& node, std::size_t axis,
                 const std::vector<std::int64_t>& sizes) {
  const int source = NodeView(importer, node).activation(0);
  Part part = all_of(importer, image_shape(importer, source));
  std::vector<int> parts;
  for (const std::int64_t size : sizes) {
    part.count.at(axis) = size;
    parts.push_back(part_of_image(importer, node, source, part));
    part.first.at(axis) += size;
  }
  for (std::size_t i = 0; i < parts.size(); ++i) set_image(importer, node.outputs[i], parts[i]);
}

void slice_image(Importer& importer, const Node& node) {
  const int source = NodeView(importer, node).activation(0);
  Part part = all_of(importer, image_shape(importer, source));
  const Shape shape(part.count.begin(), part.count.end());
  for (const Range& range : ranges_of(NodeView(importer, node), shape)) {
    part.first.at(range.axis) = range.first;
    part.count.at(range.axis) = range.count;
  }
  set_image(importer, node.outputs.at(0), part_of_image(importer, node, source, part));
}

}  // namespace parbench::onnx_import
