// Descriptions of operations: one plain struct each, collected in OpDesc. A backend executes an
// operation or throws Unsupported. Operations on images only are in images.h, attention in
// attention.h, the LSTM in lstm.h, programs over strided tensors in map.h, Adam and the clipping of
// gradients in optimisers.h.
//
// Conventions of all descriptions:
// - Shapes are logical. Activations have the device's activation layout (Device::activation). The
//   planned operation chooses the layout of weights, and reports it in Op::arguments().
// - "Arguments" lists the operands in the order of the views of Op::enqueue; operands.h has the
//   same lists as data.
// - `math`: how f32 inputs may be rounded before they are multiplied, in sums of products.
// - `accumulate` adds the result to the previous value of the output instead of overwriting it.
// - Statistics, losses and parameter gradients are f32 whatever the activations' type.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "kernels/base/activation_kind.h"
#include "kernels/base/tensor.h"
#include "kernels/ops/attention.h"
#include "kernels/ops/images.h"
#include "kernels/ops/lstm.h"
#include "kernels/ops/map.h"
#include "kernels/ops/optimisers.h"

namespace parbench {

/// A two-dimensional convolution (cross-correlation) with a square kernel. Stride, dilation and
/// zero padding are the same vertically and horizontally; padding is added on all four sides.
/// `dilation` is the distance between neighbouring taps: 1 for a dense window.
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
  std::int64_t dilation = 1;

  /// Returns the number of rows or columns that the window spans, from its first tap to its last.
  [[nodiscard]] std::int64_t extent() const { return (kernel - 1) * dilation + 1; }
  [[nodiscard]] std::int64_t out_height() const {
    return (height + 2 * padding - extent()) / stride + 1;
  }
  [[nodiscard]] std::int64_t out_width() const {
    return (width + 2 * padding - extent()) / stride + 1;
  }
  [[nodiscard]] Shape source() const { return {batch, in_channels, height, width}; }
  [[nodiscard]] Shape destination() const {
    return {batch, out_channels, out_height(), out_width()};
  }
  [[nodiscard]] Shape weights() const {
    if (groups == 1) return {out_channels, in_channels, kernel, kernel};
    return {groups, out_channels / groups, in_channels / groups, kernel, kernel};
  }

  friend bool operator==(const ConvolutionShape&, const ConvolutionShape&) = default;
};

/// `relu` clamps the result at zero, for inference. Arguments: source, weights, [bias],
/// destination.
struct ConvolutionForward {
  ConvolutionShape shape;
  DType dtype = DType::f32;
  bool bias = false;
  MathMode math = MathMode::strict;
  bool relu = false;

  friend bool operator==(const ConvolutionForward&, const ConvolutionForward&) = default;
};

/// Arguments: diff_destination, weights, diff_source.
struct ConvolutionBackwardData {
  ConvolutionShape shape;
  DType dtype = DType::f32;
  MathMode math = MathMode::strict;

  friend bool operator==(const ConvolutionBackwardData&, const ConvolutionBackwardData&) = default;
};

/// Arguments: source, diff_destination, diff_weights (f32), [diff_bias (f32)].
struct ConvolutionBackwardWeights {
  ConvolutionShape shape;
  DType dtype = DType::f32;
  bool bias = false;
  bool accumulate = false;
  MathMode math = MathMode::strict;

  friend bool operator==(const ConvolutionBackwardWeights&,
                         const ConvolutionBackwardWeights&) = default;
};

/// Batch normalisation in training over {N, C, H, W}: y = scale·(x − mean)/sqrt(variance + epsilon)
/// + shift with the batch's own biased variance. As in PyTorch, running statistics move by
/// `momentum` towards those of the batch (with the unbiased variance). `relu` clamps y at zero and
/// writes a mask for BatchNormBackward. `add`, which needs `relu`, adds the addend to y before the
/// clamp, as at the end of a residual block; its mask is for AddReluBackward. Arguments: source,
/// scale, shift, running_mean, running_variance, destination (memory other than source's and
/// addend's), mean, variance, [mask], [addend]; per-channel arguments have shape {C}.
struct BatchNormForward {
  Shape shape;
  DType dtype = DType::f32;
  bool relu = false;
  float epsilon = 1e-5F;
  float momentum = 0.1F;
  bool add = false;

  friend bool operator==(const BatchNormForward&, const BatchNormForward&) = default;
};

