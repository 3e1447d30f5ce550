// A set that threads share.
#include "kernels/cuda/runtime/waiting_streams.h"

namespace parbench::cuda {

void WaitingStreams::add(const CudaStream& stream) {
  const std::lock_guard lock(mutex_);
  streams_.insert(&stream);
}

void WaitingStreams::remove(const CudaStream& stream) noexcept {
  const std::lock_guard lock(mutex_);
  streams_.erase(&stream);
}

std::vector<const CudaStream*> WaitingStreams::all() {
  const std::lock_guard lock(mutex_);
  return {streams_.begin(), streams_.end()};
}

WaitingStreams& waiting_streams() {
  static WaitingStreams streams;
  return streams;
}

}  // namespace parbench::cuda
