// Matrix products of scenario matmul: their operands, results and naive checks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scenarios/framework/prepared_case.h"

namespace parbench {

/// A result {n, n} as blocks of columns; each block {n, columns} is canonical.
struct ProductResult {
  std::vector<Tensor> column_blocks;
  std::size_t operand = 0;  // index in DeviceResults::operands of the squared operand
};

/// Operands and products that belong to one device; another device may compute the products.
struct DeviceResults {
  int owner = 0;   // number of the device whose products these are
  int device = 0;  // device that computes them
  std::vector<Tensor> operands;
  std::vector<ProductResult> results;
};

/// Returns the rows [first, first + count) of a result, canonical.
[[nodiscard]] std::vector<float> read_rows(CaseData& data, const ProductResult& result,
                                           std::int64_t first, std::int64_t count);

/// Adds the output "x·x of device <owner>", assembled from the first `count` results: the first
/// rows from the first result, the next rows from the second and so on, so that comparing one
/// matrix checks all results.
void add_product_output(CaseParts& parts, std::int64_t n, const DeviceResults& results,
                        std::int64_t count);

/// Adds a check that recomputes sampled elements of every result.
void add_product_checks(CaseParts& parts, std::int64_t n, NumberFormat format,
                        const DeviceResults& results);

/// Adds a check that two devices have the same results.
void add_equality_check(CaseParts& parts, std::int64_t n, const DeviceResults& first,
                        const DeviceResults& other);

}  // namespace parbench
