// Operators of onnxruntime's domain that exporters and optimisers write, except attention.
#include "scenarios/models/onnx/general/indexing.h"
#include "scenarios/models/onnx/translator.h"

namespace parbench::onnx_import {
namespace {

/// GELU of the sum with a bias, if there is one.
template <bool by_tanh>
Outputs biased_gelu(Arguments& arguments) {
  return {gelu(arguments.plus(arguments.operand(0), 1), by_tanh)};
}

Outputs quick_gelu(Arguments& arguments) {
  const Term x = arguments.operand(0);
  return {x * sigmoid(x * arguments.real("alpha", 1.702))};
}

Outputs fused_product(Arguments& arguments) {
  refuse_if(arguments.flag("transBatchA", false) || arguments.flag("transBatchB", false),
            "it moves the first dimension");
  const auto factor = [&](std::size_t which, std::string_view is_transposed) {
    const Term x = arguments.operand(which);
    if (!arguments.flag(is_transposed, false)) return x;
    refuse_if(x.rank() < 2, "it transposes a tensor of fewer than two dimensions");
    return x.transpose();
  };
  const Term a = factor(0, "transA");
  const Term result = a.multiply(factor(1, "transB"));
  const float alpha = arguments.real("alpha", 1.0);
  return {alpha == 1 ? result : result * alpha};
}

/// Returns x / sqrt(mean(x²) + epsilon) · scale over the last dimension.
Term scaled_by_row(Arguments& arguments, Term x, std::size_t scale) {
  const Term result = by_root_mean_square(x, {-1}, arguments.real("epsilon", 1e-5));
  return result * arguments.operand(scale);
}

Outputs simplified_norm(Arguments& arguments) {
  return {scaled_by_row(arguments, arguments.operand(0), 1)};
}

/// Returns the sum of input, skip and the bias of the sum.
Term skip_sum(Arguments& arguments, std::size_t bias) {
  const Term x = arguments.operand(0);
  return arguments.plus(x + arguments.operand(1), bias);
}

/// Inputs: input, skip, scale, bias of the sum. The sum is output 3.
Outputs simplified_skip_norm(Arguments& arguments) {
  const Term sum = skip_sum(arguments, 3);
  return {scaled_by_row(arguments, sum, 2), -1, -1, sum};
}

/// Inputs: input, skip, scale, shift, bias of the sum. The sum is output 3.
Outputs skip_norm(Arguments& arguments) {
  const Term sum = skip_sum(arguments, 4);
  const Term result = normalised(sum, {-1}, arguments.real("epsilon", 1e-12));
  return {arguments.plus(result * arguments.operand(2), 3), -1, -1, sum};
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
