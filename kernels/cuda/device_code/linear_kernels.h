// Kernels for the biases of fully connected layers and for their gradients.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace parbench::cuda {

/// Writes `row` to every row of a dense matrix {rows, columns}. The second overload is for bf16.
void repeat_row(const float* row, std::int64_t rows, std::int64_t columns, float* matrix,
                cudaStream_t stream);
void repeat_row(const float* row, std::int64_t rows, std::int64_t columns, std::uint16_t* matrix,
                cudaStream_t stream);

/// out = matrix + row in every row of a dense matrix {rows, columns}. The second overload is for
/// bf16, rounded once. `out` may be `matrix`.
void add_row(const float* matrix, const float* row, std::int64_t rows, std::int64_t columns,
             float* out, cudaStream_t stream);
void add_row(const std::uint16_t* matrix, const std::uint16_t* row, std::int64_t rows,
             std::int64_t columns, std::uint16_t* out, cudaStream_t stream);
/// Overload for bf16 with a row in f32.
void add_row(const std::uint16_t* matrix, const float* row, std::int64_t rows, std::int64_t columns,
             std::uint16_t* out, cudaStream_t stream);

/// Returns the number of floats that `sum_columns` needs at `partials`.
[[nodiscard]] std::size_t column_sum_partials(std::int64_t rows, std::int64_t columns);

/// Sums the columns of a dense matrix {rows, columns}, in an order that depends only on the number
/// of rows. The second overload is for bf16. With `accumulate`, the sums are added to `sums`.
void sum_columns(const float* matrix, std::int64_t rows, std::int64_t columns, bool accumulate,
                 float* partials, float* sums, cudaStream_t stream);
void sum_columns(const std::uint16_t* matrix, std::int64_t rows, std::int64_t columns,
                 bool accumulate, float* partials, float* sums, cudaStream_t stream);

}  // namespace parbench::cuda
