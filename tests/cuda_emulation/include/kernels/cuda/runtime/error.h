// Takes the place of kernels/cuda/runtime/error.h: no call of the emulation fails.
#pragma once

#include <cuda_runtime_api.h>

namespace parbench::cuda {

struct CallSite {
  const char* expression;
  const char* file;
  int line;
};
inline void check(cudaError_t /*status*/, const CallSite& /*site*/) {}

}  // namespace parbench::cuda

#define PARBENCH_CUDA(expression) static_cast<void>(expression)
