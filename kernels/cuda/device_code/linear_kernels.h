// What fully connected layers need beside matrix products.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace parbench::cuda {

/// Writes the row to every row of a dense matrix {rows, columns}; the second form in bf16.
void repeat_row(const float* row, std::int64_t rows, std::int64_t columns, float* matrix,
                cudaStream_t stream);
void repeat_row(const float* row, std::int64_t rows, std::int64_t columns, std::uint16_t* matrix,
                cudaStream_t stream);

/// out = matrix + row in every row of a dense matrix {rows, columns}; the second form in bf16,
/// rounded once. `out` may be `matrix`.
void add_row(const float* matrix, const float* row, std::int64_t rows, std::int64_t columns,
             float* out, cudaStream_t stream);
void add_row(const std::uint16_t* matrix, const std::uint16_t* row, std::int64_t rows,
             std::int64_t columns, std::uint16_t* out, cudaStream_t stream);
/// The same with a row in f32.
void add_row(const std::uint16_t* matrix, const float* row, std::int64_t rows, std::int64_t columns,
             std::uint16_t* out, cudaStream_t stream);

/// Scratch memory of `sum_columns`, in floats.
[[nodiscard]] std::size_t column_sum_partials(std::int64_t rows, std::int64_t columns);

/// Sums of the columns of a dense matrix {rows, columns}, the second form's in bf16, always in the
/// same order. `accumulate` adds to what `sums` holds.
void sum_columns(const float* matrix, std::int64_t rows, std::int64_t columns, bool accumulate,
                 float* partials, float* sums, cudaStream_t stream);
void sum_columns(const std::uint16_t* matrix, std::int64_t rows, std::int64_t columns,
                 bool accumulate, float* partials, float* sums, cudaStream_t stream);

}  // namespace parbench::cuda
