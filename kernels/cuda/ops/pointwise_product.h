// Convolutions with one tap as matrix products of their tensors, without copies.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "kernels/cuda/cudnn/convolution_graph.h"
#include "kernels/cuda/ops/matmul.h"

namespace parbench::cuda {

/// Returns the product that computes a forward pass or a data gradient: pixels times weights,
/// without copying either. Returns nothing for the other pass, for groups, for bf16 with a bias,
/// and for convolutions whose patches differ from the source (weight_gradient.h).
[[nodiscard]] std::optional<Product> pointwise_product(const ConvolutionGraph& graph);

/// Returns the operands of that product from the tensors of the graph, which are in the order of
/// the operation's arguments.
[[nodiscard]] ProductAddresses pointwise_addresses(const ConvolutionGraph& graph,
                                                   std::span<std::byte* const> tensors);

}  // namespace parbench::cuda
