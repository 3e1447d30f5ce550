// Copies of channels between images with channels last (NHWC). Pointers need the alignment of an
// element; kernels are fastest if pointers, and the bytes of all channel counts, are multiples of
// 16.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/base/tensor.h"

namespace parbench::cuda {

/// Columns of one matrix that are copied to columns of another; rows are pixels.
struct ColumnCopy {
  std::int64_t rows;
  std::int64_t count;  // number of columns
  std::int64_t source_channels;
  std::int64_t destination_channels;
  std::int64_t source_first;
  std::int64_t destination_first;
};

/// Copies the columns. Other columns of the destination are unchanged.
void copy_columns(void* destination, const void* source, DType dtype, const ColumnCopy& copy,
                  cudaStream_t stream);

/// destination[row][j · groups + i] = source[row][i · (channels / groups) + j].
void shuffle_columns(void* destination, const void* source, DType dtype, std::int64_t rows,
                     std::int64_t channels, std::int64_t groups, cudaStream_t stream);

}  // namespace parbench::cuda
