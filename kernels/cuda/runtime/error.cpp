// Messages of failed calls, and failures that end the use of a device.
#include "kernels/cuda/runtime/error.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <string_view>

#include "kernels/base/error.h"
#include "kernels/cuda/runtime/driver.h"

namespace parbench::cuda {
namespace {

std::string device_text() {
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return "no current device";
  return fmt::format("cuda:{}", device);
}

/// Returns a source's path in the repository, without the folder from which it was compiled.
std::string_view in_repository(std::string_view file) {
  const std::size_t begin = file.rfind("kernels/cuda/");
  return begin == std::string_view::npos ? file : file.substr(begin);
}

std::string described(const CallSite& site, const std::string& words) {
  return fmt::format("{} at {}:{} on {}: {}", site.expression, in_repository(site.file), site.line,
                     device_text(), words);
}

[[noreturn]] void fail_as_lost(const std::string& text, cudaError_t status) {
  throw DeviceLost(
      "cuda", fmt::format("{}; {}: this process can no longer use any GPU; start parbench again",
                          text, text_of(status)));
}

/// Returns the error, if any, of the current device. A non-sticky error is cleared, so that the
/// next call does not return it.
cudaError_t current_state() {
  const cudaError_t status = cudaFree(nullptr);
  (void)cudaGetLastError();
  return status;
}

/// Throws DeviceLost if the device is unusable, otherwise Error. `status`: the runtime's error, or
/// cudaSuccess for a call of a library. A library reports a lost device with an error of its own,
/// so the runtime is queried for the cause.
[[noreturn]] void fail(const std::string& text, cudaError_t status) {
  (void)cudaGetLastError();
  if (is_sticky(status)) fail_as_lost(text, status);
  check_not_lost(text);
  throw Error(text);
}

}  // namespace

void check_not_lost(const std::string& text) {
  const cudaError_t status = current_state();
  if (is_sticky(status)) fail_as_lost(text, status);
}

void fail_for_memory(const std::string& text) {
  std::size_t free = 0;
  std::size_t total = 0;
  (void)cudaMemGetInfo(&free, &total);
  (void)cudaGetLastError();
  throw OutOfMemory(
      fmt::format("{}; {:.1f} MiB are free on the device; use a smaller batch, image "
                  "or matrix",
                  text, static_cast<double>(free) / (1U << 20U)));
}

void fail(const CallSite& site, const std::string& words) {
  fail(described(site, words), cudaSuccess);
}

bool forbids_capture(cudaError_t status) {
  return status == cudaErrorStreamCaptureUnsupported ||
         status == cudaErrorStreamCaptureInvalidated || status == cudaErrorStreamCaptureImplicit;
}

std::string text_of(cudaError_t status) {
  return fmt::format("{} ({})", cudaGetErrorString(status), cudaGetErrorName(status));
}

bool is_sticky(cudaError_t status) {
  switch (status) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContained:
    case cudaErrorTensorMemoryLeak:
    case cudaErrorMpsClientTerminated:
    case cudaErrorExternalDevice:
    case cudaErrorDevicesUnavailable:
    case cudaErrorContextIsDestroyed:
    case cudaErrorUnknown:
      return true;
    default:
      return false;
  }
}

bool is_lost() { return is_sticky(current_state()); }

void check(cudaError_t status, const CallSite& site) {
  if (status == cudaSuccess) return;
  const std::string text = described(site, text_of(status));
  if (status == cudaErrorMemoryAllocation) fail_for_memory(text);
  if (forbids_capture(status)) {
    (void)cudaGetLastError();
    throw Unsupported(text);
  }
  fail(text, status);
}

bool is_done(cudaError_t query, const CallSite& site) {
  if (query != cudaErrorNotReady) {
    check(query, site);
    return true;
  }
  (void)cudaGetLastError();
  return false;
}

void check(CUresult status, const CallSite& site) {
  if (status == CUDA_SUCCESS) return;
  const std::string text = described(site, driver().error_text(status));
  if (status == CUDA_ERROR_OUT_OF_MEMORY) fail_for_memory(text);
  fail(text, cudaSuccess);
}

void check(cublasStatus_t status, const CallSite& site) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  const std::string text = described(site, cublasLtGetStatusString(status));
  if (status == CUBLAS_STATUS_NOT_SUPPORTED) throw Unsupported(text);
  if (status == CUBLAS_STATUS_ALLOC_FAILED) fail_for_memory(text);
  fail(text, cudaSuccess);
}

void check(cudnnStatus_t status, const CallSite& site) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  std::array<char, 512> details{};
  cudnnGetLastErrorString(details.data(), details.size());
  const std::string text =
      described(site, fmt::format("{}: {}", cudnnGetErrorString(status), details.data()));
  constexpr int category = 1000;  // cuDNN 9 numbers its errors in categories of a thousand
  if (status / category == CUDNN_STATUS_NOT_SUPPORTED / category) throw Unsupported(text);
  if (status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED) fail_for_memory(text);
  fail(text, cudaSuccess);
}

}  // namespace parbench::cuda
