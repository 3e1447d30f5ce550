// Operations on images only: pooling, local response normalisation, operations on channels,
// padding. For conventions see ops.h.
#pragma once

#include <cstdint>

#include "kernels/base/tensor.h"

namespace parbench {

/// Square windows of a pooling, with the same stride and padding in both directions. A maximum
/// ignores the padding.
struct PoolingShape {
  Shape source;  // {N, C, H, W}
  std::int64_t kernel = 2;
  std::int64_t stride = 2;
  std::int64_t padding = 0;
  std::int64_t trailing = 0;  // further rows of padding at the bottom and columns on the right

  [[nodiscard]] Shape destination() const {
    const std::int64_t room = 2 * padding + trailing - kernel;
    return {source[0], source[1], (source[2] + room) / stride + 1, (source[3] + room) / stride + 1};
  }

  friend bool operator==(const PoolingShape&, const PoolingShape&) = default;
};

/// Arguments: source, destination, indices (opaque, for backward).
struct MaxPoolForward {
  PoolingShape shape;
  DType dtype = DType::f32;

  friend bool operator==(const MaxPoolForward&, const MaxPoolForward&) = default;
};

/// Arguments: diff_destination, indices, diff_source.
struct MaxPoolBackward {
  PoolingShape shape;
  DType dtype = DType::f32;

  friend bool operator==(const MaxPoolBackward&, const MaxPoolBackward&) = default;
};

/// Returns the shape of the means over H and W: {N, C} of {N, C, H, W}.
[[nodiscard]] inline Shape shape_of_means(const Shape& source) { return {source[0], source[1]}; }

/// Mean over H and W, from {N, C, H, W} to {N, C}. Arguments: source, destination.
struct GlobalAveragePoolForward {
  Shape source;
  DType dtype = DType::f32;

  friend bool operator==(const GlobalAveragePoolForward&,
                         const GlobalAveragePoolForward&) = default;
};

/// Arguments: diff_destination, diff_source.
struct GlobalAveragePoolBackward {
  Shape source;
  DType dtype = DType::f32;

  friend bool operator==(const GlobalAveragePoolBackward&,
                         const GlobalAveragePoolBackward&) = default;
};

/// The mean of each window: over its elements inside the image, or with `count_padding` over all
/// kernel² elements. Arguments: source, destination.
struct AveragePoolForward {
  PoolingShape shape;
  DType dtype = DType::f32;
  bool count_padding = false;

  friend bool operator==(const AveragePoolForward&, const AveragePoolForward&) = default;
};

/// Arguments: diff_destination, diff_source.
struct AveragePoolBackward {
  PoolingShape shape;
  DType dtype = DType::f32;
  bool count_padding = false;

  friend bool operator==(const AveragePoolBackward&, const AveragePoolBackward&) = default;
};

/// Local response normalisation over channels (Krizhevsky, Sutskever, Hinton 2012: "ImageNet
/// Classification with Deep Convolutional Neural Networks", section 3.3): destination = source ·
/// (offset + alpha/size · Σ source²)^−beta, the sum over the channels that are at most (size − 1)/2
/// away; size is odd. Arguments: source, destination, saved (opaque, for the backward operation).
struct LocalResponseNormForward {
  Shape shape;  // {N, C, H, W}
  DType dtype = DType::f32;
  std::int64_t size = 5;
  float alpha = 1e-4F;
  float beta = 0.75F;
  float offset = 1;

  friend bool operator==(const LocalResponseNormForward&,
                         const LocalResponseNormForward&) = default;
};

/// Arguments: source, diff_destination, saved, diff_source.
struct LocalResponseNormBackward {
  Shape shape;
  DType dtype = DType::f32;
  std::int64_t size = 5;
  float alpha = 1e-4F;
  float beta = 0.75F;
  float offset = 1;

  friend bool operator==(const LocalResponseNormBackward&,
                         const LocalResponseNormBackward&) = default;
};

/// The channels [first, first + count) of an image {N, C, H, W}.
struct ChannelRange {
  Shape whole;
  std::int64_t first = 0;
  std::int64_t count = 1;

  [[nodiscard]] Shape part() const { return {whole[0], count, whole[2], whole[3]}; }

  friend bool operator==(const ChannelRange&, const ChannelRange&) = default;
};

/// destination = the selected channels of source. Arguments: source, destination.
struct SliceChannels {
  ChannelRange range;
  DType dtype = DType::f32;

  friend bool operator==(const SliceChannels&, const SliceChannels&) = default;
};

/// Selected channels of destination = source; other channels are unchanged. One such operation per
/// input concatenates images; SliceChannels is the backward operation. Arguments: source,
/// destination.
struct InsertChannels {
  ChannelRange range;
  DType dtype = DType::f32;

  friend bool operator==(const InsertChannels&, const InsertChannels&) = default;
};

/// destination's channel j·groups + i = source's channel i·(C/groups) + j (Zhang et al. 2017:
/// "ShuffleNet"). The backward operation is the same operation with C/groups in place of `groups`.
/// Arguments: source, destination.
struct ShuffleChannels {
  Shape shape;  // {N, C, H, W}
  std::int64_t groups = 1;
  DType dtype = DType::f32;

  friend bool operator==(const ShuffleChannels&, const ShuffleChannels&) = default;
};

/// destination = source + the bias of its channel. Arguments: source, bias {C} (f32), destination
/// (may be source's memory).
struct AddChannelBias {
  Shape shape;  // {N, C, H, W}
  DType dtype = DType::f32;

  friend bool operator==(const AddChannelBias&, const AddChannelBias&) = default;
};

/// Backward operation of AddChannelBias: sums over samples, rows and columns for each channel.
/// Arguments: diff_destination, diff_bias {C} (f32).
struct SumChannels {
  Shape shape;  // {N, C, H, W}
  DType dtype = DType::f32;
  bool accumulate = false;

  friend bool operator==(const SumChannels&, const SumChannels&) = default;
};

/// Rows and columns of zeros that are added at the edges of an image; negative numbers remove rows
/// and columns.
struct Edges {
  std::int64_t top = 0;
  std::int64_t left = 0;
  std::int64_t bottom = 0;
  std::int64_t right = 0;

  /// Returns the edges that remove added rows and columns, and add removed ones.
  [[nodiscard]] Edges reversed() const { return {-top, -left, -bottom, -right}; }

  friend bool operator==(const Edges&, const Edges&) = default;
};

/// destination = source with these edges, as torch.nn.functional.pad. The backward operation is the
/// same operation with the reversed edges. Arguments: source, destination.
struct PadImage {
  Shape source;  // {N, C, H, W}
  Edges edges;
  DType dtype = DType::f32;

  [[nodiscard]] Shape destination() const {
    return {source[0], source[1], source[2] + edges.top + edges.bottom,
            source[3] + edges.left + edges.right};
  }

  friend bool operator==(const PadImage&, const PadImage&) = default;
};

}  // namespace parbench
