// Functions of the CUDA driver, looked up at run time, because the program must also start without
// a driver.
#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>

#include <string>

namespace parbench::cuda {

/// Functions that the runtime library lacks; null if the driver is too old or missing.
struct Driver {
  PFN_cuGetErrorString_v6000 get_error_string = nullptr;
  PFN_cuCtxSetCurrent_v4000 set_current = nullptr;
  PFN_cuStreamWaitValue32_v11070 stream_wait_value = nullptr;
  PFN_cuStreamWriteValue32_v11070 stream_write_value = nullptr;

  // Green contexts: parts of a device's multiprocessors.
  PFN_cuDeviceGetDevResource_v12040 device_resource = nullptr;
  PFN_cuDevSmResourceSplitByCount_v12040 split_multiprocessors = nullptr;
  PFN_cuDevResourceGenerateDesc_v12040 describe_resources = nullptr;
  PFN_cuGreenCtxCreate_v12040 create_green_context = nullptr;
  PFN_cuGreenCtxDestroy_v12040 destroy_green_context = nullptr;
  PFN_cuCtxFromGreenCtx_v12040 context_of = nullptr;
  PFN_cuGreenCtxStreamCreate_v12050 create_green_stream = nullptr;

  [[nodiscard]] bool has_green_contexts() const { return create_green_stream != nullptr; }
  [[nodiscard]] std::string error_text(CUresult status) const;
};

/// Returns the functions, looked up at the first call.
[[nodiscard]] const Driver& driver();

}  // namespace parbench::cuda
