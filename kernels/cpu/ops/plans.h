// Overloads of `plan` for each operation, which `prepare` calls through the variant: an operation
// without an overload does not compile. They require a description that `check` accepts, in a
// format that the processor supports, and throw dnnl::error if oneDNN refuses the description.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "kernels/cpu/onednn/planned_op.h"
#include "kernels/ops/ops.h"

namespace parbench::cpu {

using Planned = std::unique_ptr<CpuOp>;

// In convolutions and linear layers, weights that are read have the activations' type. Biases and
// gradients of parameters are f32.
[[nodiscard]] Planned plan(const ConvolutionForward& desc);
[[nodiscard]] Planned plan(const ConvolutionBackwardData& desc);
[[nodiscard]] Planned plan(const ConvolutionBackwardWeights& desc);
/// Returns whether Winograd's algorithm F(4×4, 3×3) is tried for a convolution: with AVX-512, in
/// f32, for dense 3×3 windows without stride and groups, and for sizes for which it was measured to
/// be faster (docs/decisions/cpu-kernels.md). oneDNN may lack a kernel for it.
[[nodiscard]] bool is_for_winograd(const ConvolutionShape& shape, DType dtype);
/// Returns whether the window is 1×1, without stride, padding and groups: the output position of
/// each pixel reads this pixel only.
[[nodiscard]] bool is_pointwise(const ConvolutionShape& shape);
/// Computes the gradient of weights as one matrix product over all output positions of the batch,
/// with channels last. Requires a convolution without bias, groups and dilation.
[[nodiscard]] Planned plan_as_product(const ConvolutionBackwardWeights& desc);
/// Computes the gradient of the source as one matrix product over all output positions of the
/// batch, with channels last. Requires a 1×1 window without padding and groups.
[[nodiscard]] Planned plan_as_product(const ConvolutionBackwardData& desc);
/// Returns whether `plan_tap_loop` supports a convolution, in any layout of activations: depthwise
/// with one output per channel, an odd window of 3 to 9, and no dilation.
[[nodiscard]] bool has_tap_loop(const ConvolutionShape& shape);
/// Computes the gradient of the weights by a loop over the window's taps.
[[nodiscard]] Planned plan_tap_loop(const ConvolutionBackwardWeights& desc);
[[nodiscard]] Planned plan(const LinearForward& desc);
[[nodiscard]] Planned plan(const LinearBackwardData& desc);
[[nodiscard]] Planned plan(const LinearBackwardWeights& desc);
[[nodiscard]] Planned plan(const Gemm& desc);

[[nodiscard]] Planned plan(const BatchNormForward& desc);
[[nodiscard]] Planned plan(const BatchNormBackward& desc);
/// Computes batch normalisation in this project's loops. Requires channels last, and a number of
/// channels that is a multiple of 8.
[[nodiscard]] Planned plan_over_pixels(const BatchNormForward& desc);
[[nodiscard]] Planned plan_over_pixels(const BatchNormBackward& desc);
/// Moves the running statistics towards those of the batch. `arguments`: the arguments of the
/// operation.
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

// Transformers, optimisers and gradient clipping.
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
