// The operations that every backend answers for: one plain struct each, collected in OpDesc.
//
// Conventions, for all of them:
// - Shapes are logical. Activations lie in the device's activation layout (Device::activation); in
//   weights, the planned operation chooses the layout and reports it in Op::arguments().
// - The list behind "arguments" is the order in which Op::enqueue takes its views; operands.h has
//   it as data.
// - `math` of those that sum products: what may become of f32 inputs before they are multiplied.
// - `accumulate` adds the result to what the output holds instead of overwriting it.
// - Statistics, losses and parameter gradients are f32 whatever the activations' type.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "kernels/base/tensor.h"

namespace parbench {

/// A two-dimensional convolution (cross-correlation) with square kernel, equal stride and symmetric
/// zero padding in both directions.
struct ConvolutionShape {
  std::int64_t batch = 1;
  std::int64_t in_channels = 1;
  std::int64_t height = 1;
  std::int64_t width = 1;
  std::int64_t out_channels = 1;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  std::int64_t groups = 1;

  [[nodiscard]] std::int64_t out_height() const {
    return (height + 2 * padding - kernel) / stride + 1;
  }
  [[nodiscard]] std::int64_t out_width() const {
    return (width + 2 * padding - kernel) / stride + 1;
  }
  [[nodiscard]] Shape source() const { return {batch, in_channels, height, width}; }
  [[nodiscard]] Shape destination() const {
    return {batch, out_channels, out_height(), out_width()};
  }
  [[nodiscard]] Shape weights() const {
    if (groups == 1) return {out_channels, in_channels, kernel, kernel};
    return {groups, out_channels / groups, in_channels / groups, kernel, kernel};
  }
};

/// Arguments: source, weights, [bias], destination.
struct ConvolutionForward {
  ConvolutionShape shape;
  DType dtype = DType::f32;
  bool bias = false;
  MathMode math = MathMode::strict;
};

/// Arguments: diff_destination, weights, diff_source.
struct ConvolutionBackwardData {
  ConvolutionShape shape;
  DType dtype = DType::f32;
  MathMode math = MathMode::strict;
};

/// Arguments: source, diff_destination, diff_weights (f32), [diff_bias (f32)].
struct ConvolutionBackwardWeights {
  ConvolutionShape shape;
  DType dtype = DType::f32;
  bool bias = false;
  bool accumulate = false;
  MathMode math = MathMode::strict;
};

/// Batch normalisation in training over {N, C, H, W}: y = scale·(x − mean)/sqrt(variance + epsilon)
/// + shift with the batch's own biased variance; running statistics move by `momentum` towards the
/// batch's (variance unbiased), as in PyTorch. `relu` clamps y at zero and leaves a mask for
/// BatchNormBackward. `add`, which needs `relu`, adds the addend to y before the clamp, as at the
/// end of a residual block; its mask is for AddReluBackward. Arguments: source, scale, shift,
/// running_mean, running_variance, destination (neither source's nor addend's memory), mean,
/// variance, [mask], [addend]; the per-channel ones have shape {C}.
struct BatchNormForward {
  Shape shape;
  DType dtype = DType::f32;
  bool relu = false;
  float epsilon = 1e-5F;
  float momentum = 0.1F;
  bool add = false;
};

/// Arguments: source, diff_destination, mean, variance, scale, shift, [mask], diff_source,
/// diff_scale, diff_shift. diff_source may be the same memory as diff_destination.
struct BatchNormBackward {
  Shape shape;
  DType dtype = DType::f32;
  bool relu = false;
  float epsilon = 1e-5F;
  bool accumulate = false;  // of diff_scale and diff_shift
};

/// Arguments: source, destination (may be the same memory).
struct ReluForward {
  Shape shape;
  DType dtype = DType::f32;
};

/// diff_source = diff_destination where destination > 0, else 0.
/// Arguments: destination (of the forward pass), diff_destination, diff_source (may be the same
/// memory as diff_destination).
struct ReluBackward {
  Shape shape;
  DType dtype = DType::f32;
};

/// destination = a + b. Arguments: a, b, destination (may be a's memory).
struct Add {
  Shape shape;
  DType dtype = DType::f32;
};

/// The backward step of the addition and the ReLU of a BatchNormForward with `add`, of the same
/// shape and type: diff_source = a, or a + b with `two_gradients`, where destination > 0, else 0.
/// diff_source is the gradient of both the normalised tensor and the addend. Arguments: mask, a,
/// [b], diff_source (may be a's or b's memory).
struct AddReluBackward {
  Shape shape;
  DType dtype = DType::f32;
  bool two_gradients = true;
};

/// Pooling window: square, with symmetric padding that never wins a maximum.
struct PoolingShape {
  Shape source;  // {N, C, H, W}
  std::int64_t kernel = 2;
  std::int64_t stride = 2;
  std::int64_t padding = 0;

