// One pass of a convolution as cuDNN and our own ways to compute it take it.
#pragma once

#include "kernels/cuda/ops/convolution_pass.h"
#include "kernels/ops/ops.h"

namespace parbench::cuda {

/// Which engines may compute.
enum class Arithmetic {
  f32,          // f32 throughout: no tensor cores, no conversion of inputs
  tensor_cores  // whatever multiplies the inputs' type fastest (TF32 for f32), sums in f32
};

[[nodiscard]] constexpr Arithmetic arithmetic_of(NumberFormat format) {
  return format == NumberFormat{} ? Arithmetic::f32 : Arithmetic::tensor_cores;
}

/// What a graph computes. All tensors have their channels innermost. Inputs and result are `dtype`,
/// but for f32 weight gradients and f32 bias.
struct ConvolutionGraph {
  ConvolutionPass pass = ConvolutionPass::forward;
  ConvolutionShape shape;
  DType dtype = DType::f32;
  Arithmetic arithmetic = Arithmetic::f32;
  bool bias = false;  // forward: an addition behind the convolution, in the same kernel

  /// Whether activations always begin at a multiple of 16 bytes. Otherwise they may begin at any
  /// image of a batch that does, and where images have odd sizes fewer engines take that.
  bool aligned_images = false;
};

}  // namespace parbench::cuda
