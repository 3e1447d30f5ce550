// Streams that wait for memory, for launches that may load their kernels.
#pragma once

#include <mutex>
#include <set>
#include <vector>

namespace parbench::cuda {

class CudaStream;

/// Streams whose waits for words of host memory may not have ended. The driver loads a kernel at
/// its first launch, which may wait for all work of the GPU and hold up calls of other threads
/// meanwhile; a thread whose calls are held up may be the one that writes the word. A launch that
/// may load a kernel therefore waits for these streams first.
class WaitingStreams {
 public:
  void add(const CudaStream& stream);
  void remove(const CudaStream& stream) noexcept;
  [[nodiscard]] std::vector<const CudaStream*> all();

 private:
  std::mutex mutex_;
  std::set<const CudaStream*> streams_;
};

/// Returns the waiting streams of the process.
[[nodiscard]] WaitingStreams& waiting_streams();

}  // namespace parbench::cuda