  [[nodiscard]] Shape destination() const {
    return {source[0], source[1], (source[2] + 2 * padding - kernel) / stride + 1,
            (source[3] + 2 * padding - kernel) / stride + 1};
  }
};

/// Arguments: source, destination, indices (opaque, for backward).
struct MaxPoolForward {
  PoolingShape shape;
  DType dtype = DType::f32;
};

/// Arguments: diff_destination, indices, diff_source.
struct MaxPoolBackward {
  PoolingShape shape;
  DType dtype = DType::f32;
};

/// Returns the shape of the means over H and W: {N, C} of {N, C, H, W}.
[[nodiscard]] inline Shape shape_of_means(const Shape& source) { return {source[0], source[1]}; }

/// Mean over H and W: {N, C, H, W} to {N, C}. Arguments: source, destination.
struct GlobalAveragePoolForward {
  Shape source;
  DType dtype = DType::f32;
};

/// Arguments: diff_destination, diff_source.
struct GlobalAveragePoolBackward {
  Shape source;
  DType dtype = DType::f32;
};

/// A fully connected layer: {N, in} to {N, out}, weights {out, in}.
struct LinearShape {
  std::int64_t batch = 1;
  std::int64_t in_features = 1;
  std::int64_t out_features = 1;

  [[nodiscard]] Shape source() const { return {batch, in_features}; }
  [[nodiscard]] Shape destination() const { return {batch, out_features}; }
  [[nodiscard]] Shape weights() const { return {out_features, in_features}; }
};

/// Arguments: source, weights, bias, destination.
struct LinearForward {
  LinearShape shape;
  DType dtype = DType::f32;
  MathMode math = MathMode::strict;
};

/// Arguments: diff_destination, weights, diff_source.
struct LinearBackwardData {
  LinearShape shape;
  DType dtype = DType::f32;
  MathMode math = MathMode::strict;
};

/// Arguments: source, diff_destination, diff_weights (f32), diff_bias (f32).
struct LinearBackwardWeights {
  LinearShape shape;
  DType dtype = DType::f32;
  bool accumulate = false;
  MathMode math = MathMode::strict;
};

/// c = op(a)·op(b) [+ c], row-major and canonical on every device: op(a) is {m, k}, op(b) {k, n}, c
/// {m, n}; a transposed operand is stored as {k, m} or {n, k}. Arguments: a, b, c.
struct Gemm {
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
  DType dtype = DType::f32;
  bool transpose_a = false;
  bool transpose_b = false;
  bool accumulate = false;
  MathMode math = MathMode::strict;
};

/// Mean squared error of one micro-batch of a batch, and its gradient: loss [+]= Σ(prediction −
/// target)² / total_elements, diff = 2(prediction − target)/total_elements, where `total_elements`
/// counts the whole batch, so that micro-batches add up to the batch's mean. Loss is one f32.
/// Arguments: prediction, target, loss, diff_prediction.
struct MseLoss {
  Shape shape;
  DType dtype = DType::f32;
  std::int64_t total_elements = 0;
  bool accumulate = false;  // of the loss
};

/// parameters −= learning_rate · gradients, flat f32. Arguments: parameters, gradients.
struct Sgd {
  std::int64_t count = 0;
  float learning_rate = 0.001F;
};

/// destination += source, flat f32: the arithmetic of a reduction between devices.
/// Arguments: source, destination.
struct Accumulate {
  std::int64_t count = 0;
};

enum class Distribution { uniform, normal, constant };

/// Fills a canonical tensor with numbers of kernels/base/random.h, the same on every backend:
/// uniform in [low, high), normal with mean `low` and standard deviation `high`, or the constant
/// `low`. Arguments: destination.
struct Fill {
  std::int64_t count = 0;
  DType dtype = DType::f32;
  Distribution distribution = Distribution::uniform;
  float low = -1.0F;
  float high = 1.0F;
  std::uint64_t seed = 0;
  std::uint64_t subsequence = 0;  // which tensor: different ones are independent
};

/// Copies between layouts and element types of one shape. Arguments: source, destination.
struct Reorder {
  TensorDesc source;
  TensorDesc destination;
};

/// Keeps its stream busy for a known time: `duration` times a factor drawn anew at every execution,
/// uniform in [1 − noise, 1 + noise]. Counts its executions, so that a result can be verified.
/// Arguments: counter (one u64, incremented).
struct Spin {
  std::chrono::nanoseconds duration{0};
  double noise = 0;  // fraction, 0 to 1
  std::uint64_t seed = 0;
};

/// Gives pageable host memory the state of newly allocated memory: its pages go back to the system,
/// and the next write to each takes a new one. Pages that are only partly within the memory stay.
/// The content becomes undefined. Arguments: memory.
struct Discard {
  std::int64_t bytes = 0;
};

using OpDesc = std::variant<ConvolutionForward, ConvolutionBackwardData, ConvolutionBackwardWeights,
                            BatchNormForward, BatchNormBackward, ReluForward, ReluBackward, Add,
                            AddReluBackward, MaxPoolForward, MaxPoolBackward,
                            GlobalAveragePoolForward, GlobalAveragePoolBackward, LinearForward,
                            LinearBackwardData, LinearBackwardWeights, Gemm, MseLoss, Sgd,
                            Accumulate, Fill, Reorder, Spin, Discard>;

/// "convolution_forward" and so on: the struct's name in lower case with underscores.
[[nodiscard]] std::string_view name_of(const OpDesc& desc);

/// The number format that a device must be able to compute in; nothing for operations that only
/// move, fill or take time, and for those on f32 alone.
[[nodiscard]] std::optional<NumberFormat> format_of(const OpDesc& desc);

}  // namespace parbench
