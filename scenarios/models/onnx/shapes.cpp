// Operators that change shapes: of sequences and rows they make views, of images layers.
#include "scenarios/models/onnx/shapes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "scenarios/models/layers/channels.h"
#include "scenarios/models/layers/flatten.h"
#include "scenarios/models/onnx/constants.h"
#include "scenarios/models/onnx/operators/image_operators.h"
#include "scenarios/models/onnx/operators/image_parts.h"

namespace parbench::onnx_import {
namespace {

using Places = std::vector<std::int64_t>;

void make_view(Importer& importer, const Node& node, View view) {
  importer.set_view(node.outputs.at(0), std::move(view));
}

/// A part of a sequence or of rows. Layers order the channels of images as their device likes.
const View& view_without_image(const Importer& importer, const std::string& name) {
  const View& found = importer.view(name);
  if (importer.shape_of(found.activation).size() == image_rank) {
    throw CannotMap("it takes a position of an image, or swaps its dimensions");
  }
  return found;
}

/// Rows of all values of a sample. A mean over an image is a row already.
void add_rows(Importer& importer, const Node& node, int source) {
  if (importer.shape_of(source).size() == 1) return importer.alias(node, source);
  importer.add(node, Flatten(), {source});
}

/// The transposition between two reshapes that shuffle channels, which a reshape to groups of
/// channels begins; null where it does not.
const Node* shuffling(const Importer& importer, const Node& reshape, const Places& shape) {
  constexpr std::size_t grouped_rank = 5;
  const Node* transpose = importer.only_reader(reshape);
  if (shape.size() != grouped_rank || transpose == nullptr || transpose->op != "Transpose") {
    return nullptr;
  }
  const Node* last = importer.only_reader(*transpose);
  if (last == nullptr || last->op != "Reshape") return nullptr;
  if (transpose->inputs.front() != reshape.outputs.front()) return nullptr;
  const NodeView view(importer, *transpose);
  return view.attribute("perm", Places()) == Places{0, 2, 1, 3, 4} ? transpose : nullptr;
}

/// Whether a shape is that of an image, or of its channels in groups, for the samples of the file.
bool is_image_of(const Importer& importer, Places shape, const Shape& image, bool grouped) {
  if (shape.empty() || (shape[0] != 0 && shape[0] != -1 && shape[0] != importer.samples())) {
    return false;
  }
  if (grouped && (shape[1] < 1 || shape[2] < 1 || shape[1] > image[0] || shape[2] > image[0])) {
    return false;
  }
  if (grouped) shape = {shape[0], shape[1] * shape[2], shape[3], shape[4]};
  return shape == Places{shape[0], image[0], image[1], image[2]};
}

/// The last of the nodes that shuffle channels makes the layer.
void add_shuffle(Importer& importer, const Node& node, const Node& transpose) {
  const Node& grouping = *importer.maker(transpose.inputs.at(0));
  const NodeView first(importer, grouping);
  const int source = first.activation(0);
  const Shape& image = importer.shape_of(source);
  if (!is_image_of(importer, NodeView(importer, node).integers("shape", 1), image, false)) {
    throw CannotMap("it does not make an image of shuffled channels again");
  }
  importer.add(node, ChannelShuffle(first.integers("shape", 1).at(1)), {source});
}

/// Of an image: to rows, or the first or last of the nodes that shuffle channels.
void reshape_image(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const int source = view.activation(0);
  const Places shape = view.integers("shape", 1);
  const Node* transpose = shuffling(importer, node, shape);
  if (transpose != nullptr && is_image_of(importer, shape, importer.shape_of(source), true)) {
    importer.absorb(node);
    return importer.absorb(*transpose);
  }
  const std::int64_t values = element_count(importer.shape_of(source));
  const bool keeps_samples =
      shape.size() == 2 && (shape[0] == 0 || shape[0] == -1 || shape[0] == importer.samples());
  if (!keeps_samples || (shape[1] != values && (shape[1] != -1 || shape[0] == -1))) {
    throw CannotMap(fmt::format("its shape ({}) is not that of samples of {} values",
                                fmt::join(shape, ", "), values));
  }
  add_rows(importer, node, source);
}

/// Whether a view is of rows of whole samples, each of several positions.
bool joins_positions(const View& view, const Shape& sample) {
  return view.dimensions.size() == 2 && sample.size() == 2 && sample[0] > 1 && sample[1] > 1 &&
         extent_of(view.dimensions[1]) == element_count(sample) && is_in_order(view, sample) &&
         view.scale == 1;
}

/// The positions that an index takes of a dimension, which it drops where it is no list.
void take_position(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const View& source = view_without_image(importer, view.input(0));
  const Constant& index = view.weights(1, "indices");
  if (index.integers.size() != 1) throw CannotMap("it takes other than one position");
  const std::size_t axis =
      place_of(view.attribute("axis", std::int64_t{0}), source.dimensions.size());
  const std::int64_t extent = extent_of(source.dimensions[axis]);
  const std::int64_t position = index.integers.front();
  View made = selected(source, axis, position < 0 ? position + extent : position, 1);
  if (index.shape.empty()) {
    if (!made.dimensions[axis].empty()) throw CannotMap("it takes one of the samples");
    made.dimensions.erase(made.dimensions.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  make_view(importer, node, std::move(made));
}

Places sizes_of_parts(const NodeView& view, std::int64_t extent, std::size_t parts) {
  if (view.has_attribute("split") || view.has_input(1)) return view.integers("split", 1);
  const auto count = static_cast<std::int64_t>(parts);
  if (extent % count != 0) throw CannotMap(fmt::format("{} parts do not divide {}", count, extent));
  return Places(parts, extent / count);
}

}  // namespace

void map_flatten(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  if (view.attribute("axis", std::int64_t{1}) != 1) throw CannotMap("its axis is not 1");
  add_rows(importer, node, view.activation(0));
}

void map_reshape(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const Node* from = importer.maker(view.input(0));
  if (from != nullptr && from->op == "Transpose" && importer.is_absorbed(*from)) {
    return add_shuffle(importer, node, *from);
  }
  const View& source = importer.view(view.input(0));
  const Shape& sample = importer.shape_of(source.activation);
  if (sample.size() == image_rank) return reshape_image(importer, node);
  const bool allows_zero = view.attribute("allowzero", std::int64_t{0}) != 0;
  View made = regrouped(source, view.integers("shape", 1), allows_zero);
  if (joins_positions(made, sample)) return add_rows(importer, node, made.activation);
  make_view(importer, node, std::move(made));
}

void map_transpose(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const View& source = view_without_image(importer, view.input(0));
  Places order;
  for (std::size_t i = source.dimensions.size(); i-- > 0;) {
    order.push_back(static_cast<std::int64_t>(i));
  }
  make_view(importer, node, transposed(source, view.attribute("perm", order)));
}

/// Behind a mean over an image all dimensions of one are there only in the file.
void map_squeeze(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const View& source = view_without_image(importer, view.input(0));
  if (importer.shape_of(source.activation).size() == 1 && source.dimensions.size() == 2) {
    return make_view(importer, node, source);
  }
  std::vector<bool> is_dropped(source.dimensions.size());
  const bool has_axes = view.has_attribute("axes") || view.has_input(1);
  if (has_axes) {
    for (const std::int64_t axis : view.integers("axes", 1)) {
      is_dropped.at(place_of(axis, source.dimensions.size())) = true;
    }
  }
  View made = source;
  made.dimensions.clear();
  for (std::size_t i = 0; i < source.dimensions.size(); ++i) {
    const bool is_one = source.dimensions[i].empty();
    if (is_dropped[i] && !is_one) throw CannotMap("it drops a dimension of several positions");
    if (!is_one || (has_axes && !is_dropped[i])) made.dimensions.push_back(source.dimensions[i]);
  }
  make_view(importer, node, std::move(made));
}

void map_unsqueeze(Importer& importer, const Node& node) {
  constexpr std::size_t max_rank = 8;
  const NodeView view(importer, node);
  View made = view_without_image(importer, view.input(0));
  Places axes = view.integers("axes", 1);
  const std::size_t rank = made.dimensions.size() + axes.size();
  if (rank > max_rank) throw CannotMap("it makes too many dimensions");
  for (std::int64_t& axis : axes) axis = static_cast<std::int64_t>(place_of(axis, rank));
  std::ranges::sort(axes);
  for (const std::int64_t axis : axes) {
    if (axis > std::ssize(made.dimensions)) throw CannotMap("its axes do not fit");
    made.dimensions.insert(made.dimensions.begin() + axis, Dimension());
  }
  make_view(importer, node, std::move(made));
}

void map_split(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  const View source = importer.view(view.input(0));
  const std::size_t axis =
      place_of(view.attribute("axis", std::int64_t{0}), source.dimensions.size());
  const Places sizes =
      sizes_of_parts(view, extent_of(source.dimensions[axis]), node.outputs.size());
  if (sizes.size() != node.outputs.size())
    throw CannotMap("its numbers of parts and outputs differ");
  if (is_image(importer, view.input(0))) return split_image(importer, node, axis, sizes);
  std::int64_t first = 0;
  for (std::size_t part = 0; part < sizes.size(); ++part) {
    View made = selected(source, axis, first, sizes[part]);
    first += sizes[part];
    importer.set_view(node.outputs[part], std::move(made));
  }
}

void map_slice(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  if (is_image(importer, view.input(0))) return slice_image(importer, node);
  View made = importer.view(view.input(0));
  for (const Range& range : ranges_of(view, shape_of(made))) {
    made = selected(made, range.axis, range.first, range.count);
  }
  make_view(importer, node, std::move(made));
}

void map_gather(Importer& importer, const Node& node) {
  const NodeView view(importer, node);
  if (view.constant(0) == nullptr) return take_position(importer, node);
  add_embedding(importer, node);
}

/// Between floating-point formats; the case decides on its own.
void map_cast(Importer& importer, const Node& node) {
  constexpr std::int64_t to_f32 = 1;
  const NodeView view(importer, node);
  const View source = importer.view(view.input(0));
  if (view.attribute("to", std::int64_t{0}) != to_f32) throw CannotMap("it is not to f32");
  make_view(importer, node, source);
}

}  // namespace parbench::onnx_import