/// Arguments: source, diff_destination, mean, variance, scale, shift, [mask], diff_source,
/// diff_scale, diff_shift. diff_source may be the same memory as diff_destination.
struct BatchNormBackward {
  Shape shape;
  DType dtype = DType::f32;
  bool relu = false;
  float epsilon = 1e-5F;
  bool accumulate = false;  // accumulate diff_scale and diff_shift

  friend bool operator==(const BatchNormBackward&, const BatchNormBackward&) = default;
};

/// destination = f(source) for each element. `low` and `high` are the limits of
/// ActivationKind::clip; other kinds ignore them. Arguments: source, destination (may be the same
/// memory).
struct ActivationForward {
  Shape shape;
  DType dtype = DType::f32;
  ActivationKind kind = ActivationKind::relu;
  float low = 0;
  float high = 6;

  friend bool operator==(const ActivationForward&, const ActivationForward&) = default;
};

/// diff_source = diff_destination·f'(source); the derivative of relu at 0 and of clip at both
/// limits is 0. Arguments: source or destination of the forward pass (see `backward_reads_source`),
/// diff_destination, diff_source (may be the same memory as diff_destination).
struct ActivationBackward {
  Shape shape;
  DType dtype = DType::f32;
  ActivationKind kind = ActivationKind::relu;
  float low = 0;
  float high = 6;

  friend bool operator==(const ActivationBackward&, const ActivationBackward&) = default;
};

/// destination = a + b. Arguments: a, b, destination (may be a's memory).
struct Add {
  Shape shape;
  DType dtype = DType::f32;

  friend bool operator==(const Add&, const Add&) = default;
};

/// The backward operation of the addition and the ReLU of a BatchNormForward with `add`, of the
/// same shape and type. diff_source = a (or a + b with `two_gradients`) where destination > 0,
/// otherwise 0. diff_source is the gradient of both the normalised tensor and the addend.
/// Arguments: mask, a, [b], diff_source (may be a's or b's memory).
struct AddReluBackward {
  Shape shape;
  DType dtype = DType::f32;
  bool two_gradients = true;

  friend bool operator==(const AddReluBackward&, const AddReluBackward&) = default;
};

/// A fully connected layer: {N, in} to {N, out}, weights {out, in}.
struct LinearShape {
  std::int64_t batch = 1;
  std::int64_t in_features = 1;
  std::int64_t out_features = 1;

  [[nodiscard]] Shape source() const { return {batch, in_features}; }
  [[nodiscard]] Shape destination() const { return {batch, out_features}; }
  [[nodiscard]] Shape weights() const { return {out_features, in_features}; }

  friend bool operator==(const LinearShape&, const LinearShape&) = default;
};

/// Arguments: source, weights, [bias], destination.
struct LinearForward {
  LinearShape shape;
  DType dtype = DType::f32;
  MathMode math = MathMode::strict;
  bool bias = true;

  friend bool operator==(const LinearForward&, const LinearForward&) = default;
};

/// Arguments: diff_destination, weights, diff_source.
struct LinearBackwardData {
  LinearShape shape;
  DType dtype = DType::f32;
  MathMode math = MathMode::strict;

  friend bool operator==(const LinearBackwardData&, const LinearBackwardData&) = default;
};

/// Arguments: source, diff_destination, diff_weights (f32), [diff_bias (f32)].
struct LinearBackwardWeights {
  LinearShape shape;
  DType dtype = DType::f32;
  bool accumulate = false;
  MathMode math = MathMode::strict;
  bool bias = true;

  friend bool operator==(const LinearBackwardWeights&, const LinearBackwardWeights&) = default;
};

/// c = op(a)·op(b) [+ c], row-major and canonical on every device: op(a) is {m, k}, op(b) {k, n}, c
/// {m, n}; a transposed operand is stored as {k, m} or {n, k}. Each operand consists of `batch`
/// consecutive matrices. Arguments: a, b, c.
struct Gemm {
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
  DType dtype = DType::f32;
  bool transpose_a = false;
  bool transpose_b = false;
  bool accumulate = false;
  MathMode math = MathMode::strict;
  std::int64_t batch = 1;

  friend bool operator==(const Gemm&, const Gemm&) = default;
};

/// Mean squared error of one micro-batch of a batch, and its gradient: loss [+]= Σ(prediction −
/// target)² / total_elements, diff = 2(prediction − target)/total_elements, where `total_elements`
/// counts the whole batch, so that micro-batches add up to the batch's mean. Loss is one f32.
/// Arguments: prediction, target, loss, diff_prediction.
struct MseLoss {
  Shape shape;
  DType dtype = DType::f32;
  std::int64_t total_elements = 0;
  bool accumulate = false;  // add to the loss

