// Operators that compute each element by itself.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "scenarios/models/layers/dropout.h"
#include "scenarios/models/onnx/general/indexing.h"
#include "scenarios/models/onnx/translator.h"

namespace parbench::onnx_import {
namespace {

using general::Graph;
using enum ElementOp;

// --- formulas ---

int clipped(Graph& graph, int x, float low, float high) {
  return graph.apply(minimum, graph.apply(maximum, x, low), high);
}

int positive(Graph& graph, int x) { return graph.apply(maximum, x, 0.0F); }

/// log(1 + exp(x)) = max(x, 0) + log(1 + exp(−|x|)).
int softplus(Graph& graph, int x) {
  const int small = graph.apply(exponential, graph.apply(negation, graph.apply(absolute, x)));
  const int logarithm_of = graph.apply(logarithm, graph.apply(addition, small, 1.0F));
  return graph.apply(addition, positive(graph, x), logarithm_of);
}

/// x where it is positive, else `other`.
int positive_or(Graph& graph, int x, int other) {
  return graph.select(graph.apply(less, graph.number(0), x), x, other);
}

/// factor·(exp(x) − 1) where x is negative. The exponent is clipped: what is not selected must be
/// finite, or its gradient is none.
int elu(Graph& graph, int x, int scaled, float factor) {
  const int power = graph.apply(exponential, graph.apply(minimum, scaled, 0.0F));
  const int other = graph.apply(product, graph.apply(difference, power, 1.0F), factor);
  return positive_or(graph, x, other);
}

int truncated(Graph& graph, int x) {
  const int size = graph.apply(ElementOp::floor, graph.apply(absolute, x));
  return graph.apply(product, graph.apply(sign, x), size);
}

int inverted(Graph& graph, int condition) {
  return graph.apply(equal, condition, graph.number(0, graph.shape(condition)));
}

/// 1 where any or all of both hold.
int either(Graph& graph, int a, int b) { return graph.apply(maximum, a, b); }
int both(Graph& graph, int a, int b) { return graph.apply(product, a, b); }

// --- operators of one tensor ---

template <ElementOp op>
Outputs unary(Arguments& arguments) {
  return {arguments.graph().apply(op, arguments.operand(0))};
}

template <int (*formula)(Graph&, int)>
Outputs formula_of_one(Arguments& arguments) {
  return {formula(arguments.graph(), arguments.operand(0))};
}

float attribute(const Arguments& arguments, std::string_view name, double fallback) {
  return static_cast<float>(arguments.attribute(name, fallback));
}

/// sinh, cosh and others by exponentials and logarithms.
int sinh(Graph& graph, int x) {
  const int grows = graph.apply(exponential, x);
  return graph.apply(product, graph.apply(difference, grows, graph.apply(reciprocal, grows)), 0.5F);
}
int cosh(Graph& graph, int x) {
  const int grows = graph.apply(exponential, x);
  return graph.apply(product, graph.apply(addition, grows, graph.apply(reciprocal, grows)), 0.5F);
}
int tangent(Graph& graph, int x) {
  return graph.apply(quotient, graph.apply(sine, x), graph.apply(cosine, x));
}
int asinh(Graph& graph, int x) {  // sign·log(|x| + sqrt(x² + 1))
  const int root =
      graph.apply(square_root, graph.apply(addition, graph.apply(product, x, x), 1.0F));
  const int sum = graph.apply(addition, graph.apply(absolute, x), root);
  return graph.apply(product, graph.apply(sign, x), graph.apply(logarithm, sum));
}
int acosh(Graph& graph, int x) {
  const int root =
      graph.apply(square_root, graph.apply(difference, graph.apply(product, x, x), 1.0F));
  return graph.apply(logarithm, graph.apply(addition, x, root));
}
int atanh(Graph& graph, int x) {
  const int above = graph.apply(addition, x, 1.0F);
  const int below = graph.apply(difference, graph.number(1), x);
  return graph.apply(product, graph.apply(logarithm, graph.apply(quotient, above, below)), 0.5F);
}

/// x/(1 + sqrt(1 + sign·x²)): the tangent of half the angle whose tangent (sine) is x for sign 1
/// (−1).
int of_half_angle(Graph& graph, int x, float sign) {
  const int square = graph.apply(product, graph.apply(product, x, x), sign);
  const int root = graph.apply(square_root, graph.apply(addition, square, 1.0F));
  return graph.apply(quotient, x, graph.apply(addition, root, 1.0F));
}
/// The angle, by a series for an eighth of it.
int arctangent(Graph& graph, int x) {
  for (int i = 0; i < 3; ++i) x = of_half_angle(graph, x, 1);
  const int square = graph.apply(product, x, x);
  int series = graph.number(1.0F / 9, graph.shape(x));
  for (const float odd : {7.0F, 5.0F, 3.0F, 1.0F}) {
    series = graph.apply(difference, graph.number(1 / odd), graph.apply(product, series, square));
  }
  return graph.apply(product, graph.apply(product, x, series), 8.0F);
}
int arcsine(Graph& graph, int x) {
  return graph.apply(product, arctangent(graph, of_half_angle(graph, x, -1)), 2.0F);
}
int arccosine(Graph& graph, int x) {
  constexpr float right_angle = std::numbers::pi_v<float> / 2;
  return graph.apply(difference, graph.number(right_angle), arcsine(graph, x));
}

int softsign(Graph& graph, int x) {
  return graph.apply(quotient, x, graph.apply(addition, graph.apply(absolute, x), 1.0F));
}
int mish(Graph& graph, int x) {
  return graph.apply(product, x, graph.apply(tanh, softplus(graph, x)));
}
int hard_swish(Graph& graph, int x) {
  constexpr float sixth = 1.0F / 6;
  const int gate = graph.apply(addition, graph.apply(product, x, sixth), 0.5F);
  return graph.apply(product, x, clipped(graph, gate, 0, 1));
}

Outputs leaky_relu(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  const int other = graph.apply(product, x, attribute(arguments, "alpha", 0.01));
  return {positive_or(graph, x, other)};
}

Outputs parametric_relu(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  return {positive_or(graph, x, graph.apply(product, x, arguments.operand(1)))};
}

Outputs elu_operator(Arguments& arguments) {
  const int x = arguments.operand(0);
  return {elu(arguments.graph(), x, x, attribute(arguments, "alpha", 1))};
}

Outputs celu(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const float alpha = attribute(arguments, "alpha", 1);
  const int x = arguments.operand(0);
  return {elu(graph, x, graph.apply(product, x, 1 / alpha), alpha)};
}

Outputs selu(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  const int inner = elu(graph, x, x, attribute(arguments, "alpha", 1.67326319217681884765625));
  return {graph.apply(product, inner, attribute(arguments, "gamma", 1.05070102214813232421875))};
}

Outputs thresholded_relu(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  const int above = graph.apply(less, graph.number(attribute(arguments, "alpha", 1)), x);
  return {graph.select(above, x, graph.number(0))};
}

Outputs shrink(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  const float bias = attribute(arguments, "bias", 0);
  const float limit = attribute(arguments, "lambd", 0.5);
  const int is_low = graph.apply(less, x, -limit);
  const int is_high = graph.apply(less, graph.number(limit), x);
  const int shrunk = graph.select(is_high, graph.apply(difference, x, bias), graph.number(0));
  return {graph.select(is_low, graph.apply(addition, x, bias), shrunk)};
}

Outputs hard_sigmoid(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const int scaled = graph.apply(product, arguments.operand(0), attribute(arguments, "alpha", 0.2));
  return {clipped(graph, graph.apply(addition, scaled, attribute(arguments, "beta", 0.5)), 0, 1)};
}

Outputs gelu_operator(Arguments& arguments) {
  const bool by_tanh = arguments.attribute("approximate", std::string("none")) == "tanh";
  return {gelu(arguments.graph(), arguments.operand(0), by_tanh)};
}

Outputs swish(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  const int scaled = graph.apply(product, x, attribute(arguments, "alpha", 1));
  return {graph.apply(product, x, sigmoid(graph, scaled))};
}

/// Limits are attributes until operator set 11.
Outputs clip(Arguments& arguments) {
  Graph& graph = arguments.graph();
  int x = arguments.operand(0);
  if (arguments.has_attribute("min")) x = graph.apply(maximum, x, attribute(arguments, "min", 0));
  if (arguments.has_attribute("max")) x = graph.apply(minimum, x, attribute(arguments, "max", 0));
  if (arguments.has(1)) x = graph.apply(maximum, x, arguments.operand(1));
  if (arguments.has(2)) x = graph.apply(minimum, x, arguments.operand(2));
  return {x};
}

Outputs same(Arguments& arguments) { return {arguments.operand(0)}; }

Outputs cast(Arguments& arguments) {
  constexpr std::int64_t boolean = 9;
  constexpr std::array<std::int64_t, 4> floating{1, 10, 11, 16};
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  const ElementType from = arguments.type(0);
  const std::int64_t to = arguments.integer("to", 1);
  if (std::ranges::find(floating, to) != floating.end()) {
    arguments.set_type(ElementType::floating);
    return {x};
  }
  if (to == boolean) {
    arguments.set_type(ElementType::boolean);
    return {from == ElementType::boolean ? x : inverted(graph, inverted(graph, x))};
  }
  arguments.set_type(ElementType::integer);
  return {from == ElementType::floating ? truncated(graph, x) : x};
}

Outputs cast_like(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  const ElementType from = arguments.type(0);
  const ElementType to = arguments.type(1);
  arguments.set_type(to);
  if (to == ElementType::boolean && from != to) return {inverted(graph, inverted(graph, x))};
  return {to == ElementType::integer && from == ElementType::floating ? truncated(graph, x) : x};
}

// --- operators of several tensors ---

template <ElementOp op>
Outputs binary(Arguments& arguments) {
  arguments.check_count(2);
  const int a = arguments.operand(0);
  return {arguments.graph().apply(op, a, arguments.operand(1))};
}

Outputs division(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const int a = arguments.operand(0);
  const int result = graph.apply(quotient, a, arguments.operand(1));
  return {arguments.type(0) == ElementType::integer ? truncated(graph, result) : result};
}

/// The remainder has the sign of the dividend with `fmod`, else that of the divisor.
Outputs modulo(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const int a = arguments.operand(0);
  const int b = arguments.operand(1);
  const int rest = graph.apply(remainder, a, b);
  if (arguments.flag("fmod", false)) return {rest};
  const int shifted = graph.apply(remainder, graph.apply(addition, rest, b), b);
  return {shifted};
}

template <ElementOp op>
Outputs of_all(Arguments& arguments) {
  int result = arguments.operand(0);
  for (std::size_t which = 1; which < arguments.count(); ++which) {
    result = arguments.graph().apply(op, result, arguments.operand(which));
  }
  return {result};
}

Outputs mean_of_all(Arguments& arguments) {
  const int sum = of_all<addition>(arguments).front();
  const auto share = 1 / static_cast<float>(arguments.count());
  return {arguments.graph().apply(product, sum, share)};
}

enum class Comparison { less, greater, equal, less_or_equal, greater_or_equal };

template <Comparison comparison>
Outputs compared(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const int a = arguments.operand(0);
  const int b = arguments.operand(1);
  arguments.set_type(ElementType::boolean);
  switch (comparison) {
    case Comparison::less:
      return {graph.apply(less, a, b)};
    case Comparison::greater:
      return {graph.apply(less, b, a)};
    case Comparison::equal:
      return {graph.apply(ElementOp::equal, a, b)};
    case Comparison::less_or_equal:
      return {either(graph, graph.apply(less, a, b), graph.apply(ElementOp::equal, a, b))};
    case Comparison::greater_or_equal:
      return {either(graph, graph.apply(less, b, a), graph.apply(ElementOp::equal, a, b))};
  }
  return {};
}

template <int (*formula)(Graph&, int, int)>
Outputs logical(Arguments& arguments) {
  const int a = arguments.operand(0);
  arguments.set_type(ElementType::boolean);
  return {formula(arguments.graph(), a, arguments.operand(1))};
}

int exclusive(Graph& graph, int a, int b) {
  return graph.apply(absolute, graph.apply(difference, a, b));
}

Outputs negated(Arguments& arguments) {
  arguments.set_type(ElementType::boolean);
  return {inverted(arguments.graph(), arguments.operand(0))};
}

Outputs is_nan(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  arguments.set_type(ElementType::boolean);
  return {inverted(graph, graph.apply(equal, x, x))};
}

Outputs is_infinite(Arguments& arguments) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  arguments.set_type(ElementType::boolean);
  const int high = graph.apply(equal, x, graph.number(infinity));
  const int low = graph.apply(equal, x, graph.number(-infinity));
  const bool finds_low = arguments.flag("detect_negative", true);
  const bool finds_high = arguments.flag("detect_positive", true);
  if (finds_low && finds_high) return {either(graph, high, low)};
  if (finds_low) return {low};
  return {finds_high ? high : graph.number(0, graph.shape(x))};
}

Outputs where(Arguments& arguments) {
  arguments.check_count(3);
  const int condition = arguments.operand(0);
  const int chosen = arguments.operand(1);
  arguments.set_type(arguments.type(1));
  return {arguments.graph().select(condition, chosen, arguments.operand(2))};
}

/// Its masks become those of training, whatever the file says of inference.
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
  Integers order;  // the samples in front
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

int gelu(general::Graph& graph, int x, bool by_tanh) {
  int inner = 0;
  if (by_tanh) {
    constexpr float cubic = 0.044715F;
    const float factor = std::sqrt(2 * std::numbers::inv_pi_v<float>);
    const int cube = graph.apply(product, graph.apply(product, x, x), x);
    const int sum = graph.apply(addition, x, graph.apply(product, cube, cubic));
    inner = graph.apply(tanh, graph.apply(product, sum, factor));
  } else {
    inner = graph.apply(error_function, graph.apply(product, x, std::numbers::sqrt2_v<float> / 2));
  }
  const int half = graph.apply(product, x, 0.5F);
  return graph.apply(product, half, graph.apply(addition, inner, 1.0F));
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
          {"Equal", compared<Comparison::equal>},
          {"Erf", unary<error_function>},
          {"Exp", unary<exponential>},
          {"Floor", unary<ElementOp::floor>},
          {"Gelu", gelu_operator},
          {"Greater", compared<Comparison::greater>},
          {"GreaterOrEqual", compared<Comparison::greater_or_equal>},
          {"HardSigmoid", hard_sigmoid},
          {"HardSwish", formula_of_one<hard_swish>},
          {"Identity", same},
          {"IsInf", is_infinite},
          {"IsNaN", is_nan},
          {"LeakyRelu", leaky_relu},
          {"Less", compared<Comparison::less>},
          {"LessOrEqual", compared<Comparison::less_or_equal>},
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
          {"Sigmoid", formula_of_one<sigmoid>},
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
