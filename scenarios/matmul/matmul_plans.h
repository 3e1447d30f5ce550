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

/// `count` products for each device, one after the other, each computed by all devices together:
/// every device multiplies x by its columns of w, and an all-gather gives each the whole result.
void plan_column_sharded(CaseParts& parts, const MatmulSizes& sizes);

/// The same with x divided by columns and w by rows: every device has a summand of the whole
/// result, and an all-reduce adds them up.
void plan_row_sharded(CaseParts& parts, const MatmulSizes& sizes);

}  // namespace parbench