  friend bool operator==(const MseLoss&, const MseLoss&) = default;
};

/// An update of gradient descent on flat f32: parameters −= learning_rate · gradients. With
/// `momentum` as in torch.optim.SGD without dampening: velocity = momentum · velocity + gradients,
/// and parameters −= learning_rate · velocity; the velocity is zero before the first step. With
/// `clipped`, the gradients are first multiplied by `factor` (one f32). Arguments: parameters,
/// gradients, [velocity, if momentum > 0], [factor].
struct Sgd {
  std::int64_t count = 0;
  float learning_rate = 0.001F;
  float momentum = 0;
  bool clipped = false;

  friend bool operator==(const Sgd&, const Sgd&) = default;
};

/// destination += source, flat f32: the arithmetic of a reduction between devices.
/// Arguments: source, destination.
struct Accumulate {
  std::int64_t count = 0;

  friend bool operator==(const Accumulate&, const Accumulate&) = default;
};

/// destination[r][i] = source[r][i] + addend[i]: a table of positions added to each sample of a
/// batch. Arguments: source {repeats, count}, addend {count}, destination (may be source's memory).
struct AddRepeated {
  std::int64_t repeats = 1;
  std::int64_t count = 1;
  DType dtype = DType::f32;

  friend bool operator==(const AddRepeated&, const AddRepeated&) = default;
};

/// diff_addend[i] = Σ over r of diff_destination[r][i], in the order of r: the backward operation
/// of AddRepeated. Arguments: diff_destination, diff_addend (f32).
struct SumRepeats {
  std::int64_t repeats = 1;
  std::int64_t count = 1;
  DType dtype = DType::f32;
  bool accumulate = false;

  friend bool operator==(const SumRepeats&, const SumRepeats&) = default;
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
  std::uint64_t subsequence = 0;  // tensors with different numbers are independent

  friend bool operator==(const Fill&, const Fill&) = default;
};

/// Copies a tensor to another layout or element type of the same shape. Arguments: source,
/// destination.
struct Reorder {
  TensorDesc source;
  TensorDesc destination;

  friend bool operator==(const Reorder&, const Reorder&) = default;
};

/// Keeps its stream busy for `duration` times a random factor, which is uniform in [1 − noise, 1 +
/// noise] and drawn at every execution. Counts its executions, so that a result can be verified.
/// Arguments: counter (one u64, incremented).
struct Spin {
  std::chrono::nanoseconds duration{0};
  double noise = 0;  // fraction, 0 to 1
  std::uint64_t seed = 0;

  friend bool operator==(const Spin&, const Spin&) = default;
};

/// Puts pageable host memory into the state of newly allocated memory: its pages return to the
/// system, and the next write to each page allocates a new page. Pages that are only partly within
/// the memory are kept. The content becomes undefined. Arguments: memory.
struct Discard {
  std::int64_t bytes = 0;

  friend bool operator==(const Discard&, const Discard&) = default;
};

// Normalisation, dropout and scaling of transformers.

/// Layer normalisation over the last dimension; all others together are rows: destination = scale ·
/// (source − mean)/sqrt(variance + epsilon) + shift with each row's own mean and biased variance
/// (Ba, Kiros, Hinton 2016: "Layer Normalization"). Up to three dimensions, canonical on every
/// device. Arguments: source, scale, shift, destination (may be source's memory), mean, variance;
/// scale and shift have the extent of the last dimension, mean and variance one element per row,
/// all f32.
struct LayerNormForward {
  Shape shape;
  DType dtype = DType::f32;
  float epsilon = 1e-5F;

  friend bool operator==(const LayerNormForward&, const LayerNormForward&) = default;
};

/// Arguments: source, diff_destination, mean, variance, scale, diff_source (may be
/// diff_destination's memory), diff_scale, diff_shift.
struct LayerNormBackward {
  Shape shape;
  DType dtype = DType::f32;
  float epsilon = 1e-5F;
  bool accumulate = false;  // accumulate diff_scale and diff_shift

  friend bool operator==(const LayerNormBackward&, const LayerNormBackward&) = default;
};

