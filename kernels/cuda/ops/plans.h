// Plans operations on CUDA devices: one overload per operation, which CudaDevice::prepare calls
// through the variant, so that an operation without an overload does not compile. Each requires a
// description that `check` accepts, in a format that the device supports, and throws Unsupported if
// the libraries do not support it.
#pragma once

#include <memory>

#include "kernels/cuda/runtime/cuda_op.h"
#include "kernels/ops/ops.h"

namespace parbench::cuda {

using Planned = std::unique_ptr<CudaOp>;

// Weights have the activations' type (those of convolutions with channels last), biases are f32.
[[nodiscard]] Planned plan(CudaDevice& device, const ConvolutionForward& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const ConvolutionBackwardData& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const ConvolutionBackwardWeights& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const LinearForward& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const LinearBackwardData& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const LinearBackwardWeights& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const Gemm& desc);

[[nodiscard]] Planned plan(CudaDevice& device, const BatchNormForward& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const BatchNormBackward& desc);

[[nodiscard]] Planned plan(CudaDevice& device, const ActivationForward& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const ActivationBackward& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const Add& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const AddReluBackward& desc);

[[nodiscard]] Planned plan(CudaDevice& device, const MaxPoolForward& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const MaxPoolBackward& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const GlobalAveragePoolForward& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const GlobalAveragePoolBackward& desc);

[[nodiscard]] Planned plan(CudaDevice& device, const MseLoss& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const Sgd& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const Accumulate& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const AddRepeated& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const SumRepeats& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const Fill& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const Reorder& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const Spin& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const Discard& desc);

// Transformers, optimisers and gradient clipping.
[[nodiscard]] Planned plan(CudaDevice& device, const LayerNormForward& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const LayerNormBackward& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const Dropout& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const Scale& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const Adam& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const SquaredNorm& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const ClipFactor& desc);

// Language models.
[[nodiscard]] Planned plan(CudaDevice& device, const EmbeddingForward& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const EmbeddingBackward& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const SoftmaxCrossEntropy& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const AttentionForward& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const AttentionBackward& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const LstmForward& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const LstmBackwardData& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const LstmBackwardWeights& desc);

// Images.
[[nodiscard]] Planned plan(CudaDevice& device, const AveragePoolForward& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const AveragePoolBackward& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const LocalResponseNormForward& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const LocalResponseNormBackward& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const SliceChannels& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const InsertChannels& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const ShuffleChannels& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const AddChannelBias& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const SumChannels& desc);
[[nodiscard]] Planned plan(CudaDevice& device, const PadImage& desc);

// Programs over strided tensors.
[[nodiscard]] Planned plan(CudaDevice& device, const Map& desc);

}  // namespace parbench::cuda
