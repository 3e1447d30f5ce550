// Element-wise operators.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <type_traits>

#include "scenarios/models/layers/elementwise.h"
#include "scenarios/models/onnx/exchanged.h"
#include "scenarios/models/onnx/general/indexing.h"
#include "scenarios/models/onnx/reading/numbers.h"
#include "scenarios/models/onnx/translator.h"

namespace parbench::onnx_import {
namespace {

using enum ElementOp;

// --- formulas ---

Term positive(Term x) { return x.max(0.0F); }
Term same(Term x) { return x; }

Term truncated(Term x) {
  const Term size = x.abs().floor();
  return x.sign() * size;
}

/// Returns log(1 + exp(x)) = max(x, 0) + log(1 + exp(−|x|)).
Term softplus(Term x) {
  const Term small = (-x.abs()).exp();
  const Term logarithm_of = (small + 1.0F).log();
  return positive(x) + logarithm_of;
}

/// Returns x where it is positive, otherwise `other`.
Term positive_or(Term x, Term other) { return x.greater(0.0F).choose(x, other); }

/// Returns x if positive, else factor·(exp(scaled) − 1). The exponent is clipped, because elements
/// that are not selected must be finite to have a gradient.
Term elu(Term x, Term scaled, float factor) {
  return positive_or(x, (scaled.min(0.0F).exp() - 1.0F) * factor);
}

Term inverted(Term condition) { return condition.equal(condition.filled(0)); }
Term is_nan(Term x) { return inverted(x.equal(x)); }

/// Return 1 where at least one, both, or exactly one of two conditions holds, respectively.
Term either(Term a, Term b) { return a.max(b); }
Term both(Term a, Term b) { return a * b; }
Term exclusive(Term a, Term b) { return (a - b).abs(); }

Term is_less(Term a, Term b) { return a.less(b); }
Term is_greater(Term a, Term b) { return b.less(a); }
Term is_equal(Term a, Term b) { return a.equal(b); }
Term is_less_or_equal(Term a, Term b) { return either(a.less(b), a.equal(b)); }
Term is_greater_or_equal(Term a, Term b) { return either(b.less(a), a.equal(b)); }

/// Hyperbolic functions and the tangent, by exponentials, logarithms and quotients.
Term sinh(Term x) {
  const Term grows = x.exp();
  return (grows - grows.inverse()) * 0.5F;
}
Term cosh(Term x) {
  const Term grows = x.exp();
  return (grows + grows.inverse()) * 0.5F;
}
Term tangent(Term x) {
  const Term of_sine = x.apply(sine);
  return of_sine / x.apply(cosine);
}
Term asinh(Term x) {  // sign·log(|x| + sqrt(x² + 1))
  const Term root = (x * x + 1.0F).sqrt();
  const Term sum = x.abs() + root;
  return x.sign() * sum.log();
}
Term acosh(Term x) { return (x + (x * x - 1.0F).sqrt()).log(); }
Term atanh(Term x) {
  const Term above = x + 1.0F;
  return (above / (1.0F - x)).log() * 0.5F;
}

/// Returns x/(1 + sqrt(1 + sign·x²)): the tangent of half an angle whose tangent (sign 1) or sine
/// (sign −1) is x.
Term of_half_angle(Term x, float sign) { return x / ((x * x * sign + 1.0F).sqrt() + 1.0F); }
/// Returns the arctangent, by a series for an eighth of the angle.
Term arctangent(Term x) {
  for (int i = 0; i < 3; ++i) x = of_half_angle(x, 1);
  const Term square = x * x;
  Term series = x.filled(1.0F / 9);
  for (const float odd : {7.0F, 5.0F, 3.0F, 1.0F}) series = 1 / odd - series * square;
  return x * series * 8.0F;
}
Term arcsine(Term x) { return arctangent(of_half_angle(x, -1)) * 2.0F; }
Term arccosine(Term x) { return std::numbers::pi_v<float> / 2 - arcsine(x); }

Term softsign(Term x) { return x / (x.abs() + 1.0F); }
Term mish(Term x) { return x * softplus(x).tanh(); }
Term hard_swish(Term x) { return x * (x * (1.0F / 6) + 0.5F).clipped(0, 1); }

// --- formulas with attributes ---

Term leaky_relu(Term x, const Arguments& of) { return positive_or(x, x * of.real("alpha", 0.01)); }
Term elu_of(Term x, const Arguments& of) { return elu(x, x, of.real("alpha", 1)); }

Term celu(Term x, const Arguments& of) {
  const float alpha = of.real("alpha", 1);
  return elu(x, x * (1 / alpha), alpha);
}

Term selu(Term x, const Arguments& of) {
  const Term inner = elu(x, x, of.real("alpha", 1.67326319217681884765625));
  return inner * of.real("gamma", 1.05070102214813232421875);
}

Term thresholded_relu(Term x, const Arguments& of) {
  return x.greater(of.real("alpha", 1)).choose(x, 0.0F);
}

Term shrink(Term x, const Arguments& of) {
  const float bias = of.real("bias", 0);
  const float limit = of.real("lambd", 0.5);
  const Term is_low = x.less(-limit);
  const Term shrunk = x.greater(limit).choose(x - bias, 0.0F);
  return is_low.choose(x + bias, shrunk);
}

Term hard_sigmoid(Term x, const Arguments& of) {
  return (x * of.real("alpha", 0.2) + of.real("beta", 0.5)).clipped(0, 1);
}

Term gelu(Term x, bool by_tanh) {
  Term inner = x;
  if (by_tanh) {
    constexpr float cubic = 0.044715F;
    const float factor = std::sqrt(2 * std::numbers::inv_pi_v<float>);
    inner = ((x + x * x * x * cubic) * factor).tanh();
  } else {
    inner = (x * (std::numbers::sqrt2_v<float> / 2)).apply(error_function);
  }
  return x * 0.5F * (inner + 1.0F);
}

Term gelu_of(Term x, const Arguments& of) {
  return gelu(x, of.text("approximate", "none") == "tanh");
}

Term swish(Term x, const Arguments& of) { return x * sigmoid(x * of.real("alpha", 1)); }
Term quick_gelu(Term x, const Arguments& of) { return x * sigmoid(x * of.real("alpha", 1.702)); }

Term is_infinite(Term x, const Arguments& of) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const Term high = x.equal(infinity);
  const Term low = x.equal(-infinity);
  const bool finds_low = of.flag("detect_negative", true);
  const bool finds_high = of.flag("detect_positive", true);
  if (finds_low && finds_high) return either(high, low);
  if (finds_low) return low;
  return finds_high ? high : x.filled(0);
}

// --- operators of one tensor ---

template <ElementOp op>
Outputs unary(Arguments& arguments) {
  return {arguments.operand(0).apply(op)};
}

/// Applies a formula of one or two tensors, or of one tensor and the attributes of the node.
template <auto formula>
Outputs formula_of(Arguments& arguments) {
  const Term x = arguments.operand(0);
  if constexpr (std::is_invocable_v<decltype(formula), Term>) {
    return {formula(x)};
  } else if constexpr (std::is_invocable_v<decltype(formula), Term, Term>) {
    return {formula(x, arguments.operand(1))};
  } else {
    return {formula(x, arguments)};
  }
}

/// Computes a GELU of onnxruntime, which may add a bias first.
template <bool by_tanh>
Outputs biased_gelu(Arguments& arguments) {
  return {gelu(arguments.plus(arguments.operand(0), 1), by_tanh)};
}

/// Computes a condition: 1 where it holds, otherwise 0.
template <auto formula>
Outputs logical(Arguments& arguments) {
  arguments.set_type(ElementType::boolean);
  return formula_of<formula>(arguments);
}

/// Before operator set 11, limits are attributes.
Outputs clip(Arguments& arguments) {
  Term x = arguments.operand(0);
  if (arguments.has_attribute("min")) x = x.max(arguments.real("min", 0));
  if (arguments.has_attribute("max")) x = x.min(arguments.real("max", 0));
  if (arguments.has(1)) x = x.max(arguments.operand(1));
  if (arguments.has(2)) x = x.min(arguments.operand(2));
  return {x};
}

/// Converts elements: floating-point numbers are truncated to integers; booleans are 0 or 1.
Outputs converted(Arguments& arguments, ElementType to, std::optional<IntegerRange> range) {
  const Term x = arguments.operand(0);
  const ElementType from = arguments.type(0);
  arguments.set_type(to, range);
  if (to == ElementType::boolean && from != to) return {inverted(inverted(x))};
  const bool truncates = to == ElementType::integer && from == ElementType::floating;
  return {truncates ? truncated(x) : x};
}

Outputs cast(Arguments& arguments) {
  constexpr int uint32 = 12;  // supported for results, but not for constants
  constexpr int uint64 = 13;
  const auto to = static_cast<int>(arguments.integer("to", 1));
  refuse_if(!is_number(to) && to != uint32 && to != uint64,
            fmt::format("results of the type {} are not supported", name_of_type(to)));
  return converted(arguments, element_type(to), range_of_type(to));
}

Outputs cast_like(Arguments& arguments) {
  return converted(arguments, arguments.type(1), arguments.range(1));
}

// --- operators of several tensors ---

template <ElementOp op>
Outputs binary(Arguments& arguments) {
  arguments.check_count(2);
  const Term a = arguments.operand(0);
  return {a.apply(op, arguments.operand(1))};
}

Term parametric_relu(Term x, Term slope) { return positive_or(x, x * slope); }

Outputs division(Arguments& arguments) {
  const Term a = arguments.operand(0);
  const Term result = a / arguments.operand(1);
  return {arguments.type(0) == ElementType::integer ? truncated(result) : result};
}

/// Returns a remainder with the sign of the dividend (`fmod`) or of the divisor.
Outputs modulo(Arguments& arguments) {
  const Term a = arguments.operand(0);
  const Term b = arguments.operand(1);
  const Term rest = a.apply(remainder, b);
  return {arguments.flag("fmod", false) ? rest : (rest + b).apply(remainder, b)};
}

template <ElementOp op>
Outputs of_all(Arguments& arguments) {
  Term result = arguments.operand(0);
  for (std::size_t which = 1; which < arguments.count(); ++which) {
    result = result.apply(op, arguments.operand(which));
  }
  return {result};
}

Outputs mean_of_all(Arguments& arguments) {
  const int sum = of_all<addition>(arguments).front();
  const auto share = 1 / static_cast<float>(arguments.count());
  return {arguments.graph().apply(product, sum, share)};
}

Outputs where(Arguments& arguments) {
  arguments.check_count(3);
  const Term condition = arguments.operand(0);
  const Term chosen = arguments.operand(1);
  arguments.set_type_of(1);
  return {condition.choose(chosen, arguments.operand(2))};
}

/// Drops elements as in training, even in a file for inference. Tensors with a single dimension, or
/// without a dimension for the samples alone, are unchanged.
Outputs dropout(Arguments& arguments) {
  const double probability = arguments.number("ratio", 1, 0.5);
  const bool is_share = probability >= 0 && probability < 1;  // false for NaN
  refuse_if(!is_share, "its ratio is not between 0 and 1");
  const Term x = arguments.operand(0);
  const Extents shape = x.shape();
  const bool has_samples = std::ranges::find(shape, Extent{1, true}) != shape.end();
  if (probability == 0 || shape.size() < 2 || !has_samples) return {x};
  const Exchanged tensor(shape);
  const std::uint64_t subsequence = arguments.translator().next_subsequence();
  return {tensor.from_front(arguments.add_layer(
      std::make_shared<const RandomDropout>(static_cast<float>(probability), subsequence),
      {tensor.to_front(x)}))};
}

// --- quantised files ---

/// Returns a scale or zero point, a single number or one element per index of an axis, in a shape
/// for broadcasting.
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

/// Returns the range of the results of a quantisation: that of the type of the zero point or,
/// without one, of the type that the attribute output_dtype names. If that is 0 or omitted, the
/// type is uint8.
IntegerRange quantised_range(const Arguments& arguments) {
  constexpr int uint8 = 2;
  const auto named = static_cast<int>(arguments.integer("output_dtype", 0));
  const auto range =
      arguments.has(2) ? arguments.range(2) : range_of_type(named == 0 ? uint8 : named);
  if (range) return *range;
  const std::string found =
      !arguments.has(2) ? fmt::format("its output_dtype is {}", name_of_type(named))
      : arguments.type(2) == ElementType::integer ? "its zero point has another type of integers"
                                                  : "its zero point has no integers";
  throw CannotTranslate(fmt::format("results must be int8, uint8, int16 or uint16, and {}", found));
}

/// Results stay floating-point. The forward pass rounds them: x + (rounded − x). The difference has
/// no gradient, so the backward pass treats rounding as the identity (straight-through estimator).
Outputs quantise(Arguments& arguments) {
  const Term x = arguments.operand(0);
  const Term scaled = x / along_axis(arguments, 1);
  const IntegerRange range = quantised_range(arguments);
  Term rounded = scaled + (scaled.round() - scaled).detached();
  if (arguments.has(2)) rounded = rounded + along_axis(arguments, 2);
  arguments.set_type(ElementType::integer, range);
  return {rounded.clipped(range.low, range.high)};
}

}  // namespace

