// Errors of threads, and their texts.
#include <cuda_profiler_api.h>

#include "tests/cuda_stand_in/objects.h"

using namespace parbench::stand_in;  // NOLINT(google-build-using-namespace): the vendor's functions

cudaError_t cudaGetLastError() {
  // Errors that stay are returned again by every call.
  return std::exchange(this_thread().last, cudaSuccess);
}

cudaError_t cudaPeekAtLastError() { return this_thread().last; }

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define PARBENCH_NAME(name) \
  case name:                \
    return #name
    PARBENCH_NAME(cudaSuccess);
    PARBENCH_NAME(cudaErrorInvalidValue);
    PARBENCH_NAME(cudaErrorMemoryAllocation);
    PARBENCH_NAME(cudaErrorInvalidDevice);
    PARBENCH_NAME(cudaErrorInvalidResourceHandle);
    PARBENCH_NAME(cudaErrorIllegalAddress);
    PARBENCH_NAME(cudaErrorNoDevice);
    PARBENCH_NAME(cudaErrorNotReady);
    PARBENCH_NAME(cudaErrorNotSupported);
    PARBENCH_NAME(cudaErrorPeerAccessAlreadyEnabled);
    PARBENCH_NAME(cudaErrorHostMemoryAlreadyRegistered);
    PARBENCH_NAME(cudaErrorStreamCaptureUnsupported);
    PARBENCH_NAME(cudaErrorStreamCaptureInvalidated);
    PARBENCH_NAME(cudaErrorStreamCaptureMerge);
    PARBENCH_NAME(cudaErrorStreamCaptureUnmatched);
    PARBENCH_NAME(cudaErrorStreamCaptureUnjoined);
    PARBENCH_NAME(cudaErrorStreamCaptureIsolation);
    PARBENCH_NAME(cudaErrorCapturedEvent);
#undef PARBENCH_NAME
    default:
      return "an error that the stand-in does not name";
  }
}

const char* cudaGetErrorString(cudaError_t error) {
  if (error == cudaErrorMemoryAllocation) return "out of memory";
  if (error == cudaErrorIllegalAddress) return "an illegal memory access was encountered";
  return "CUDA stand-in";
}

cudaError_t cudaProfilerStart() { return cudaSuccess; }
cudaError_t cudaProfilerStop() { return cudaSuccess; }
