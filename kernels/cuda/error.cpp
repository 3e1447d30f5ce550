// What a failed call says, and which failures end a device.
#include "kernels/cuda/error.h"

#include <fmt/format.h>

#include <array>

#include "kernels/cuda/driver.h"
#include "kernels/error.h"

namespace parbench::cuda {
namespace {

std::string device_text() {
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return "no current device";
  return fmt::format("cuda:{}", device);
}

std::string described(const CallSite& site, const std::string& words) {
  return fmt::format("{} at {}:{} on {}: {}", site.expression, site.file, site.line, device_text(),
                     words);
}

}  // namespace

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
    case cudaErrorDevicesUnavailable:
    case cudaErrorContextIsDestroyed:
      return true;
    default:
      return false;
  }
}

void check(cudaError_t status, const CallSite& site) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();  // one that does not stay must not be found by the next call
  const std::string text = described(site, text_of(status));
  if (is_sticky(status)) {
    throw DeviceLost(text + "; the device cannot be used again before parbench starts anew");
  }
  throw Error(text);
}

void check(CUresult status, const CallSite& site) {
  if (status == CUDA_SUCCESS) return;
  throw Error(described(site, driver().error_text(status)));
}

void check(cublasStatus_t status, const CallSite& site) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  const std::string text = described(site, cublasLtGetStatusString(status));
  if (status == CUBLAS_STATUS_NOT_SUPPORTED) throw Unsupported(text);
  throw Error(text);
}

void check(cudnnStatus_t status, const CallSite& site) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  std::array<char, 512> details{};
  cudnnGetLastErrorString(details.data(), details.size());
  const std::string text =
      described(site, fmt::format("{}: {}", cudnnGetErrorString(status), details.data()));
  constexpr int category = 1000;  // cuDNN 9 numbers its errors in categories of a thousand
  if (status / category == CUDNN_STATUS_NOT_SUPPORTED / category) throw Unsupported(text);
  throw Error(text);
}

}  // namespace parbench::cuda
