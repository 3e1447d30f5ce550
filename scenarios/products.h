// Matrix products of scenario matmul: their operands, results and naive checks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scenarios/prepared_case.h"

namespace parbench {

/// A result {n, n} as blocks of columns, each canonical {n, columns} by itself.
struct ProductResult {
  std::vector<Tensor> column_blocks;
};

/// What one device has computed: every result is the same product x·x.
struct DeviceResults {
  int device = 0;
  Tensor x;
  std::vector<ProductResult> results;
};

/// Rows [first, first + count) of a result, canonical.
[[nodiscard]] std::vector<float> read_rows(CaseData& data, const ProductResult& result,
                                           std::int64_t first, std::int64_t count);

/// Adds the output "x·x of <device name>" put together from all results: the first rows from the
/// first, the next from the second and so on, so that comparing one matrix looks at all of them.
void add_product_output(CaseParts& parts, std::int64_t n, const DeviceResults& results);

/// Recomputes several dozen places of every result.
void add_product_checks(CaseParts& parts, std::int64_t n, DType dtype,
                        const DeviceResults& results);

/// Checks that another device holds the same results as the first.
void add_equality_check(CaseParts& parts, std::int64_t n, const DeviceResults& first,
                        const DeviceResults& other);

}  // namespace parbench
