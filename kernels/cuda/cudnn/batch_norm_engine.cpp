// Calls of cuDNN's batch normalisation.
//
// The mode is not CUDNN_BATCHNORM_SPATIAL_PERSISTENT, which limits the range of values and reports
// an overflow only to callers of cudnnQueryRuntimeError. These functions are deprecated, but the
// only ones that add gradients to earlier ones (docs/decisions/cuda.md).
#include "kernels/cuda/cudnn/batch_norm_engine.h"

#include "kernels/cuda/runtime/error.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {
namespace {

constexpr float factor_one = 1;
constexpr float factor_zero = 0;

}  // namespace

BatchNormEngine::Tensor BatchNormEngine::describe(const Shape& shape, DType dtype) {
  cudnnTensorDescriptor_t made = nullptr;
  PARBENCH_CUDA(cudnnCreateTensorDescriptor(&made));
  Tensor tensor(made);
  PARBENCH_CUDA(cudnnSetTensor4dDescriptor(
      made, CUDNN_TENSOR_NHWC, dtype == DType::bf16 ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_FLOAT,
      static_cast<int>(shape[0]), static_cast<int>(shape[1]), static_cast<int>(shape[2]),
      static_cast<int>(shape[3])));
  return tensor;
}

BatchNormEngine::BatchNormEngine(const Shape& shape, DType dtype)
    : activation_(describe(shape, dtype)), channels_(describe({1, shape[1], 1, 1}, DType::f32)) {}

void BatchNormEngine::forward(CudaStream& stream, const Forward& at, float epsilon,
                              float momentum) const {
  PARBENCH_CUDA(cudnnBatchNormalizationForwardTraining(
      stream.cudnn(), CUDNN_BATCHNORM_SPATIAL, &factor_one, &factor_zero, activation_.get(),
      at.source, activation_.get(), at.destination, channels_.get(), at.scale, at.shift,
      static_cast<double>(momentum), at.running_mean, at.running_variance,
      static_cast<double>(epsilon), at.mean, at.inverse_deviation));
}

void BatchNormEngine::backward(CudaStream& stream, const Backward& at, float epsilon,
                               bool accumulate) const {
  PARBENCH_CUDA(cudnnBatchNormalizationBackward(
      stream.cudnn(), CUDNN_BATCHNORM_SPATIAL, &factor_one, &factor_zero, &factor_one,
      accumulate ? &factor_one : &factor_zero, activation_.get(), at.source, activation_.get(),
      at.diff_destination, activation_.get(), at.diff_source, channels_.get(), at.scale,
      at.diff_scale, at.diff_shift, static_cast<double>(epsilon), at.mean, at.inverse_deviation));
}

}  // namespace parbench::cuda
