// Element-wise operators.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "scenarios/models/general/term.h"
#include "scenarios/models/layers/elementwise.h"
#include "scenarios/models/onnx/general/indexing.h"
#include "scenarios/models/onnx/translator.h"

namespace parbench::onnx_import {
namespace {

using general::Graph;
using general::Term;
using enum ElementOp;

Term term(Arguments& arguments, std::size_t which) {
  return {&arguments.graph(), arguments.operand(which)};
}

Outputs outputs_of(Term result) { return {result.operation}; }

// --- formulas ---

Term clipped(Term x, float low, float high) { return x.max(low).min(high); }

Term positive(Term x) { return x.max(0.0F); }

/// log(1 + exp(x)) = max(x, 0) + log(1 + exp(−|x|)).
Term softplus(Term x) {
  const Term small = (-x.abs()).exp();
  const Term logarithm_of = (small + 1.0F).log();
  return positive(x) + logarithm_of;
}

/// x where it is positive, else `other`.
Term positive_or(Term x, Term other) { return x.number(0).less(x).choose(x, other); }

/// factor·(exp(x) − 1) where x is negative. The exponent is clipped: what is not selected must be
/// finite, or its gradient is none.
Term elu(Term x, Term scaled, float factor) {
  return positive_or(x, (scaled.min(0.0F).exp() - 1.0F) * factor);
}

Term truncated(Term x) {
  const Term size = x.abs().floor();
  return x.sign() * size;
}

Term inverted(Term condition) { return condition.equal(condition.filled(0)); }

/// 1 where any or all of both hold.
Term either(Term a, Term b) { return a.max(b); }
Term both(Term a, Term b) { return a * b; }
Term exclusive(Term a, Term b) { return (a - b).abs(); }

/// sinh, cosh and others by exponentials and logarithms.
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

/// x/(1 + sqrt(1 + sign·x²)): the tangent of half the angle whose tangent (sine) is x for sign 1
/// (−1).
Term of_half_angle(Term x, float sign) { return x / ((x * x * sign + 1.0F).sqrt() + 1.0F); }
/// The angle, by a series for an eighth of it.
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
Term hard_swish(Term x) { return x * clipped(x * (1.0F / 6) + 0.5F, 0, 1); }
Term logistic(Term x) { return {x.graph, sigmoid(*x.graph, x.operation)}; }

// --- operators of one tensor ---

template <ElementOp op>
Outputs unary(Arguments& arguments) {
  return outputs_of(term(arguments, 0).apply(op));
}

template <Term (*formula)(Term)>
Outputs formula_of_one(Arguments& arguments) {
  return outputs_of(formula(term(arguments, 0)));
}

float attribute(const Arguments& arguments, std::string_view name, double fallback) {
  return static_cast<float>(arguments.attribute(name, fallback));
}

Outputs leaky_relu(Arguments& arguments) {
  const Term x = term(arguments, 0);
  return outputs_of(positive_or(x, x * attribute(arguments, "alpha", 0.01)));
}

Outputs parametric_relu(Arguments& arguments) {
  const Term x = term(arguments, 0);
  return outputs_of(positive_or(x, x * term(arguments, 1)));
}

Outputs elu_operator(Arguments& arguments) {
  const Term x = term(arguments, 0);
  return outputs_of(elu(x, x, attribute(arguments, "alpha", 1)));
}

Outputs celu(Arguments& arguments) {
  const float alpha = attribute(arguments, "alpha", 1);
  const Term x = term(arguments, 0);
  return outputs_of(elu(x, x * (1 / alpha), alpha));
}

Outputs selu(Arguments& arguments) {
  const Term x = term(arguments, 0);
  const Term inner = elu(x, x, attribute(arguments, "alpha", 1.67326319217681884765625));
  return outputs_of(inner * attribute(arguments, "gamma", 1.05070102214813232421875));
}

Outputs thresholded_relu(Arguments& arguments) {
  const Term x = term(arguments, 0);
  const Term above = x.number(attribute(arguments, "alpha", 1)).less(x);
  return outputs_of(above.choose(x, x.number(0)));
}

Outputs shrink(Arguments& arguments) {
  const Term x = term(arguments, 0);
  const float bias = attribute(arguments, "bias", 0);
  const float limit = attribute(arguments, "lambd", 0.5);
  const Term is_low = x.less(-limit);
  const Term is_high = x.number(limit).less(x);
  const Term shrunk = is_high.choose(x - bias, x.number(0));
  return outputs_of(is_low.choose(x + bias, shrunk));
}

Outputs hard_sigmoid(Arguments& arguments) {
  const Term scaled = term(arguments, 0) * attribute(arguments, "alpha", 0.2);
  return outputs_of(clipped(scaled + attribute(arguments, "beta", 0.5), 0, 1));
}

Outputs gelu_operator(Arguments& arguments) {
  const bool by_tanh = arguments.attribute("approximate", std::string("none")) == "tanh";
  return {gelu(arguments.graph(), arguments.operand(0), by_tanh)};
}

Outputs swish(Arguments& arguments) {
  const Term x = term(arguments, 0);
  return outputs_of(x * logistic(x * attribute(arguments, "alpha", 1)));
}

/// Before operator set 11, limits are attributes.
Outputs clip(Arguments& arguments) {
  Term x = term(arguments, 0);
  if (arguments.has_attribute("min")) x = x.max(attribute(arguments, "min", 0));
  if (arguments.has_attribute("max")) x = x.min(attribute(arguments, "max", 0));
  if (arguments.has(1)) x = x.max(term(arguments, 1));
  if (arguments.has(2)) x = x.min(term(arguments, 2));
  return outputs_of(x);
}

Outputs same(Arguments& arguments) { return {arguments.operand(0)}; }

/// The numbers as another type has them.
Outputs converted(Arguments& arguments, ElementType to) {
  const Term x = term(arguments, 0);
  const ElementType from = arguments.type(0);
  arguments.set_type(to);
  if (to == ElementType::boolean && from != to) return outputs_of(inverted(inverted(x)));
  const bool truncates = to == ElementType::integer && from == ElementType::floating;
  return outputs_of(truncates ? truncated(x) : x);
}

Outputs cast(Arguments& arguments) {
  constexpr std::int64_t boolean = 9;
  constexpr std::array<std::int64_t, 4> floating{1, 10, 11, 16};
  const std::int64_t to = arguments.integer("to", 1);
  if (to == boolean) return converted(arguments, ElementType::boolean);
  const bool is_floating = std::ranges::find(floating, to) != floating.end();
  return converted(arguments, is_floating ? ElementType::floating : ElementType::integer);
}

Outputs cast_like(Arguments& arguments) { return converted(arguments, arguments.type(1)); }

// --- operators of several tensors ---

template <ElementOp op>
Outputs binary(Arguments& arguments) {
  arguments.check_count(2);
  const Term a = term(arguments, 0);
  return outputs_of(a.apply(op, term(arguments, 1)));
}

Outputs division(Arguments& arguments) {
  const Term a = term(arguments, 0);
  const Term result = a / term(arguments, 1);
  return outputs_of(arguments.type(0) == ElementType::integer ? truncated(result) : result);
}

/// With `fmod` the remainder has the sign of the dividend, otherwise that of the divisor.
Outputs modulo(Arguments& arguments) {
  const Term a = term(arguments, 0);
  const Term b = term(arguments, 1);
  const Term rest = a.apply(remainder, b);
  return outputs_of(arguments.flag("fmod", false) ? rest : (rest + b).apply(remainder, b));
}

template <ElementOp op>
Outputs of_all(Arguments& arguments) {
  Term result = term(arguments, 0);
  for (std::size_t which = 1; which < arguments.count(); ++which) {
    result = result.apply(op, term(arguments, which));
  }
  return outputs_of(result);
}

Outputs mean_of_all(Arguments& arguments) {
  const int sum = of_all<addition>(arguments).front();
  const auto share = 1 / static_cast<float>(arguments.count());
  return {arguments.graph().apply(product, sum, share)};
}

Term is_less(Term a, Term b) { return a.less(b); }
Term is_greater(Term a, Term b) { return b.less(a); }
Term is_equal(Term a, Term b) { return a.equal(b); }
Term is_less_or_equal(Term a, Term b) { return either(a.less(b), a.equal(b)); }
Term is_greater_or_equal(Term a, Term b) { return either(b.less(a), a.equal(b)); }

/// What holds or does not.
template <Term (*formula)(Term, Term)>
Outputs logical(Arguments& arguments) {
  const Term a = term(arguments, 0);
  arguments.set_type(ElementType::boolean);
  return outputs_of(formula(a, term(arguments, 1)));
}

Outputs negated(Arguments& arguments) {
  arguments.set_type(ElementType::boolean);
  return outputs_of(inverted(term(arguments, 0)));
}

Outputs is_nan(Arguments& arguments) {
  const Term x = term(arguments, 0);
  arguments.set_type(ElementType::boolean);
  return outputs_of(inverted(x.equal(x)));
}

Outputs is_infinite(Arguments& arguments) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const Term x = term(arguments, 0);
  arguments.set_type(ElementType::boolean);
  const Term high = x.equal(infinity);
  const Term low = x.equal(-infinity);
  const bool finds_low = arguments.flag("detect_negative", true);
  const bool finds_high = arguments.flag("detect_positive", true);
  if (finds_low && finds_high) return outputs_of(either(high, low));
  if (finds_low) return outputs_of(low);
  return outputs_of(finds_high ? high : x.filled(0));
}

Outputs where(Arguments& arguments) {
  arguments.check_count(3);
  const int condition = arguments.operand(0);
  const int chosen = arguments.operand(1);
  arguments.set_type(arguments.type(1));
  return {arguments.graph().select(condition, chosen, arguments.operand(2))};
}

/// Drops elements as in training, even if the file is for inference.
Outputs dropout(Arguments& arguments) {
  const double probability = arguments.has_attribute("ratio") ? arguments.attribute("ratio", 0.5)
                                                              : arguments.number(1, 0.5);
  const bool is_share = probability >= 0 && probability < 1;  // false for NaN
  if (!is_share) {
    throw CannotTranslate("its ratio is not between 0 and 1");
  }
  const int x = arguments.operand(0);
  const general::Extents shape = arguments.graph().shape(x);
  const auto samples = std::ranges::find(shape, general::Extent{1, true});
  if (probability == 0 || shape.size() < 2 || samples == shape.end()) return {x};
  Integers order;  // starts with the samples
  Integers back;
  const std::int64_t place = samples - shape.begin();
  for (std::int64_t d = 0; d < signed_size(shape.size()); ++d) {
    if (d != place) order.push_back(d);
    back.push_back(d == place ? 0 : d < place ? d + 1 : d);
  }
  order.insert(order.begin(), place);
  Graph& graph = arguments.graph();
  const std::uint64_t subsequence = arguments.translator().next_subsequence();
  const int dropped = arguments.translator().add_layer(
      arguments.node(),
      std::make_shared<const RandomDropout>(static_cast<float>(probability), subsequence),
      {graph.permute(x, order)}, {}, -1);
  return {graph.permute(dropped, back)};
}

}  // namespace

