// Functions of the driver, with the signatures of the versions that parbench asks for.
#include <cuda.h>
#include <cudaTypedefs.h>

#include <algorithm>
#include <atomic>
#include <string_view>
#include <type_traits>

#include "tests/cuda_stand_in/objects.h"

struct CUdevResourceDesc_st : parbench::stand_in::Object {
  explicit CUdevResourceDesc_st(unsigned int count)
      : Object("resource description"), multiprocessors(count) {}
  unsigned int multiprocessors;
};

struct CUgreenCtx_st : parbench::stand_in::Object {
  explicit CUgreenCtx_st(CUctx_st* made) : Object("green context's handle"), context(made) {}
  CUctx_st* context;
};

namespace parbench::stand_in {
namespace {

constexpr unsigned int step = 8;  // multiprocessors of a part are a multiple of it, as on Hopper

CUresult get_error_string(CUresult error, const char** text) {
  *text = error == CUDA_ERROR_ILLEGAL_ADDRESS ? "an illegal memory access was encountered"
                                              : "CUDA stand-in";
  return CUDA_SUCCESS;
}

CUresult status_of(const Call& call) {
  return call.lost() == cudaSuccess ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_ADDRESS;
}

/// "can be current to only one thread at a time" (cuGreenCtxCreate)
CUresult set_current(CUcontext context) {
  const Call call("cuCtxSetCurrent");
  if (context != nullptr) {
    call.check(context);
    const bool is_taken = context->green && context->user != std::thread::id() &&
                          context->user != std::this_thread::get_id();
    if (is_taken) refuse(call.name(), "the green context is current to another thread");
  }
  ThreadState& thread = this_thread();
  if (thread.context != nullptr) thread.context->user = {};
  thread.context = context;
  if (context != nullptr) {
    thread.device = context->device;
    context->user = std::this_thread::get_id();
  }
  return status_of(call);
}

/// A word in memory of CUDA's. Ends the process for another address.
std::uint32_t& word_at(const Call& call, CUdeviceptr address) {
  auto* word = reinterpret_cast<std::uint32_t*>(address);  // NOLINT(performance-no-int-to-ptr)
  if (address % sizeof *word != 0 || allocation_of(call.name(), word, sizeof *word) == nullptr) {
    refuse(call.name(), "the word is not in page-locked or device memory, or not aligned");
  }
  return *word;
}

CUresult wait_value(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags) {
  const Call call("cuStreamWaitValue32", {stream});
  std::uint32_t& word = word_at(call, address);
  if (flags != CU_STREAM_WAIT_VALUE_GEQ) refuse(call.name(), "flags that are not in the stand-in");
  submit(*stream, [&word, value] {
    const auto lost = [] {
      const std::lock_guard lock(state().mutex);
      return state().lost != cudaSuccess;
    };
    const std::atomic_ref shared(word);
    while (static_cast<std::int32_t>(shared.load() - value) < 0 && !lost()) {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  });
  return status_of(call);
}

CUresult write_value(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags) {
  const Call call("cuStreamWriteValue32", {stream});
  std::uint32_t& word = word_at(call, address);
  if (flags != CU_STREAM_WRITE_VALUE_DEFAULT) refuse(call.name(), "other flags");
  submit(*stream, [&word, value] { std::atomic_ref(word).store(value); });
  return status_of(call);
}

void describe(CUdevResource& resource, unsigned int count) {
  resource = {};
  resource.type = CU_DEV_RESOURCE_TYPE_SM;
  resource.sm = {.smCount = count, .minSmPartitionSize = step, .smCoscheduledAlignment = step};
}

CUresult device_resource(CUdevice /*device*/, CUdevResource* result, CUdevResourceType type) {
  if (type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_NOT_SUPPORTED;
  describe(*result, static_cast<unsigned int>(multiprocessors()));
  return CUDA_SUCCESS;
}

CUresult split(CUdevResource* result, unsigned int* groups, const CUdevResource* input,
               CUdevResource* remaining, unsigned int flags, unsigned int min_count) {
  if (input->type != CU_DEV_RESOURCE_TYPE_SM || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  const unsigned int size = (std::max(min_count, step) + step - 1) / step * step;
  const unsigned int possible = input->sm.smCount / size;
  *groups = result == nullptr ? possible : std::min(*groups, possible);
  for (unsigned int i = 0; result != nullptr && i < *groups; ++i) describe(result[i], size);
  if (remaining != nullptr) describe(*remaining, input->sm.smCount - *groups * size);
  return CUDA_SUCCESS;
}

CUresult describe_resources(CUdevResourceDesc* description, CUdevResource* resources,
                            unsigned int count) {
  const Call call("cuDevResourceGenerateDesc");
  if (count != 1 || resources->type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_VALUE;
  *description = make<CUdevResourceDesc_st>(resources->sm.smCount);
  (*description)->alive = false;  // nothing gives it back
  return CUDA_SUCCESS;
}

CUresult create_green_context(CUgreenCtx* green, CUdevResourceDesc description, CUdevice device,
                              unsigned int flags) {
  const Call call("cuGreenCtxCreate");
  if (flags != CU_GREEN_CTX_DEFAULT_STREAM) return CUDA_ERROR_INVALID_VALUE;
  const auto count = static_cast<int>(description->multiprocessors);
  *green = make<CUgreenCtx_st>(make<CUctx_st>(device, count, true));
  return status_of(call);
}

CUresult destroy_green_context(CUgreenCtx green) {
  const Call call("cuGreenCtxDestroy", {green});
  const std::thread::id user = green->context->user;
  if (user != std::thread::id()) refuse(call.name(), "the context is current to a thread");
  for (const auto& object : state().objects) {
    const auto* stream = dynamic_cast<const CUstream_st*>(object.get());
    const bool remains = stream != nullptr && stream->alive && stream->context == green->context;
    if (remains) refuse(call.name(), "a stream of the context was not destroyed");
  }
  green->alive = green->context->alive = false;
  return CUDA_SUCCESS;
}

CUresult context_of(CUcontext* context, CUgreenCtx green) {
  const Call call("cuCtxFromGreenCtx", {green});
  *context = green->context;
  return status_of(call);
}

CUresult create_green_stream(CUstream* stream, CUgreenCtx green, unsigned int flags,
                             int /*priority*/) {
  const Call call("cuGreenCtxStreamCreate", {green});
  if (flags != CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
  *stream = make<CUstream_st>(green->context);
  return status_of(call);
}

/// `Expected`: the vendor's type of the function.
template <class Expected>
void* address_of(std::type_identity_t<Expected> function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace
}  // namespace parbench::stand_in

using namespace parbench::stand_in;  // NOLINT(google-build-using-namespace): the vendor's functions

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** address, unsigned int version,
                                             unsigned long long /*flags*/,
                                             cudaDriverEntryPointQueryResult* found) {
  const Call call(__func__);
  struct Function {
    std::string_view name;
    unsigned int since;  // version of CUDA that gave it this signature
    void* address;
  };
#define PARBENCH_FUNCTION(name, since, function) \
  { #name, since, address_of < PFN_##name##_v##since>(function) }
  static const Function all[] = {
      PARBENCH_FUNCTION(cuGetErrorString, 6000, get_error_string),
      PARBENCH_FUNCTION(cuCtxSetCurrent, 4000, set_current),
      PARBENCH_FUNCTION(cuStreamWaitValue32, 11070, wait_value),
      PARBENCH_FUNCTION(cuStreamWriteValue32, 11070, write_value),
      PARBENCH_FUNCTION(cuDeviceGetDevResource, 12040, device_resource),
      PARBENCH_FUNCTION(cuDevSmResourceSplitByCount, 12040, split),
      PARBENCH_FUNCTION(cuDevResourceGenerateDesc, 12040, describe_resources),
      PARBENCH_FUNCTION(cuGreenCtxCreate, 12040, create_green_context),
      PARBENCH_FUNCTION(cuGreenCtxDestroy, 12040, destroy_green_context),
      PARBENCH_FUNCTION(cuCtxFromGreenCtx, 12040, context_of),
      PARBENCH_FUNCTION(cuGreenCtxStreamCreate, 12050, create_green_stream)};
#undef PARBENCH_FUNCTION
  const auto* const known = std::ranges::find_if(
      all, [&](const Function& one) { return one.name == name && one.since == version; });
  *found = cudaDriverEntryPointSymbolNotFound;
  if (known == std::end(all)) return cudaSuccess;
  *address = known->address;
  *found = cudaDriverEntryPointSuccess;
  return cudaSuccess;
}
