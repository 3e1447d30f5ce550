// Checks of all operations. There is one overload per operation, so that a new operation without
// checks does not compile.
#include "kernels/ops/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <variant>

#include "kernels/base/error.h"

namespace parbench {
namespace {

using Name = std::string_view;

void check_positive(Name operation, Name field, std::int64_t value) {
  if (value >= 1) return;
  throw UsageError(fmt::format("{}: {} is {}; it must be at least 1", operation, field, value));
}

void check_not_negative(Name operation, Name field, std::int64_t value) {
  if (value >= 0) return;
  throw UsageError(fmt::format("{}: {} is {}; it must not be negative", operation, field, value));
}

void check_extents(Name operation, const Shape& shape) {
  if (!shape.empty() && std::ranges::all_of(shape, [](std::int64_t n) { return n >= 1; })) return;
  throw UsageError(fmt::format("{}: the shape is '{}'; every extent must be at least 1", operation,
                               to_string(shape)));
}

void check_dimensions(Name operation, const Shape& shape, std::size_t dimensions) {
  if (shape.size() != dimensions) {
    throw UsageError(fmt::format("{}: the shape '{}' has {} dimensions; it must have {}", operation,
                                 to_string(shape), shape.size(), dimensions));
  }
  check_extents(operation, shape);
}

/// Checks the shape of an activation: {N, C}, {N, positions, C} or {N, C, H, W}.
void check_activation(Name operation, const Shape& shape) {
  if (shape.size() < 2 || shape.size() > 4) {
    throw UsageError(fmt::format("{}: the shape '{}' has {} dimensions; it must have 2 to 4",
                                 operation, to_string(shape), shape.size()));
  }
  check_extents(operation, shape);
}

// Checks that a window fits an image along one side. `what`: the height or the width; `padding`:
// the sum of the padding at both ends.
void check_window(Name operation, Name what, std::int64_t extent, std::int64_t kernel,
                  std::int64_t padding) {
  if (extent + padding >= kernel) return;
  throw UsageError(fmt::format(
      "{}: a kernel of {} does not fit into the {} of {} with padding of {} in all; use "
      "a larger image",
      operation, kernel, what, extent, padding));
}

void check_shape(Name operation, const ConvolutionShape& shape) {
  check_positive(operation, "batch", shape.batch);
  check_positive(operation, "in_channels", shape.in_channels);
  check_positive(operation, "out_channels", shape.out_channels);
  check_positive(operation, "height", shape.height);
  check_positive(operation, "width", shape.width);
  check_positive(operation, "kernel", shape.kernel);
  check_positive(operation, "stride", shape.stride);
  check_positive(operation, "groups", shape.groups);
  check_positive(operation, "dilation", shape.dilation);
  check_not_negative(operation, "padding", shape.padding);
  check_window(operation, "height", shape.height, shape.extent(), 2 * shape.padding);
  check_window(operation, "width", shape.width, shape.extent(), 2 * shape.padding);
  if (shape.in_channels % shape.groups != 0 || shape.out_channels % shape.groups != 0) {
    throw UsageError(fmt::format("{}: {} groups do not divide {} input and {} output channels",
                                 operation, shape.groups, shape.in_channels, shape.out_channels));
  }
}

void check_shape(Name operation, const PoolingShape& shape) {
  check_dimensions(operation, shape.source, 4);
  check_positive(operation, "kernel", shape.kernel);
  check_positive(operation, "stride", shape.stride);
  check_not_negative(operation, "padding", shape.padding);
  if (2 * shape.padding > shape.kernel) {
    throw UsageError(fmt::format("{}: padding {} is more than half of the kernel {}", operation,
                                 shape.padding, shape.kernel));
  }
  check_not_negative(operation, "trailing", shape.trailing);
  if (shape.trailing > 0 && shape.padding + shape.trailing >= shape.kernel) {
    throw UsageError(
        fmt::format("{}: padding {} and trailing {} could fill a window of {}; together they must "
                    "be less",
                    operation, shape.padding, shape.trailing, shape.kernel));
  }
  const std::int64_t padding = 2 * shape.padding + shape.trailing;
  check_window(operation, "height", shape.source[2], shape.kernel, padding);
  check_window(operation, "width", shape.source[3], shape.kernel, padding);
}

void check_shape(Name operation, const LinearShape& shape) {
  check_positive(operation, "batch", shape.batch);
  check_positive(operation, "in_features", shape.in_features);
  check_positive(operation, "out_features", shape.out_features);
}

void check_shape(Name operation, const LstmShape& shape) {
  check_positive(operation, "batch", shape.batch);
  check_positive(operation, "sequence", shape.sequence);
  check_positive(operation, "in_features", shape.in_features);
  check_positive(operation, "hidden", shape.hidden);
  (void)canonical({shape.batch, shape.sequence, 4, shape.hidden});  // throws beyond 64 bits
  (void)canonical({4, shape.hidden, shape.hidden});
  (void)canonical({4, shape.hidden, shape.in_features});
  (void)canonical(shape.source());
}

/// Checks operations of which only the shape may be invalid.
template <class Desc>
requires requires(const Desc& desc) { check_shape(Name(), desc.shape); }
void check_one(Name name, const Desc& desc) { check_shape(name, desc.shape); }

// Checks that a batch normalisation of this shape has a variance to compute.
void check_variance(Name operation, const Shape& shape) {
  check_dimensions(operation, shape, 4);
  (void)canonical(shape);  // throws beyond 64 bits
  if (shape[0] * shape[2] * shape[3] >= 2) return;
  throw UsageError(
      fmt::format("{}: the shape '{}' has one value per channel; a variance needs at "
                  "least 2: use a larger batch or image",
                  operation, to_string(shape)));
}

void check_one(Name name, const Add& desc) { check_activation(name, desc.shape); }
void check_one(Name name, const AddReluBackward& desc) { check_dimensions(name, desc.shape, 4); }
void check_one(Name name, const GlobalAveragePoolForward& desc) {
  check_dimensions(name, desc.source, 4);
}
void check_one(Name name, const GlobalAveragePoolBackward& desc) {
  check_dimensions(name, desc.source, 4);
}
void check_one(Name name, const BatchNormBackward& desc) { check_variance(name, desc.shape); }
void check_one(Name name, const Accumulate& desc) { check_positive(name, "count", desc.count); }
template <class Repeated>
void check_repeats(Name name, const Repeated& desc) {
  check_positive(name, "repeats", desc.repeats);
  check_positive(name, "count", desc.count);
}
void check_one(Name name, const AddRepeated& desc) { check_repeats(name, desc); }
void check_one(Name name, const SumRepeats& desc) { check_repeats(name, desc); }

void check_one(Name name, const Fill& desc) { check_positive(name, "count", desc.count); }
void check_one(Name name, const Discard& desc) { check_positive(name, "bytes", desc.bytes); }

void check_one(Name name, const BatchNormForward& desc) {
  check_variance(name, desc.shape);
  if (!desc.add || desc.relu) return;
  throw UsageError(fmt::format(
      "{}: add is set and relu is not; set relu, or add with a separate operation", name));
}

template <class Desc>
void check_function(Name name, const Desc& desc) {
  check_activation(name, desc.shape);
  if (desc.kind != ActivationKind::clip || desc.low < desc.high) return;
  throw UsageError(fmt::format("{}: the limits of clip are {} and {}; low must be less than high",
                               name, desc.low, desc.high));
}

void check_one(Name name, const ActivationForward& desc) { check_function(name, desc); }
void check_one(Name name, const ActivationBackward& desc) { check_function(name, desc); }

void check_one(Name name, const Gemm& desc) {
  check_positive(name, "m", desc.m);
  check_positive(name, "n", desc.n);
  check_positive(name, "k", desc.k);
  check_positive(name, "batch", desc.batch);
}

void check_one(Name name, const MseLoss& desc) {
  check_activation(name, desc.shape);
  if (desc.total_elements >= element_count(desc.shape)) return;
  throw UsageError(
      fmt::format("{}: total_elements is {}; it must be at least the {} elements of shape {}", name,
                  desc.total_elements, element_count(desc.shape), to_string(desc.shape)));
}

// Checks a value that must be in [0, 1): probability of dropout, momentum, betas of Adam.
void check_below_one(Name operation, Name field, float value) {
  if (value >= 0 && value < 1) return;
  throw UsageError(
      fmt::format("{}: {} is {}; it must be at least 0 and less than 1", operation, field, value));
}

void check_one(Name name, const Sgd& desc) {
  check_positive(name, "count", desc.count);
  check_below_one(name, "momentum", desc.momentum);
}

void check_one(Name name, const Adam& desc) {
  check_positive(name, "count", desc.count);
  check_below_one(name, "beta1", desc.beta1);
  check_below_one(name, "beta2", desc.beta2);
}

void check_one(Name name, const SquaredNorm& desc) { check_positive(name, "count", desc.count); }

void check_one(Name name, const ClipFactor& desc) {
  check_positive(name, "parts", desc.parts);
  if (desc.max_norm > 0) return;
  throw UsageError(fmt::format("{}: max_norm is {}; it must be positive", name, desc.max_norm));
}

// Checks a tensor whose order of elements matters. Images are refused, because their order depends
// on the device.
void check_rows(Name operation, const Shape& shape) {
  check_extents(operation, shape);
  if (shape.size() <= 3) return;
  throw UsageError(
      fmt::format("{}: the shape '{}' has {} dimensions, which devices arrange differently; "
                  "use 3 at most",
                  operation, to_string(shape), shape.size()));
}

void check_one(Name name, const LayerNormForward& desc) { check_rows(name, desc.shape); }
void check_one(Name name, const LayerNormBackward& desc) { check_rows(name, desc.shape); }

void check_one(Name name, const Dropout& desc) {
  check_extents(name, desc.shape);
  if (desc.shape.size() != 4) check_rows(name, desc.shape);
  check_not_negative(name, "first", desc.first);
  check_below_one(name, "probability", desc.probability);
}

void check_one(Name name, const Scale& desc) { check_activation(name, desc.shape); }

// Throws UsageError if a Reorder with an i32 tensor converts the type, or has a layout that is not
// canonical.
void check_copied_indices(Name name, const Reorder& desc) {
  if (desc.source.dtype != DType::i32 && desc.destination.dtype != DType::i32) return;
  if (desc.source == desc.destination && desc.source.layout.is_canonical()) return;
  throw UsageError(
      fmt::format("{}: {} to {}; indices can only be copied: use i32 and the canonical "
                  "layout on both sides",
                  name, to_string(desc.source.dtype), to_string(desc.destination.dtype)));
}

void check_one(Name name, const Reorder& desc) {
  check_extents(name, desc.source.shape);
  check_copied_indices(name, desc);
  if (desc.source.shape == desc.destination.shape) return;
  throw UsageError(fmt::format("{}: the shapes {} and {} differ", name,
                               to_string(desc.source.shape), to_string(desc.destination.shape)));
}

void check_one(Name name, const Spin& spin) {
  if (spin.duration.count() < 0) {
    throw UsageError(fmt::format("{}: the duration is {} ns; it must not be negative", name,
                                 spin.duration.count()));
  }
  if (spin.noise >= 0 && spin.noise <= 1) return;
  throw UsageError(
      fmt::format("{}: noise is {}; it must be a fraction from 0 to 1", name, spin.noise));
}

// Language models.

// Checks the number of rows of a table, which i32 indices must be able to address.
void check_table(Name operation, Name field, std::int64_t rows) {
  constexpr std::int64_t max_rows = std::numeric_limits<std::int32_t>::max();
  check_positive(operation, field, rows);
  if (rows <= max_rows) return;
  throw UsageError(
      fmt::format("{}: {} is {}; i32 indices need at most {}", operation, field, rows, max_rows));
}

template <class Desc>
void check_embedding(Name name, const Desc& desc) {
  check_table(name, "vocabulary", desc.vocabulary);
  check_positive(name, "width", desc.width);
  check_positive(name, "count", desc.count);
  (void)canonical({desc.vocabulary, desc.width});  // throws beyond 64 bits
  (void)canonical({desc.count, desc.width});
}
void check_one(Name name, const EmbeddingForward& desc) { check_embedding(name, desc); }
void check_one(Name name, const EmbeddingBackward& desc) { check_embedding(name, desc); }

void check_one(Name name, const SoftmaxCrossEntropy& desc) {
  check_positive(name, "rows", desc.rows);
  check_table(name, "classes", desc.classes);
  check_positive(name, "total", desc.total);
  (void)canonical({desc.rows, desc.classes});  // throws beyond 64 bits
}

template <class Desc>
void check_attention(Name name, const Desc& desc) {
  check_positive(name, "batch", desc.batch);
  check_positive(name, "sequence", desc.sequence);
  check_positive(name, "heads", desc.heads);
  check_positive(name, "head_size", desc.head_size);
  (void)canonical(
      {desc.batch, desc.sequence, 3, desc.heads, desc.head_size});  // throws beyond 64 bits
  (void)canonical({desc.batch, desc.heads, desc.sequence, desc.sequence});
}
void check_one(Name name, const AttentionForward& desc) { check_attention(name, desc); }
void check_one(Name name, const AttentionBackward& desc) { check_attention(name, desc); }

// Images.

template <class Desc>
void check_response_norm(Name name, const Desc& desc) {
  check_dimensions(name, desc.shape, 4);
  constexpr std::int64_t max = 1 << 20;
  if (desc.size < 1 || desc.size > max || desc.size % 2 == 0) {
    throw UsageError(
        fmt::format("{}: size is {}; it must be odd and from 1 to {}", name, desc.size, max));
  }
  if (desc.offset > 0 && desc.alpha >= 0) return;
  throw UsageError(
      fmt::format("{}: offset is {} and alpha {}; the offset must be positive and "
                  "alpha not negative, so that every power is of a positive number",
                  name, desc.offset, desc.alpha));
}
void check_one(Name name, const LocalResponseNormForward& desc) { check_response_norm(name, desc); }
void check_one(Name name, const LocalResponseNormBackward& desc) {
  check_response_norm(name, desc);
}

void check_range(Name name, const ChannelRange& range) {
  check_dimensions(name, range.whole, 4);
  check_not_negative(name, "first", range.first);
  check_positive(name, "count", range.count);
  if (range.first <= range.whole[1] && range.count <= range.whole[1] - range.first) return;
  throw UsageError(fmt::format("{}: {} channels from {} on are not within the {} channels", name,
                               range.count, range.first, range.whole[1]));
}
void check_one(Name name, const SliceChannels& desc) { check_range(name, desc.range); }
void check_one(Name name, const InsertChannels& desc) { check_range(name, desc.range); }

void check_one(Name name, const ShuffleChannels& desc) {
  check_dimensions(name, desc.shape, 4);
  check_positive(name, "groups", desc.groups);
  if (desc.shape[1] % desc.groups == 0) return;
  throw UsageError(
      fmt::format("{}: {} groups do not divide {} channels", name, desc.groups, desc.shape[1]));
}

void check_one(Name name, const AddChannelBias& desc) { check_dimensions(name, desc.shape, 4); }
void check_one(Name name, const SumChannels& desc) { check_dimensions(name, desc.shape, 4); }

void check_one(Name name, const PadImage& desc) {
  constexpr std::int64_t max = 1 << 20;  // so that sums fit 64 bits
  check_dimensions(name, desc.source, 4);
  const auto& [top, left, bottom, right] = desc.edges;
  for (const std::int64_t edge : {top, left, bottom, right}) {
    if (edge >= -max && edge <= max) continue;
    throw UsageError(
        fmt::format("{}: an edge is {}; it must be from {} to {}", name, edge, -max, max));
  }
  const auto is_left = [](std::int64_t extent, std::int64_t before, std::int64_t after) {
    return extent + std::min<std::int64_t>(before, 0) + std::min<std::int64_t>(after, 0) >= 1;
  };
  if (is_left(desc.source[2], top, bottom) && is_left(desc.source[3], left, right)) return;
  throw UsageError(fmt::format("{}: edges of {}, {}, {} and {} leave nothing of the image {}", name,
                               top, left, bottom, right, to_string(desc.source)));
}

void check_one(Name name, const Map& desc) { check_map(name, desc); }

/// Checks the type: operations compute in f32 or bf16.
template <class Desc>
void check_type(Name name, const Desc& desc) {
  if constexpr (requires { desc.dtype; }) {
    if (desc.dtype != DType::i32) return;
    throw UsageError(
        fmt::format("{}: the type is i32, which is for indices only; use f32 or bf16", name));
  }
}

}  // namespace

void check(const OpDesc& desc) {
  std::visit(
      [&](const auto& one) {
        check_type(name_of(desc), one);
        check_one(name_of(desc), one);
      },
      desc);
}

}  // namespace parbench