int gelu(general::Graph& graph, int operation, bool by_tanh) {
  const Term x{&graph, operation};
  Term inner = x;
  if (by_tanh) {
    constexpr float cubic = 0.044715F;
    const float factor = std::sqrt(2 * std::numbers::inv_pi_v<float>);
    inner = ((x + x * x * x * cubic) * factor).tanh();
  } else {
    inner = (x * (std::numbers::sqrt2_v<float> / 2)).apply(error_function);
  }
  const Term half = x * 0.5F;
  return (half * (inner + 1.0F)).operation;
}

OperatorTable element_operators() {
  return {{"Abs", unary<absolute>},
          {"Acos", formula_of_one<arccosine>},
          {"Acosh", formula_of_one<acosh>},
          {"Add", binary<addition>},
          {"And", logical<both>},
          {"Asin", formula_of_one<arcsine>},
          {"Asinh", formula_of_one<asinh>},
          {"Atan", formula_of_one<arctangent>},
          {"Atanh", formula_of_one<atanh>},
          {"Cast", cast},
          {"CastLike", cast_like},
          {"Ceil", unary<ceiling>},
          {"Celu", celu},
          {"Clip", clip},
          {"Cos", unary<cosine>},
          {"Cosh", formula_of_one<cosh>},
          {"Div", division},
          {"Dropout", dropout},
          {"Elu", elu_operator},
          {"Equal", logical<is_equal>},
          {"Erf", unary<error_function>},
          {"Exp", unary<exponential>},
          {"Floor", unary<ElementOp::floor>},
          {"Gelu", gelu_operator},
          {"Greater", logical<is_greater>},
          {"GreaterOrEqual", logical<is_greater_or_equal>},
          {"HardSigmoid", hard_sigmoid},
          {"HardSwish", formula_of_one<hard_swish>},
          {"Identity", same},
          {"IsInf", is_infinite},
          {"IsNaN", is_nan},
          {"LeakyRelu", leaky_relu},
          {"Less", logical<is_less>},
          {"LessOrEqual", logical<is_less_or_equal>},
          {"Log", unary<logarithm>},
          {"Max", of_all<maximum>},
          {"Mean", mean_of_all},
          {"Min", of_all<minimum>},
          {"Mish", formula_of_one<mish>},
          {"Mod", modulo},
          {"Mul", binary<product>},
          {"Neg", unary<negation>},
          {"Not", negated},
          {"Or", logical<either>},
          {"PRelu", parametric_relu},
          {"Pow", binary<power>},
          {"Reciprocal", unary<reciprocal>},
          {"Relu", formula_of_one<positive>},
          {"Round", unary<rounding>},
          {"Selu", selu},
          {"Shrink", shrink},
          {"Sigmoid", formula_of_one<logistic>},
          {"Sign", unary<sign>},
          {"Sin", unary<sine>},
          {"Sinh", formula_of_one<sinh>},
          {"Softplus", formula_of_one<softplus>},
          {"Softsign", formula_of_one<softsign>},
          {"Sqrt", unary<square_root>},
          {"Sub", binary<difference>},
          {"Sum", of_all<addition>},
          {"Swish", swish},
          {"Tan", formula_of_one<tangent>},
          {"Tanh", unary<tanh>},
          {"ThresholdedRelu", thresholded_relu},
          {"Where", where},
          {"Xor", logical<exclusive>}};
}

}  // namespace parbench::onnx_import
