// Peer access through the runtime library.
#include "kernels/cuda/device/peers.h"

#include <cuda_runtime_api.h>

#include "kernels/cuda/runtime/error.h"

namespace parbench::cuda {
namespace {

/// Enables access of the current device, `ordinal`, to the memory of `other`. Returns whether it
/// has access.
bool enable_peer(int ordinal, int other) {
  int possible = 0;
  PARBENCH_CUDA(cudaDeviceCanAccessPeer(&possible, ordinal, other));
  if (possible == 0) return false;
  const cudaError_t status = cudaDeviceEnablePeerAccess(other, 0);
  // Access is already enabled if an earlier scenario of the run opened the same GPUs. Without a
  // switch between them, a GPU supports at most eight peers.
  if (status == cudaErrorPeerAccessAlreadyEnabled || status == cudaErrorTooManyPeers) {
    (void)cudaGetLastError();
    return status == cudaErrorPeerAccessAlreadyEnabled;
  }
  PARBENCH_CUDA(status);
  return true;
}

}  // namespace

std::map<int, std::set<int>> enable_peers(const std::set<int>& ordinals) {
  std::map<int, std::set<int>> peers;
  for (const int ordinal : ordinals) {
    if (ordinals.size() > 1) PARBENCH_CUDA(cudaSetDevice(ordinal));
    for (const int other : ordinals) {
      if (other != ordinal && enable_peer(ordinal, other)) peers[ordinal].insert(other);
    }
  }
  return peers;
}

}  // namespace parbench::cuda
