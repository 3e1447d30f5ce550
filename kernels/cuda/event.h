// Events of CUDA streams.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/stream.h"

namespace parbench::cuda {

class CudaDevice;

class CudaEvent final : public Event {
 public:
  CudaEvent(CudaDevice& device, EventKind kind);
  ~CudaEvent() override;
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;

  [[nodiscard]] double seconds_since(const Event& earlier) const override;
  [[nodiscard]] cudaEvent_t handle() const { return event_; }

 private:
  EventKind kind_;
  cudaEvent_t event_ = nullptr;
};

}  // namespace parbench::cuda
