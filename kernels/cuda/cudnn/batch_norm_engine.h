// cuDNN's batch normalisation in training, without ReLU.
#pragma once

#include <cudnn.h>

#include <memory>

#include "kernels/base/tensor.h"

namespace parbench::cuda {

class CudaStream;

/// Computes with CUDNN_BATCHNORM_SPATIAL over activations with channels last. Needs no workspace.
/// The statistics are f32, one per channel. Functions throw Unsupported if cuDNN does not support
/// the shape.
class BatchNormEngine {
 public:
  BatchNormEngine(const Shape& shape, DType dtype);

  struct Forward {
    const std::byte* source;
    const std::byte* scale;
    const std::byte* shift;
    std::byte* running_mean;
    std::byte* running_variance;
    std::byte* destination;  // memory other than the source's
    std::byte* mean;
    std::byte* inverse_deviation;  // 1/sqrt(variance + epsilon)
  };
  void forward(CudaStream& stream, const Forward& at, float epsilon, float momentum) const;

  struct Backward {
    const std::byte* source;
    const std::byte* diff_destination;
    const std::byte* mean;
    const std::byte* inverse_deviation;
    const std::byte* scale;
    std::byte* diff_source;  // memory other than diff_destination's
    std::byte* diff_scale;
    std::byte* diff_shift;
  };
  /// With `accumulate`, the gradients of scale and shift are added to diff_scale and diff_shift.
  void backward(CudaStream& stream, const Backward& at, float epsilon, bool accumulate) const;

 private:
  struct Destroy {
    using pointer = cudnnTensorDescriptor_t;  // required by std::unique_ptr
    void operator()(cudnnTensorDescriptor_t tensor) const {
      (void)cudnnDestroyTensorDescriptor(tensor);
    }
  };
  using Tensor = std::unique_ptr<void, Destroy>;

  static Tensor describe(const Shape& shape, DType dtype);

  Tensor activation_;
  Tensor channels_;  // scale, shift and statistics
};

}  // namespace parbench::cuda
