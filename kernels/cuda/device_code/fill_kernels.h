// Fills memory with the numbers of kernels/base/random.h.
//
// fill_kernels.cu must be compiled with nvcc's -fmad=false: nvcc fuses multiplication and addition
// by default, and normal values would differ from the CPU's in their last bits (uniform values
// would not: their product is exact). Square roots and divisions are rounded correctly unless
// -prec-sqrt=false, -prec-div=false or -use_fast_math is given.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/base/random.h"
#include "kernels/base/tensor.h"

namespace parbench::cuda {

void fill_uniform(void* out, DType dtype, std::int64_t count, RandomStream random,
                  UniformRange range, cudaStream_t stream);

void fill_normal(void* out, DType dtype, std::int64_t count, RandomStream random, float mean,
                 float standard_deviation, cudaStream_t stream);

void fill_constant(void* out, DType dtype, std::int64_t count, float value, cudaStream_t stream);

}  // namespace parbench::cuda
