// Description of one pass of a convolution, for cuDNN and this project's own implementations.
#pragma once

#include "kernels/cuda/ops/convolution_pass.h"
#include "kernels/ops/ops.h"

namespace parbench::cuda {

/// Arithmetic that an engine may use.
enum class Arithmetic {
  f32,          // f32 throughout: no tensor cores, no conversion of inputs
  tensor_cores  // the fastest units for the inputs' type (TF32 for f32), sums in f32
};

[[nodiscard]] constexpr Arithmetic arithmetic_of(NumberFormat format) {
  return format == NumberFormat{} ? Arithmetic::f32 : Arithmetic::tensor_cores;
}

/// One pass of a convolution. All tensors are channels last. Inputs and result are `dtype`, except
/// weight gradients, which are `gradient`, and bias, which is f32.
struct ConvolutionGraph {
  ConvolutionPass pass = ConvolutionPass::forward;
  ConvolutionShape shape;
  DType dtype = DType::f32;
  Arithmetic arithmetic = Arithmetic::f32;
  bool bias = false;  // whether the engine also adds a bias (forward pass only)
  DType gradient = DType::f32;

  /// Whether activations must begin at a multiple of 16 bytes. Otherwise only the batch must, and
  /// an activation may begin at any of its images. Fewer engines support this if the bytes of an
  /// image are not a multiple of 16.
  bool aligned_images = false;
};

/// Returns the arithmetic of an equivalent matrix product.
[[nodiscard]] constexpr MathMode product_math(const ConvolutionGraph& graph) {
  const bool tf32 = graph.dtype == DType::f32 && graph.arithmetic == Arithmetic::tensor_cores;
  return tf32 ? MathMode::tf32 : MathMode::strict;
}

}  // namespace parbench::cuda
