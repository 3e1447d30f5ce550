// Operators of onnxruntime's domain that exporters and optimisers write, except attention.
#include <cmath>
#include <string>

#include "scenarios/models/onnx/general/indexing.h"
#include "scenarios/models/onnx/translator.h"

namespace parbench::onnx_import {
namespace {

using general::Extents;
using general::Graph;
using enum ElementOp;

int with_bias(Arguments& arguments, int x, std::size_t which) {
  if (!arguments.has(which)) return x;
  return arguments.graph().apply(addition, x, arguments.operand(which));
}

/// GELU of the sum with a bias, if there is one.
template <bool by_tanh>
Outputs biased_gelu(Arguments& arguments) {
  return {gelu(arguments.graph(), with_bias(arguments, arguments.operand(0), 1), by_tanh)};
}

Outputs quick_gelu(Arguments& arguments) {
  Graph& graph = arguments.graph();
  const int x = arguments.operand(0);
  const auto alpha = static_cast<float>(arguments.attribute("alpha", 1.702));
  return {graph.apply(product, x, sigmoid(graph, graph.apply(product, x, alpha)))};
}

int transposed(Graph& graph, int x) {
  const auto rank = signed_size(graph.shape(x).size());
  if (rank < 2) throw CannotTranslate("it transposes a tensor of fewer than two dimensions");
  Integers order;
  for (std::int64_t d = 0; d < rank; ++d) order.push_back(d);
  std::swap(order.end()[-1], order.end()[-2]);
  return graph.permute(x, order);
}

Outputs fused_product(Arguments& arguments) {
  Graph& graph = arguments.graph();
  if (arguments.flag("transBatchA", false) || arguments.flag("transBatchB", false)) {
    throw CannotTranslate("it moves the first dimension");
  }
  int a = arguments.operand(0);
  int b = arguments.operand(1);
  if (arguments.flag("transA", false)) a = transposed(graph, a);
  if (arguments.flag("transB", false)) b = transposed(graph, b);
  const auto alpha = static_cast<float>(arguments.attribute("alpha", 1.0));
  const int result = graph.multiply(a, b);
  return {alpha == 1 ? result : graph.apply(product, result, alpha)};
}

/// Returns x / sqrt(mean(x²) + epsilon) · scale over the last dimension.
int root_mean_square(Arguments& arguments, int x, std::size_t scale) {
  Graph& graph = arguments.graph();
  const auto epsilon = static_cast<float>(arguments.attribute("epsilon", 1e-5));
  const int mean = graph.mean(graph.apply(product, x, x), {-1});
  const int deviation = graph.apply(square_root, graph.apply(addition, mean, epsilon));
  return graph.apply(product, graph.apply(quotient, x, deviation), arguments.operand(scale));
}

Outputs simplified_norm(Arguments& arguments) {
  return {root_mean_square(arguments, arguments.operand(0), 1)};
}

/// Inputs: input, skip, scale, bias of the sum. The sum is output 3.
Outputs simplified_skip_norm(Arguments& arguments) {
  Graph& graph = arguments.graph();
  int sum = graph.apply(addition, arguments.operand(0), arguments.operand(1));
  sum = with_bias(arguments, sum, 3);
  return {root_mean_square(arguments, sum, 2), -1, -1, sum};
}

/// Inputs: input, skip, scale, shift, bias of the sum. The sum is output 3.
Outputs skip_norm(Arguments& arguments) {
  Graph& graph = arguments.graph();
  int sum = graph.apply(addition, arguments.operand(0), arguments.operand(1));
  sum = with_bias(arguments, sum, 4);
  const auto epsilon = static_cast<float>(arguments.attribute("epsilon", 1e-12));
  const int result =
      graph.apply(product, normalised(graph, sum, {-1}, epsilon), arguments.operand(2));
  return {with_bias(arguments, result, 3), -1, -1, sum};
}

}  // namespace

OperatorTable onnxruntime_operators() {
  return {{"SimplifiedLayerNormalization", simplified_norm},
          {"com.microsoft.BiasGelu", biased_gelu<false>},
          {"com.microsoft.FastGelu", biased_gelu<true>},
          {"com.microsoft.FusedMatMul", fused_product},
          {"com.microsoft.Gelu", biased_gelu<false>},
          {"com.microsoft.QuickGelu", quick_gelu},
          {"com.microsoft.SimplifiedLayerNormalization", simplified_norm},
          {"com.microsoft.SkipLayerNormalization", skip_norm},
          {"com.microsoft.SkipSimplifiedLayerNormalization", simplified_skip_norm}};
}

}  // namespace parbench::onnx_import
