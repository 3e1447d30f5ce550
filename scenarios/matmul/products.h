// Matrix products of scenario matmul: their operands, results and naive checks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "scenarios/framework/prepared_case.h"

namespace parbench {

/// A result {n, n} as blocks of columns, each canonical {n, columns} by itself.
struct ProductResult {
  std::vector<Tensor> column_blocks;
  std::size_t operand = 0;  // of DeviceResults::operands, whose square it is
};

/// The products of one device.
struct DeviceResults {
  int owner = 0;   // the device whose products they are
  int device = 0;  // the device that computes them
  std::vector<Tensor> operands;
  std::vector<ProductResult> results;
};

/// Rows [first, first + count) of a result, canonical.
[[nodiscard]] std::vector<float> read_rows(CaseData& data, const ProductResult& result,
                                           std::int64_t first, std::int64_t count);

/// Adds the output "x·x of device <owner>" put together from the first `count` results: the first
/// rows from the first, the next from the second and so on, so that comparing one matrix checks
/// all of them.
void add_product_output(CaseParts& parts, std::int64_t n, const DeviceResults& results,
                        std::int64_t count);

/// Recomputes several dozen elements of every result.
void add_product_checks(CaseParts& parts, std::int64_t n, NumberFormat format,
                        const DeviceResults& results);

/// Checks that another device holds the same results as the first.
void add_equality_check(CaseParts& parts, std::int64_t n, const DeviceResults& first,
                        const DeviceResults& other);

}  // namespace parbench
