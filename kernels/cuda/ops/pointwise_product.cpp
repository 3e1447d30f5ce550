// Sizes and operands of products that compute convolutions with one tap.
#include "kernels/cuda/ops/pointwise_product.h"

#include "kernels/cuda/ops/weight_gradient.h"

namespace parbench::cuda {

// The weights are stored as {out, in}. Forward: {pixels, in} times their transpose. Data gradient:
// {pixels, out} times the weights.
std::optional<Product> pointwise_product(const ConvolutionGraph& graph) {
  const ConvolutionShape& shape = graph.shape;
  const bool forward = graph.pass == ConvolutionPass::forward;
  if (!forward && graph.pass != ConvolutionPass::backward_data) return std::nullopt;
  if (shape.groups > 1 || !source_is_patches(shape)) return std::nullopt;
  // cuBLASLt adds a bias of the result's type, but biases of convolutions are f32.
  if (graph.bias && graph.dtype != DType::f32) return std::nullopt;
  return Product{.m = shape.batch * shape.height * shape.width,
                 .n = forward ? shape.out_channels : shape.in_channels,
                 .k = forward ? shape.in_channels : shape.out_channels,
                 .transpose_b = forward,
                 .input = graph.dtype,
                 .output = graph.dtype,
                 .bias = graph.bias,
                 .math = product_math(graph)};
}

ProductAddresses pointwise_addresses(const ConvolutionGraph& graph,
                                     std::span<std::byte* const> tensors) {
  return {.a = tensors[0],
          .b = tensors[1],
          .c = tensors.back(),
          .bias = graph.bias ? tensors[2] : nullptr};
}

}  // namespace parbench::cuda
