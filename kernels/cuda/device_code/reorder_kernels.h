// Copies between the layouts and element types of CUDA devices.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/base/tensor.h"

namespace parbench::cuda {

/// An array and the type of its elements.
struct ElementsIn {
  const void* data;
  DType dtype;
};
struct ElementsOut {
  void* data;
  DType dtype;
};

/// Converts elements in the same order; copies the bits if the types are equal.
void convert(ElementsOut out, ElementsIn in, std::int64_t count, cudaStream_t stream);

/// Transposes {batch, rows, columns} to {batch, columns, rows}, and converts the elements.
void transpose(ElementsOut out, ElementsIn in, std::int64_t batch, std::int64_t rows,
               std::int64_t columns, cudaStream_t stream);

}  // namespace parbench::cuda