/// Sets each element to zero with a probability and divides the others by 1 − probability
/// (Srivastava et al. 2014: "Dropout"). Element i is kept if u ≥ probability, where u in [0, 1) is
/// the number that Fill draws at index first + i. The same elements are therefore dropped in a
/// micro-batch that begins at `first` and in the whole batch. The index i counts elements in
/// canonical order, whatever the layout. The backward operation is the same operation on the
/// gradient. Arguments: source, destination (may be the same memory).
struct Dropout {
  Shape shape;
  DType dtype = DType::f32;
  float probability = 0.1F;
  std::uint64_t seed = 0;
  std::uint64_t subsequence = 0;  // layers and steps with different numbers are independent
  std::int64_t first = 0;         // elements of the batch before this tensor

  friend bool operator==(const Dropout&, const Dropout&) = default;
};

/// destination = factor · source + addend. Arguments: source, destination (may be the same memory).
struct Scale {
  Shape shape;
  DType dtype = DType::f32;
  float factor = 1;
  float addend = 0;

  friend bool operator==(const Scale&, const Scale&) = default;
};

// Language models: indices into tables, their loss, and attention.

/// Rows of a table: destination[i] = weights[indices[i]]. Arguments: indices (i32 {count}, each at
/// least 0 and below `vocabulary`, which is not checked), weights {vocabulary, width}, destination
/// {count, width}.
struct EmbeddingForward {
  std::int64_t vocabulary = 1;
  std::int64_t width = 1;
  std::int64_t count = 1;
  DType dtype = DType::f32;

  friend bool operator==(const EmbeddingForward&, const EmbeddingForward&) = default;
};

/// diff_weights[v] [+]= Σ diff_destination[i] over the i with indices[i] = v, added in f32 in
/// ascending order of i. Rows that no index names become zero; with `accumulate` they are
/// unchanged. Arguments: indices (i32 {count}), diff_destination {count, width}, diff_weights (f32
/// {vocabulary, width}).
struct EmbeddingBackward {
  std::int64_t vocabulary = 1;
  std::int64_t width = 1;
  std::int64_t count = 1;
  DType dtype = DType::f32;
  bool accumulate = false;

  friend bool operator==(const EmbeddingBackward&, const EmbeddingBackward&) = default;
};

/// Cross-entropy of the softmax of each row, for one micro-batch of a batch, and its gradient:
/// loss [+]= Σ (log Σ exp(logits) − logit of the target) / total over the rows whose target is not
/// `ignored`; diff_logits = (softmax(logits) − one_hot(target)) / total in those rows, 0 in the
/// others. `total` counts the rows of the whole batch that are not ignored, so that micro-batches
/// add up to the batch's mean. Arguments: logits {rows, classes}, target (i32 {rows}, each
/// `ignored`, or at least 0 and below `classes`, which is not checked), loss (one f32), diff_logits
/// {rows, classes} (may be logits' memory).
struct SoftmaxCrossEntropy {
  std::int64_t rows = 1;
  std::int64_t classes = 1;
  DType dtype = DType::f32;
  std::int64_t total = 1;
  std::int32_t ignored = -1;
  bool accumulate = false;  // add to the loss

  friend bool operator==(const SoftmaxCrossEntropy&, const SoftmaxCrossEntropy&) = default;
};

using OpDesc = std::variant<
    ConvolutionForward, ConvolutionBackwardData, ConvolutionBackwardWeights, BatchNormForward,
    BatchNormBackward, ActivationForward, ActivationBackward, Add, AddReluBackward, MaxPoolForward,
    MaxPoolBackward, GlobalAveragePoolForward, GlobalAveragePoolBackward, LinearForward,
    LinearBackwardData, LinearBackwardWeights, Gemm, MseLoss, Sgd, Accumulate, AddRepeated,
    SumRepeats, Fill, Reorder, Spin, Discard, LayerNormForward, LayerNormBackward, Dropout, Scale,
    Adam, SquaredNorm, ClipFactor, EmbeddingForward, EmbeddingBackward, SoftmaxCrossEntropy,
    AttentionForward, AttentionBackward, LstmForward, LstmBackwardData, LstmBackwardWeights,
    AveragePoolForward, AveragePoolBackward, LocalResponseNormForward, LocalResponseNormBackward,
    SliceChannels, InsertChannels, ShuffleChannels, AddChannelBias, SumChannels, PadImage, Map>;

/// Returns the struct's name in lower case with underscores: "convolution_forward".
[[nodiscard]] std::string_view name_of(const OpDesc& desc);

/// Returns the number format that a device must support; nothing for Fill and for operations whose
/// description has no type, such as Reorder, Spin and Sgd.
[[nodiscard]] std::optional<NumberFormat> format_of(const OpDesc& desc);

}  // namespace parbench
