// One overload per operation, found by `prepare` through the variant: an operation without one does
// not compile. Each needs a description that `check` accepts, in a format that the processor has,
// and throws dnnl::error for what oneDNN refuses.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "kernels/cpu/onednn/planned_op.h"
#include "kernels/ops/ops.h"

namespace parbench::cpu {

using Planned = std::unique_ptr<CpuOp>;

// Weights have the activations' type, bias is f32.
[[nodiscard]] Planned plan(const ConvolutionForward& desc);
[[nodiscard]] Planned plan(const ConvolutionBackwardData& desc);
[[nodiscard]] Planned plan(const ConvolutionBackwardWeights& desc);
/// Whether a convolution, any pass, is computed by Winograd's algorithm F(4×4, 3×3) if oneDNN has a
/// kernel for that, with AVX-512: for the sizes where it was measured to be faster
/// (docs/decisions/cpu-kernels.md).
[[nodiscard]] bool is_for_winograd(const ConvolutionShape& shape, DType dtype);
/// Whether each output position sees one pixel of the source, and each pixel is seen once.
[[nodiscard]] bool is_pointwise(const ConvolutionShape& shape);
/// The gradient of weights as one matrix product over all output positions of the batch, channels
/// last. Takes convolutions without bias and groups.
[[nodiscard]] Planned plan_as_product(const ConvolutionBackwardWeights& desc);
/// The gradient of the source in the same way. Takes windows of 1×1 without padding and groups.
[[nodiscard]] Planned plan_as_product(const ConvolutionBackwardData& desc);
/// Whether the gradient of the weights of a depthwise convolution may be computed by a loop over
/// the window's taps, in any layout of activations.
[[nodiscard]] bool has_tap_loop(const ConvolutionShape& shape);
/// That loop, for shapes that have it.
[[nodiscard]] Planned plan_tap_loop(const ConvolutionBackwardWeights& desc);
[[nodiscard]] Planned plan(const LinearForward& desc);
[[nodiscard]] Planned plan(const LinearBackwardData& desc);
[[nodiscard]] Planned plan(const LinearBackwardWeights& desc);
[[nodiscard]] Planned plan(const Gemm& desc);

[[nodiscard]] Planned plan(const BatchNormForward& desc);
[[nodiscard]] Planned plan(const BatchNormBackward& desc);
/// The same in loops of our own. Takes images with channels last whose number of channels is a
/// multiple of 8.
[[nodiscard]] Planned plan_over_pixels(const BatchNormForward& desc);
[[nodiscard]] Planned plan_over_pixels(const BatchNormBackward& desc);
/// Moves the running statistics towards those of the batch. `arguments`: the operation's.
void move_running(const BatchNormForward& desc, std::span<std::byte* const> arguments);

[[nodiscard]] Planned plan(const ActivationForward& desc);
[[nodiscard]] Planned plan(const ActivationBackward& desc);
[[nodiscard]] Planned plan(const Add& desc);
[[nodiscard]] Planned plan(const AddReluBackward& desc);

[[nodiscard]] Planned plan(const MaxPoolForward& desc);
[[nodiscard]] Planned plan(const MaxPoolBackward& desc);
[[nodiscard]] Planned plan(const GlobalAveragePoolForward& desc);
[[nodiscard]] Planned plan(const GlobalAveragePoolBackward& desc);

[[nodiscard]] Planned plan(const MseLoss& desc);
[[nodiscard]] Planned plan(const Sgd& desc);
[[nodiscard]] Planned plan(const Accumulate& desc);
[[nodiscard]] Planned plan(const AddRepeated& desc);
[[nodiscard]] Planned plan(const SumRepeats& desc);
[[nodiscard]] Planned plan(const Fill& desc);
[[nodiscard]] Planned plan(const Reorder& desc);
[[nodiscard]] Planned plan(const Spin& desc);
[[nodiscard]] Planned plan(const Discard& desc);

// Of transformers, optimisers and gradient clipping.
[[nodiscard]] Planned plan(const LayerNormForward& desc);
[[nodiscard]] Planned plan(const LayerNormBackward& desc);
[[nodiscard]] Planned plan(const Dropout& desc);
[[nodiscard]] Planned plan(const Scale& desc);
[[nodiscard]] Planned plan(const Adam& desc);
[[nodiscard]] Planned plan(const SquaredNorm& desc);
[[nodiscard]] Planned plan(const ClipFactor& desc);

// Language models.
[[nodiscard]] Planned plan(const EmbeddingForward& desc);
[[nodiscard]] Planned plan(const EmbeddingBackward& desc);
[[nodiscard]] Planned plan(const SoftmaxCrossEntropy& desc);
[[nodiscard]] Planned plan(const AttentionForward& desc);
[[nodiscard]] Planned plan(const AttentionBackward& desc);
[[nodiscard]] Planned plan(const LstmForward& desc);
[[nodiscard]] Planned plan(const LstmBackwardData& desc);
[[nodiscard]] Planned plan(const LstmBackwardWeights& desc);

// Images.
[[nodiscard]] Planned plan(const AveragePoolForward& desc);
[[nodiscard]] Planned plan(const AveragePoolBackward& desc);
[[nodiscard]] Planned plan(const LocalResponseNormForward& desc);
[[nodiscard]] Planned plan(const LocalResponseNormBackward& desc);
[[nodiscard]] Planned plan(const SliceChannels& desc);
[[nodiscard]] Planned plan(const InsertChannels& desc);
[[nodiscard]] Planned plan(const ShuffleChannels& desc);
[[nodiscard]] Planned plan(const AddChannelBias& desc);
[[nodiscard]] Planned plan(const SumChannels& desc);
[[nodiscard]] Planned plan(const PadImage& desc);

// Programs over strided tensors.
[[nodiscard]] Planned plan(const Map& desc);

}  // namespace parbench::cpu
