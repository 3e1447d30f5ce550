// Operators of quantised files. Numbers stay floating-point: the forward pass rounds them, and the
// backward pass takes the rounding for the identity ("straight through").
#include "scenarios/models/onnx/translator.h"

namespace parbench::onnx_import {
namespace {

using general::Extents;
using general::Graph;
using enum ElementOp;

/// Returns a scale or zero point, a number or one element per index of an axis, for broadcasting.
int along_axis(Arguments& arguments, std::size_t which, std::size_t rank) {
  Graph& graph = arguments.graph();
  const int values = arguments.operand(which);
  if (general::count_of(graph.shape(values)).is_one()) return graph.reshape(values, {});
  Extents shape(rank);
  shape[general::dimension_of(arguments.integer("axis", 1), rank)] =
      general::count_of(graph.shape(values));
  return graph.reshape(values, std::move(shape));
}

Outputs dequantise(Arguments& arguments) {
  Graph& graph = arguments.graph();
  int x = arguments.operand(0);
  const std::size_t rank = graph.shape(x).size();
  if (arguments.has(2)) x = graph.apply(difference, x, along_axis(arguments, 2, rank));
  arguments.set_type(ElementType::floating);
  return {graph.apply(product, x, along_axis(arguments, 1, rank))};
}

/// Computes x + (rounded − x), where the difference has no gradient.
Outputs quantise(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  const std::size_t rank = graph.shape(x).size();
  const int scaled = graph.apply(quotient, x, along_axis(arguments, 1, rank));
  const bool is_signed =
      arguments.has(2) && !arguments.translator().is_unsigned(arguments.node().inputs[2]);
  const int step = graph.apply(difference, graph.apply(rounding, scaled), scaled);
  int rounded = graph.apply(addition, scaled, graph.detach(step));
  if (arguments.has(2)) rounded = graph.apply(addition, rounded, along_axis(arguments, 2, rank));
  const float low = is_signed ? -128 : 0;
  const float high = is_signed ? 127 : 255;
  arguments.set_type(ElementType::integer);
  return {graph.apply(minimum, graph.apply(maximum, rounded, low), high)};
}

}  // namespace

OperatorTable quantising_operators() {
  return {{"DequantizeLinear", dequantise}, {"QuantizeLinear", quantise}};
}

}  // namespace parbench::onnx_import
