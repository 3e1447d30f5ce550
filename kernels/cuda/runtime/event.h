// Events of CUDA streams.
#pragma once

#include <cuda_runtime_api.h>

#include <optional>

#include "kernels/core/crossing.h"
#include "kernels/core/stream.h"

namespace parbench::cuda {

class CudaDevice;

class CudaEvent final : public Event {
 public:
  CudaEvent(CudaDevice& device, EventKind kind);
  /// Constructs an event that has a time and that streams of other backends can wait for. `word`:
  /// argument of SharedRecords.
  CudaEvent(CudaDevice& device, Buffer word);
  ~CudaEvent() override;
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;

  [[nodiscard]] double seconds_since(const Event& earlier) const override;
  [[nodiscard]] SharedRecords* shared_records() override { return shared_ ? &*shared_ : nullptr; }
  void check() const override;

  /// Records the event on a stream, whose device must be current.
  void record(cudaStream_t stream);
  [[nodiscard]] cudaEvent_t handle() const { return event_; }

 private:
  EventKind kind_;
  cudaEvent_t event_ = nullptr;
  std::optional<SharedRecords> shared_;
};

}  // namespace parbench::cuda
