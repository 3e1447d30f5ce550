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
/// weight gradients and bias, which are f32.
struct ConvolutionGraph {
  ConvolutionPass pass = ConvolutionPass::forward;
  ConvolutionShape shape;
  DType dtype = DType::f32;
  Arithmetic arithmetic = Arithmetic::f32;
  bool bias = false;  // forward: addition of a bias in the same kernel

  /// Whether activations always begin at a multiple of 16 bytes. Otherwise they may begin at any
  /// image of a batch that does, and fewer engines support images of odd sizes.
  bool aligned_images = false;
};

}  // namespace parbench::cuda