Term sigmoid(Term x) { return (x * 0.5F).tanh() * 0.5F + 0.5F; }

OperatorTable element_operators() {
  return {{"Abs", unary<absolute>},
          {"Acos", formula_of<arccosine>},
          {"Acosh", formula_of<acosh>},
          {"Add", binary<addition>},
          {"And", logical<both>},
          {"Asin", formula_of<arcsine>},
          {"Asinh", formula_of<asinh>},
          {"Atan", formula_of<arctangent>},
          {"Atanh", formula_of<atanh>},
          {"Cast", cast},
          {"CastLike", cast_like},
          {"Ceil", unary<ceiling>},
          {"Celu", formula_of<celu>},
          {"Clip", clip},
          {"Cos", unary<cosine>},
          {"Cosh", formula_of<cosh>},
          {"DequantizeLinear", dequantise},
          {"Div", division},
          {"Dropout", dropout},
          {"Elu", formula_of<elu_of>},
          {"Equal", logical<is_equal>},
          {"Erf", unary<error_function>},
          {"Exp", unary<exponential>},
          {"Floor", unary<ElementOp::floor>},
          {"Gelu", formula_of<gelu_of>},
          {"Greater", logical<is_greater>},
          {"GreaterOrEqual", logical<is_greater_or_equal>},
          {"HardSigmoid", formula_of<hard_sigmoid>},
          {"HardSwish", formula_of<hard_swish>},
          {"Identity", formula_of<same>},
          {"IsInf", logical<is_infinite>},
          {"IsNaN", logical<is_nan>},
          {"LeakyRelu", formula_of<leaky_relu>},
          {"Less", logical<is_less>},
          {"LessOrEqual", logical<is_less_or_equal>},
          {"Log", unary<logarithm>},
          {"Max", of_all<maximum>},
          {"Mean", mean_of_all},
          {"Min", of_all<minimum>},
          {"Mish", formula_of<mish>},
          {"Mod", modulo},
          {"Mul", binary<product>},
          {"Neg", unary<negation>},
          {"Not", logical<inverted>},
          {"Or", logical<either>},
          {"PRelu", formula_of<parametric_relu>},
          {"Pow", binary<power>},
          {"QuantizeLinear", quantise},
          {"Reciprocal", unary<reciprocal>},
          {"Relu", formula_of<positive>},
          {"Round", unary<rounding>},
          {"Selu", formula_of<selu>},
          {"Shrink", formula_of<shrink>},
          {"Sigmoid", formula_of<sigmoid>},
          {"Sign", unary<sign>},
          {"Sin", unary<sine>},
          {"Sinh", formula_of<sinh>},
          {"Softplus", formula_of<softplus>},
          {"Softsign", formula_of<softsign>},
          {"Sqrt", unary<square_root>},
          {"Sub", binary<difference>},
          {"Sum", of_all<addition>},
          {"Swish", formula_of<swish>},
          {"Tan", formula_of<tangent>},
          {"Tanh", unary<tanh>},
          {"ThresholdedRelu", formula_of<thresholded_relu>},
          {"Where", where},
          {"Xor", logical<exclusive>},
          {"com.microsoft.BiasGelu", biased_gelu<false>},
          {"com.microsoft.FastGelu", biased_gelu<true>},
          {"com.microsoft.Gelu", biased_gelu<false>},
          {"com.microsoft.QuickGelu", formula_of<quick_gelu>}};
}

}  // namespace parbench::onnx_import
