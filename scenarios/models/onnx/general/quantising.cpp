// Operators of quantised files. Numbers stay floating-point: the forward pass rounds them, and the
// backward pass takes the rounding for the identity ("straight through").
#include "scenarios/models/onnx/general/indexing.h"
#include "scenarios/models/onnx/translator.h"

namespace parbench::onnx_import {
namespace {

/// Returns a scale or zero point, a number or one element per index of an axis, for broadcasting.
Term along_axis(Arguments& arguments, std::size_t which) {
  const Term values = arguments.operand(which);
  if (general::count_of(values.shape()).is_one()) return values.reshape({});
  return along(values, arguments.axis(1), arguments.rank(0));
}

Outputs dequantise(Arguments& arguments) {
  Term x = arguments.operand(0);
  if (arguments.has(2)) x = x - along_axis(arguments, 2);
  arguments.set_type(ElementType::floating);
  return {x * along_axis(arguments, 1)};
}

/// Computes x + (rounded − x), where the difference has no gradient.
Outputs quantise(Arguments& arguments) {
  const Term x = arguments.operand(0);
  const Term scaled = x / along_axis(arguments, 1);
  const bool is_signed =
      arguments.has(2) && !arguments.translator().is_unsigned(arguments.node().inputs[2]);
  Term rounded = scaled + (scaled.round() - scaled).detached();
  if (arguments.has(2)) rounded = rounded + along_axis(arguments, 2);
  arguments.set_type(ElementType::integer);
  return {is_signed ? rounded.clipped(-128, 127) : rounded.clipped(0, 255)};
}

}  // namespace

OperatorTable quantising_operators() {
  return {{"DequantizeLinear", dequantise}, {"QuantizeLinear", quantise}};
}

}  // namespace parbench::onnx_import
