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
/// `streams` lanes there; each product has its own result. `in_turn`: a device begins when the
/// previous one has ended. If the context has one device, that device computes the products of all
/// owners.
///
/// In all strategies, several x are squared in turn, so that the check detects the result of
/// another product in the same memory. There are `count` results for each owner, or, if products
/// are sharded, on each device (then at least two), so that no strategy has a warmer cache.
void plan_products(CaseParts& parts, const MatmulSizes& sizes, const std::vector<int>& owners,
                   int streams, bool in_turn);

/// How the second factor of x·x is divided over devices. Columns: each device multiplies x by its
/// columns of the second factor, and an all-gather gives each device the whole result. Rows: each
/// device multiplies the matching columns of x by its rows of the second factor, and an all-reduce
/// adds the results.
enum class Sharding { columns, rows };

/// Plans `count` products for each device, one after the other; all devices together compute each
/// product.
void plan_sharded_products(CaseParts& parts, const MatmulSizes& sizes, Sharding sharding);

}  // namespace parbench
