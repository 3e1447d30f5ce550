// Refuses descriptions that make no sense before a library sees them, in words for people.
#include "kernels/ops/checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/base/error.h"

namespace parbench {
namespace {

void check_not_negative(std::string_view operation, std::string_view field, std::int64_t value) {
  if (value >= 0) return;
  throw UsageError(fmt::format("{}: {} is {}; it must not be negative", operation, field, value));
}

// `what` is the height or the width of an image.
void check_window(std::string_view operation, std::string_view what, std::int64_t extent,
                  std::int64_t kernel, std::int64_t padding) {
  if (extent + 2 * padding >= kernel) return;
  throw UsageError(fmt::format(
      "{}: a kernel of {} does not fit into the {} of {} with padding {}; use a larger image",
      operation, kernel, what, extent, padding));
}

}  // namespace

void check_positive(std::string_view operation, std::string_view field, std::int64_t value) {
  if (value >= 1) return;
  throw UsageError(fmt::format("{}: {} is {}; it must be at least 1", operation, field, value));
}

void check_extents(std::string_view operation, const Shape& shape) {
  if (!shape.empty() && std::ranges::all_of(shape, [](std::int64_t n) { return n >= 1; })) return;
  throw UsageError(fmt::format("{}: the shape is '{}'; every extent must be at least 1", operation,
                               to_string(shape)));
}

void check_shape(std::string_view operation, const Shape& shape, std::size_t rank) {
  if (shape.size() != rank) {
    throw UsageError(fmt::format("{}: the shape '{}' has {} dimensions; it must have {}", operation,
                                 to_string(shape), shape.size(), rank));
  }
  check_extents(operation, shape);
}

void check(std::string_view operation, const ConvolutionShape& shape) {
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

void check(std::string_view operation, const PoolingShape& shape) {
  check_shape(operation, shape.source, 4);
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

void check(std::string_view operation, const LinearShape& shape) {
  check_positive(operation, "batch", shape.batch);
  check_positive(operation, "in_features", shape.in_features);
  check_positive(operation, "out_features", shape.out_features);
}

void check_batch_norm(std::string_view operation, const Shape& shape) {
  check_shape(operation, shape, 4);
  (void)canonical(shape);  // its size fits 64 bits
  if (shape[0] * shape[2] * shape[3] >= 2) return;
  throw UsageError(
      fmt::format("{}: the shape '{}' has one value per channel; a variance needs at "
                  "least 2: use a larger batch or image",
                  operation, to_string(shape)));
}

void check(std::string_view operation, const BatchNormForward& desc) {
  check_batch_norm(operation, desc.shape);
  if (!desc.add || desc.relu) return;
  throw UsageError(fmt::format(
      "{}: add is set and relu is not; set relu, or add with a separate operation", operation));
}

void check(std::string_view operation, const Spin& spin) {
  if (spin.duration.count() < 0) {
    throw UsageError(fmt::format("{}: the duration is {} ns; it must not be negative", operation,
                                 spin.duration.count()));
  }
  if (spin.noise >= 0 && spin.noise <= 1) return;
  throw UsageError(
      fmt::format("{}: noise is {}; it must be a fraction from 0 to 1", operation, spin.noise));
}

}  // namespace parbench
