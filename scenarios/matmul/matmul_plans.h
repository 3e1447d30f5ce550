// Plans of scenario matmul: products one after the other, concurrently, and sharded over devices.
#pragma once

#include <cstdint>
#include <vector>

#include "scenarios/framework/prepared_case.h"

namespace parbench {

struct MatmulSizes {
  std::int64_t n = 1;
  std::int64_t count = 1;  // products per device
  DType dtype = DType::f32;
  MathMode math = MathMode::strict;

  [[nodiscard]] NumberFormat format() const { return {dtype, math}; }
};

/// Plans `count` independent products x·x on each of the devices `owners`, distributed over
/// `streams` lanes there; each has its own result. `in_turn`: a device begins when the previous one
/// has ended. With a context of one device, it computes the products of all owners.
///
/// In all strategies, several x are squared in turn, so that the result of another product in the
/// same memory is detected. A device has `count` results (at least two if sharded), so that no
/// strategy has a warmer cache.
void plan_products(CaseParts& parts, const MatmulSizes& sizes, const std::vector<int>& owners,
                   int streams, bool in_turn);

/// Plans `count` products for each device, one after the other, each computed by all devices
/// together: every device multiplies x by its columns of w, and an all-gather gives each the whole
/// result.
void plan_column_sharded(CaseParts& parts, const MatmulSizes& sizes);

/// Like plan_column_sharded, with x divided by columns and w by rows: every device computes a
/// summand of the whole result, and an all-reduce adds them.
void plan_row_sharded(CaseParts& parts, const MatmulSizes& sizes);

}  // namespace parbench
