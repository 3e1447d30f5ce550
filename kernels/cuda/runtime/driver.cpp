// Looks up driver functions through the runtime library.
#include "kernels/cuda/runtime/driver.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

namespace parbench::cuda {
namespace {

/// `version`: version of CUDA in which the function got its current signature.
template <typename Function>
void find(Function& function, const char* name, unsigned int version) {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  const cudaError_t status =
      cudaGetDriverEntryPointByVersion(name, &address, version, cudaEnableDefault, &found);
  if (status != cudaSuccess) {
    (void)cudaGetLastError();
  } else if (found == cudaDriverEntryPointSuccess) {
    function = reinterpret_cast<Function>(address);
  }
}

Driver look_up() {
  Driver found;
  find(found.get_error_string, "cuGetErrorString", 6000);
  find(found.set_current, "cuCtxSetCurrent", 4000);
  find(found.stream_wait_value, "cuStreamWaitValue32", 11070);
  find(found.stream_write_value, "cuStreamWriteValue32", 11070);
  find(found.device_resource, "cuDeviceGetDevResource", 12040);
  find(found.split_multiprocessors, "cuDevSmResourceSplitByCount", 12040);
  find(found.describe_resources, "cuDevResourceGenerateDesc", 12040);
  find(found.create_green_context, "cuGreenCtxCreate", 12040);
  find(found.destroy_green_context, "cuGreenCtxDestroy", 12040);
  find(found.context_of, "cuCtxFromGreenCtx", 12040);
  find(found.create_green_stream, "cuGreenCtxStreamCreate", 12050);
  return found;
}

}  // namespace

const Driver& driver() {
  static const Driver found = look_up();
  return found;
}

std::string Driver::error_text(CUresult status) const {
  const char* words = nullptr;
  if (get_error_string != nullptr && get_error_string(status, &words) == CUDA_SUCCESS) return words;
  return fmt::format("driver error {}", static_cast<int>(status));
}

}  // namespace parbench::cuda
