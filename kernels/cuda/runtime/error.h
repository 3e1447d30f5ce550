// Checked calls of CUDA and its libraries: an error names the expression, its location, the device
// and the library's message.
#pragma once

#include <cublasLt.h>
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>

#include <string>

namespace parbench::cuda {

/// A call and its location in the source.
struct CallSite {
  const char* expression;
  const char* file;
  int line;
};

// Return if the call succeeded. Otherwise they throw DeviceLost if the device is unusable until the
// process ends, OutOfMemory with the bytes that are free, Unsupported if a library does not support
// the operation or the call cannot be captured in a graph, and Error for other failures.
void check(cudaError_t status, const CallSite& site);
void check(CUresult status, const CallSite& site);
void check(cublasStatus_t status, const CallSite& site);
void check(cudnnStatus_t status, const CallSite& site);

/// Returns whether the work that was queried is complete. cudaErrorNotReady is not a failure, and
/// is cleared, because the check after a later launch would return it. Throws as `check` does.
[[nodiscard]] bool is_done(cudaError_t query, const CallSite& site);

/// Throws DeviceLost, with `text`, if an error has made the GPUs unusable. To be called for
/// failures of libraries, which may report a lost device as a lack of support.
void check_not_lost(const std::string& text);

/// Throws OutOfMemory with `text` and the bytes that are free on the current device.
[[noreturn]] void fail_for_memory(const std::string& text);

/// Throws for a failed call of a library without a `check`, with the library's message: DeviceLost
/// if the runtime reports that the device is lost, otherwise Error.
[[noreturn]] void fail(const CallSite& site, const std::string& words);

/// Returns the message and the name of an error: "no CUDA-capable device is detected
/// (cudaErrorNoDevice)".
[[nodiscard]] std::string text_of(cudaError_t status);

/// Returns whether a call failed because it, or an earlier call, cannot be part of a graph.
[[nodiscard]] bool forbids_capture(cudaError_t status);

/// Returns whether this error persists in the context, so that every later call returns it as well.
[[nodiscard]] bool is_sticky(cudaError_t status);

/// Returns whether a sticky error has made the GPUs unusable.
[[nodiscard]] bool is_lost();

}  // namespace parbench::cuda

#define PARBENCH_CUDA(expression) \
  ::parbench::cuda::check((expression), {#expression, __FILE__, __LINE__})
#define PARBENCH_CUDA_DONE(expression) \
  ::parbench::cuda::is_done((expression), {#expression, __FILE__, __LINE__})
