// Implementation of CUDA events.
#include "kernels/cuda/event.h"

#include <stdexcept>

#include "kernels/cuda/device.h"
#include "kernels/cuda/error.h"

namespace parbench::cuda {

CudaEvent::CudaEvent(CudaDevice& device, EventKind kind) : kind_(kind) {
  device.make_current();
  const bool timing = kind == EventKind::timing;
  PARBENCH_CUDA(
      cudaEventCreateWithFlags(&event_, timing ? cudaEventDefault : cudaEventDisableTiming));
}

CudaEvent::~CudaEvent() { (void)cudaEventDestroy(event_); }

double CudaEvent::seconds_since(const Event& earlier) const {
  const auto* begin = dynamic_cast<const CudaEvent*>(&earlier);
  if (begin == nullptr) throw std::invalid_argument("events of two backends have no common clock");
  if (kind_ == EventKind::ordering || begin->kind_ == EventKind::ordering) {
    throw std::logic_error("an event that only orders has no time");
  }
  float milliseconds = 0;
  PARBENCH_CUDA(cudaEventElapsedTime(&milliseconds, begin->event_, event_));
  return static_cast<double>(milliseconds) * 1e-3;
}

}  // namespace parbench::cuda
