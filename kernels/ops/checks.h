// Checks of operation descriptions, with messages that name the operation, the field and the value.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/ops/ops.h"

namespace parbench {

/// Throws UsageError unless `value` is at least 1.
void check_positive(std::string_view operation, std::string_view field, std::int64_t value);

/// Throws UsageError unless the shape has that many dimensions, all of them at least 1.
void check_shape(std::string_view operation, const Shape& shape, std::size_t rank);

/// Throws UsageError unless all dimensions, of whatever number, are at least 1.
void check_extents(std::string_view operation, const Shape& shape);

/// Throws UsageError unless a batch normalisation of this shape has a variance to compute.
void check_batch_norm(std::string_view operation, const Shape& shape);
/// The same, and that an addition has its ReLU.
void check(std::string_view operation, const BatchNormForward& desc);

void check(std::string_view operation, const ConvolutionShape& shape);
void check(std::string_view operation, const PoolingShape& shape);
void check(std::string_view operation, const LinearShape& shape);
void check(std::string_view operation, const Spin& spin);

}  // namespace parbench
