// CUDA events.
#include "kernels/cuda/runtime/event.h"

#include <stdexcept>
#include <utility>

#include "kernels/base/error.h"
#include "kernels/cuda/device/device.h"
#include "kernels/cuda/runtime/driver.h"
#include "kernels/cuda/runtime/error.h"

namespace parbench::cuda {

CudaEvent::CudaEvent(CudaDevice& device, EventKind kind) : kind_(kind) {
  device.make_current();
  const bool timing = kind == EventKind::timing;
  PARBENCH_CUDA(
      cudaEventCreateWithFlags(&event_, timing ? cudaEventDefault : cudaEventDisableTiming));
}

CudaEvent::CudaEvent(CudaDevice& device, Buffer word) : CudaEvent(device, EventKind::timing) {
  if (driver().stream_write_value == nullptr) {
    throw Unsupported(device.info().name +
                      ": devices of other backends can wait for it only with a driver for CUDA "
                      "11.7 or newer; update the driver, or use cuda devices alone");
  }
  shared_.emplace(std::move(word));
}

CudaEvent::~CudaEvent() { (void)cudaEventDestroy(event_); }

void CudaEvent::record(cudaStream_t stream) {
  PARBENCH_CUDA(cudaEventRecord(event_, stream));
  if (!shared_) return;
  // The record is announced after the write is enqueued, because streams must not wait for a write
  // that failed. With the default flag, earlier writes of the stream become visible first.
  PARBENCH_CUDA(driver().stream_write_value(stream, reinterpret_cast<CUdeviceptr>(shared_->word()),
                                            shared_->announced() + 1,
                                            CU_STREAM_WRITE_VALUE_DEFAULT));
  shared_->announce();
}

void CudaEvent::check() const { (void)PARBENCH_CUDA_DONE(cudaEventQuery(event_)); }

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
