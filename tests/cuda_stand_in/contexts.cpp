// Devices and their attributes, and the context of a thread.
#include <cstdio>
#include <cstring>

#include "tests/cuda_stand_in/objects.h"

namespace parbench::stand_in {
namespace {

constexpr int major = 9;  // as Hopper

bool exists(int device) { return device >= 0 && device < device_count(); }

CUctx_st* primary_context(int device) {
  static std::map<int, CUctx_st*>& primary = *new std::map<int, CUctx_st*>;
  CUctx_st*& context = primary[device];
  if (context == nullptr) context = make<CUctx_st>(device, multiprocessors(), false);
  return context;
}

}  // namespace

std::size_t used_bytes(int device) {
  std::size_t sum = 0;
  for (const auto& [address, allocation] : state().allocations) {
    const bool counts = allocation.kind == Allocation::Kind::device && allocation.device == device;
    if (counts) sum += allocation.bytes;
  }
  return sum;
}

CUctx_st* current_context() {
  ThreadState& thread = this_thread();
  return thread.context != nullptr ? thread.context : primary_context(thread.device);
}

}  // namespace parbench::stand_in

using namespace parbench::stand_in;  // NOLINT(google-build-using-namespace): the vendor's functions

cudaError_t cudaGetDeviceCount(int* count) {
  const Call call(__func__);
  *count = device_count();
  return *count > 0 ? cudaSuccess : call.fail(cudaErrorNoDevice);
}

cudaError_t cudaSetDevice(int device) {
  const Call call(__func__);
  if (!exists(device)) return call.fail(cudaErrorInvalidDevice, "no such device");
  if (const cudaError_t lost = call.lost()) return lost;
  ThreadState& thread = this_thread();
  if (thread.context != nullptr) thread.context->user = {};
  thread.context = nullptr;
  thread.device = device;
  (void)current_context();
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  const Call call(__func__);
  *device = current_context()->device;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  const Call call(__func__);
  if (!exists(device)) return call.fail(cudaErrorInvalidDevice, "no such device");
  switch (attribute) {
    case cudaDevAttrMultiProcessorCount:
      *value = multiprocessors();
      return cudaSuccess;
    case cudaDevAttrComputeCapabilityMajor:
      *value = major;
      return cudaSuccess;
    case cudaDevAttrHostNumaId:
    case cudaDevAttrComputeCapabilityMinor:
    case cudaDevAttrMemoryClockRate:
    case cudaDevAttrGlobalMemoryBusWidth:
    case cudaDevAttrL2CacheSize:
    case cudaDevAttrEccEnabled:
      *value = 0;
      return cudaSuccess;
    default:
      return call.fail(cudaErrorNotSupported, "this attribute is not in the stand-in");
  }
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  const Call call(__func__);
  if (!exists(device)) return call.fail(cudaErrorInvalidDevice, "no such device");
  *properties = {};
  std::snprintf(properties->name, sizeof properties->name, "CUDA stand-in, no figures");
  properties->uuid.bytes[0] = static_cast<char>(device + 1);
  properties->totalGlobalMem = memory_bytes;
  properties->multiProcessorCount = multiprocessors();
  properties->major = major;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  const Call call(__func__);
  if (!exists(device)) return call.fail(cudaErrorInvalidDevice, "no such device");
  std::snprintf(text, static_cast<std::size_t>(length), "0000:%02X:00.0", device + 1);
  return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* possible, int device, int peer) {
  const Call call(__func__);
  if (!exists(device) || !exists(peer)) return call.fail(cudaErrorInvalidDevice, "no such device");
  *possible = can_access_peer(device, peer) ? 1 : 0;
  return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags) {
  const Call call(__func__);
  const int device = current_context()->device;
  if (!exists(peer) || peer == device) return call.fail(cudaErrorInvalidDevice, "no such peer");
  if (flags != 0) return call.fail(cudaErrorInvalidValue, "flags must be zero");
  if (!can_access_peer(device, peer)) return call.fail(cudaErrorPeerAccessUnsupported, "no access");
  if (!state().peers.emplace(device, peer).second) {
    return call.fail(cudaErrorPeerAccessAlreadyEnabled);
  }
  return cudaSuccess;
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int from, int to) {
  const Call call(__func__);
  if (!exists(from) || !exists(to) || from == to) {
    return call.fail(cudaErrorInvalidDevice, "no such pair of devices");
  }
  *value = attribute == cudaDevP2PAttrAccessSupported && can_access_peer(from, to) ? 1 : 0;
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  PARBENCH_CALL();
  *total = memory_bytes;
  *free = memory_bytes - used_bytes(current_context()->device);
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = device_count() > 0 ? CUDA_VERSION : 0;
  return cudaSuccess;
}
