// Which constant belongs to which dimension, and the layers that an operator becomes with it.
#include "scenarios/models/onnx/operators/arithmetic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "scenarios/models/layers/channel_bias.h"
#include "scenarios/models/layers/scaling.h"

namespace parbench::onnx_import {
namespace {

std::optional<double> number_of(const Constant& constant) {
  if (constant.scalar) return constant.scalar;
  return element_count(constant.shape) == 1 ? constant.filled : std::nullopt;
}

/// The only dimension of several positions, counted from the last one, which is 0.
std::optional<std::size_t> place_from_end(const Shape& shape) {
  std::optional<std::size_t> place;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    if (place) return std::nullopt;
    place = shape.size() - 1 - i;
  }
  return place;
}

/// Whether a dimension is that of the channels of an image, or of the columns of rows.
bool is_of_channels(const View& view, std::size_t dimension, const Shape& sample) {
  if (sample.size() == image_rank) return dimension == 1 && is_in_order(view, sample);
  return view.dimensions[dimension] == Dimension{{.extent = sample.back(), .stride = 1}};
}

void check_per_channel(const Constant& constant, const View& view, const Shape& sample) {
  const std::size_t rank = view.dimensions.size();
  const std::optional<std::size_t> place = place_from_end(constant.shape);
  if (place && constant.shape.size() <= rank && *place < rank) {
    const std::size_t dimension = rank - 1 - *place;
    const std::int64_t channels = element_count(constant.shape);
    if (channels == extent_of(view.dimensions[dimension]) &&
        is_of_channels(view, dimension, sample)) {
      return;
    }
  }
  throw CannotMap(fmt::format("its constant {} is neither a number nor one for each channel of {}",
                              to_string(constant.shape), to_string(sample)));
}

/// One operand is an activation, the other one a constant.
struct Operands {
  const Node& node;
  std::string activation;
  std::string name;  // of the constant
  const Constant& constant;
  bool constant_first;
};

/// Makes the output of the node a layer behind what it is so far, at first the activation.
template <class Kind>
void add_behind(Importer& importer, const Node& node, Kind kind, View& view,
                const std::string& weights = {}) {
  importer.add_elementwise(node, std::move(kind), view, weights);
  view = *importer.find_view(node.outputs.at(0));
}

float finite(double number) {
  const auto rounded = static_cast<float>(number);
  if (std::isfinite(rounded)) return rounded;
  throw CannotMap(fmt::format("it computes with {}, which f32 does not have", number));
}

void compute_with_number(Importer& importer, const Operands& of, View view, double number) {
  const std::string& op = of.node.op;
  Scaling line(1);
  if (op == "Mul") line = Scaling(finite(number));
  if (op == "Div") line = Scaling(finite(1 / number));
  if (op == "Add" || op == "Sum") line = Scaling(1, finite(number));
  if (op == "Sub") {
    line = of.constant_first ? Scaling(-1, finite(number)) : Scaling(1, finite(-number));
  }
  add_behind(importer, of.node, line, view);
}

void compute_with_channels(Importer& importer, const Operands& of, View view) {
  const std::string& op = of.node.op;
  ValueSource values{.pieces = pieces_of(of.constant)};
  if (op == "Mul" || op == "Div") {
    if (op == "Div") values.derived = Derived::inverse;
    add_behind(importer, of.node, ChannelScale(), view, of.name);
    return importer.keep_source("weights", std::move(values));
  }
  if (op == "Sub" && of.constant_first) add_behind(importer, of.node, Scaling(-1), view);
  if (op == "Sub" && !of.constant_first) values.derived = Derived::negated;
  add_behind(importer, of.node, ChannelBias(), view, of.name);
  importer.keep_source("bias", std::move(values));
}

}  // namespace

bool computes_with_constant(Importer& importer, const Node& node) {
  const NodeView inputs(importer, node);
  if (node.inputs.size() != 2) return false;
  const bool constant_first = inputs.constant(0) != nullptr;
  const std::size_t which = constant_first ? 0 : 1;
  if (inputs.constant(which) == nullptr || inputs.constant(1 - which) != nullptr) return false;
  const Operands of{.node = node,
                    .activation = inputs.input(1 - which),
                    .name = inputs.input(which),
                    .constant = inputs.weights(which, "constant"),
                    .constant_first = constant_first};
  if (node.op == "Div" && constant_first) throw CannotMap("it divides by an activation");
  const View view = importer.view(of.activation);
  if (of.constant.shape.size() > view.dimensions.size()) {
    throw CannotMap("its constant has more dimensions than its activation");
  }
  if (const std::optional<double> number = number_of(of.constant)) {
    compute_with_number(importer, of, view, *number);
    return true;
  }
  check_per_channel(of.constant, view, importer.shape_of(view.activation));
  compute_with_channels(importer, of, view);
  return true;
}

View scaled(Importer& importer, const Node& node, const View& view, double factor) {
  View result = view;
  if (factor != 1) add_behind(importer, node, Scaling(finite(factor)), result);
  return result;
}

}  // namespace parbench::onnx_import
