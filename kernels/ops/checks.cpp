// Refuses descriptions that make no sense before a library sees them, in words for people. One
// overload per operation, so that a new one without checks does not compile.
#include "kernels/ops/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
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

void check_rank(Name operation, const Shape& shape, std::size_t rank) {
  if (shape.size() != rank) {
    throw UsageError(fmt::format("{}: the shape '{}' has {} dimensions; it must have {}", operation,
                                 to_string(shape), shape.size(), rank));
  }
  check_extents(operation, shape);
}

/// An activation: {N, C} or {N, C, H, W}.
void check_activation(Name operation, const Shape& shape) {
  if (shape.size() != 2 && shape.size() != 4) {
    throw UsageError(fmt::format("{}: the shape '{}' has {} dimensions; it must have 2 or 4",
                                 operation, to_string(shape), shape.size()));
  }
  check_extents(operation, shape);
}

// `what` is the height or the width of an image.
void check_window(Name operation, Name what, std::int64_t extent, std::int64_t kernel,
                  std::int64_t padding) {
  if (extent + 2 * padding >= kernel) return;
  throw UsageError(fmt::format(
      "{}: a kernel of {} does not fit into the {} of {} with padding {}; use a larger image",
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
  check_not_negative(operation, "padding", shape.padding);
  check_window(operation, "height", shape.height, shape.kernel, shape.padding);
  check_window(operation, "width", shape.width, shape.kernel, shape.padding);
  if (shape.in_channels % shape.groups != 0 || shape.out_channels % shape.groups != 0) {
    throw UsageError(fmt::format("{}: {} groups do not divide {} input and {} output channels",
                                 operation, shape.groups, shape.in_channels, shape.out_channels));
  }
}

void check_shape(Name operation, const PoolingShape& shape) {
  check_rank(operation, shape.source, 4);
  check_positive(operation, "kernel", shape.kernel);
  check_positive(operation, "stride", shape.stride);
  check_not_negative(operation, "padding", shape.padding);
  if (2 * shape.padding > shape.kernel) {
    throw UsageError(fmt::format("{}: padding {} is more than half of the kernel {}", operation,
                                 shape.padding, shape.kernel));
  }
  check_window(operation, "height", shape.source[2], shape.kernel, shape.padding);
  check_window(operation, "width", shape.source[3], shape.kernel, shape.padding);
}

void check_shape(Name operation, const LinearShape& shape) {
  check_positive(operation, "batch", shape.batch);
  check_positive(operation, "in_features", shape.in_features);
  check_positive(operation, "out_features", shape.out_features);
}

// A batch normalisation of the shape has a variance to compute.
void check_variance(Name operation, const Shape& shape) {
  check_rank(operation, shape, 4);
  (void)canonical(shape);  // its size fits 64 bits
  if (shape[0] * shape[2] * shape[3] >= 2) return;
  throw UsageError(
      fmt::format("{}: the shape '{}' has one value per channel; a variance needs at "
                  "least 2: use a larger batch or image",
                  operation, to_string(shape)));
}

void check_one(Name name, const ConvolutionForward& desc) { check_shape(name, desc.shape); }
void check_one(Name name, const ConvolutionBackwardData& desc) { check_shape(name, desc.shape); }
void check_one(Name name, const ConvolutionBackwardWeights& desc) { check_shape(name, desc.shape); }
void check_one(Name name, const MaxPoolForward& desc) { check_shape(name, desc.shape); }
void check_one(Name name, const MaxPoolBackward& desc) { check_shape(name, desc.shape); }
void check_one(Name name, const LinearForward& desc) { check_shape(name, desc.shape); }
void check_one(Name name, const LinearBackwardData& desc) { check_shape(name, desc.shape); }
void check_one(Name name, const LinearBackwardWeights& desc) { check_shape(name, desc.shape); }
void check_one(Name name, const ReluForward& desc) { check_activation(name, desc.shape); }
void check_one(Name name, const ReluBackward& desc) { check_activation(name, desc.shape); }
void check_one(Name name, const Add& desc) { check_activation(name, desc.shape); }
void check_one(Name name, const AddReluBackward& desc) { check_rank(name, desc.shape, 4); }
void check_one(Name name, const GlobalAveragePoolForward& desc) {
  check_rank(name, desc.source, 4);
}
void check_one(Name name, const GlobalAveragePoolBackward& desc) {
  check_rank(name, desc.source, 4);
}
void check_one(Name name, const BatchNormBackward& desc) { check_variance(name, desc.shape); }
void check_one(Name name, const Sgd& desc) { check_positive(name, "count", desc.count); }
void check_one(Name name, const Accumulate& desc) { check_positive(name, "count", desc.count); }
void check_one(Name name, const Fill& desc) { check_positive(name, "count", desc.count); }
void check_one(Name name, const Discard& desc) { check_positive(name, "bytes", desc.bytes); }

void check_one(Name name, const BatchNormForward& desc) {
  check_variance(name, desc.shape);
  if (!desc.add || desc.relu) return;
  throw UsageError(fmt::format(
      "{}: add is set and relu is not; set relu, or add with a separate operation", name));
}

void check_one(Name name, const Gemm& desc) {
  check_positive(name, "m", desc.m);
  check_positive(name, "n", desc.n);
  check_positive(name, "k", desc.k);
}

void check_one(Name name, const MseLoss& desc) {
  check_activation(name, desc.shape);
  if (desc.total_elements >= element_count(desc.shape)) return;
  throw UsageError(
      fmt::format("{}: total_elements is {}; it must be at least the {} elements of shape {}", name,
                  desc.total_elements, element_count(desc.shape), to_string(desc.shape)));
}

void check_one(Name name, const Reorder& desc) {
  check_extents(name, desc.source.shape);
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

}  // namespace

void check(const OpDesc& desc) {
  std::visit([&](const auto& one) { check_one(name_of(desc), one); }, desc);
}

}  // namespace parbench
