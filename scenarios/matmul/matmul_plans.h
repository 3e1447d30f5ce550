// Plans of scenario matmul: products by themselves, side by side, and sharded over devices.
#pragma once

#include <cstdint>
#include <vector>

#include "scenarios/framework/prepared_case.h"

namespace parbench {

struct MatmulSizes {
  std::int64_t n = 1;
  std::int64_t count = 1;  // products for each device
  DType dtype = DType::f32;
  MathMode math = MathMode::strict;

  [[nodiscard]] NumberFormat format() const { return {dtype, math}; }
};

/// `count` independent products x·x on each of the devices `owners`, dealt out to `streams` lanes
/// there; each has a result of its own. `in_turn`: a device begins when the one before has ended. A
/// context of one device computes the products of all owners there.
///
/// In all strategies several x are squared in turn, so that a result that is left over from another
/// product is a wrong one, and a device has `count` results (at least two when sharded), so that
/// none works from a warmer cache than another.
void plan_products(CaseParts& parts, const MatmulSizes& sizes, const std::vector<int>& owners,
                   int streams, bool in_turn);

/// Which part of the second factor w each device has: columns, by which it multiplies x, and an
/// all-gather gives each device the whole result; or rows, by which it multiplies columns of x, and
/// an all-reduce adds up the summands.
enum class Sharding { columns, rows };

/// `count` products for each device, one after the other, each computed by all devices together.
void plan_sharded_products(CaseParts& parts, const MatmulSizes& sizes, Sharding sharding);

}  // namespace parbench
