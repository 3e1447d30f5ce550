// Checked calls of CUDA and its libraries: a failure carries the expression, where it stands, the
// device and the library's message.
#pragma once

#include <cublasLt.h>
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>

#include <string>

namespace parbench::cuda {

/// A call in the source.
struct CallSite {
  const char* expression;
  const char* file;
  int line;
};

// Each returns where the call succeeded, and throws otherwise: DeviceLost for what makes the device
// unusable until the process ends, OutOfMemory with the bytes that are free, Unsupported where a
// library says that it does not have the operation or that no graph can, Error for the rest.
void check(cudaError_t status, const CallSite& site);
void check(CUresult status, const CallSite& site);
void check(cublasStatus_t status, const CallSite& site);
void check(cudnnStatus_t status, const CallSite& site);

/// Whether the work is done that a query was for. Work in progress is no failure: it is cleared as
/// the last error, which a later launch would return. Throws as `check` does.
[[nodiscard]] bool is_done(cudaError_t query, const CallSite& site);

/// Throws DeviceLost, with what failed, where an error has made the GPUs unusable; returns
/// otherwise. A library that fails then may take it for something that it does not have.
void check_not_lost(const std::string& text);

/// Throws OutOfMemory with what failed and the bytes that are free on the current device.
[[noreturn]] void fail_for_memory(const std::string& text);

/// Ends a failed call of a library that has no `check`, with its words: throws DeviceLost where the
/// runtime knows that the device is, Error otherwise.
[[noreturn]] void fail(const CallSite& site, const std::string& words);

/// "no CUDA-capable device is detected (cudaErrorNoDevice)".
[[nodiscard]] std::string text_of(cudaError_t status);

/// Whether a call failed because what it does cannot be part of a graph, or an earlier one could
/// not.
[[nodiscard]] bool forbids_capture(cudaError_t status);

/// Whether this error stays with the context: every later call returns it as well.
[[nodiscard]] bool is_sticky(cudaError_t status);

/// Whether such an error has made the GPUs unusable.
[[nodiscard]] bool is_lost();

}  // namespace parbench::cuda

#define PARBENCH_CUDA(expression) \
  ::parbench::cuda::check((expression), {#expression, __FILE__, __LINE__})
#define PARBENCH_CUDA_DONE(expression) \
  ::parbench::cuda::is_done((expression), {#expression, __FILE__, __LINE__})
