// Streams of CUDA devices. Each stream has its own scratch memory, counters and handle of cuDNN.
#pragma once

#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "kernels/core/stream.h"
#include "kernels/cuda/activity/activity_trace.h"

namespace parbench::cuda {

class CudaDevice;
class CudaOp;

class CudaStream final : public Stream {
 public:
  CudaStream(CudaDevice& device, std::string name);
  ~CudaStream() override;
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;

  [[nodiscard]] Device& device() const override;
  [[nodiscard]] int threads() const override { return 1; }
  [[nodiscard]] std::size_t scratch_bytes() const override { return scratch_.bytes(); }
  void copy(BufferView destination, BufferView source) override;
  void record(Event& event) override;
  void wait(Event& event) override;
  [[nodiscard]] std::unique_ptr<Graph> capture(const std::function<void()>& enqueue) override;
  void synchronize(std::chrono::milliseconds limit) override;
  /// The worker's thread makes CUDA calls only to select the GPU and to query events.
  [[nodiscard]] HostWorker* host_worker() override;
  void log_activities(ActivityLog* log) override;
  void check_activities() override;

  /// Enqueues an operation. Throws std::invalid_argument if it was prepared for another device,
  /// needs more scratch memory than the stream has, or the views do not match its arguments.
  void execute(CudaOp& op, std::span<const BufferView> views);

  [[nodiscard]] CudaDevice& cuda_device() const { return device_; }
  [[nodiscard]] cudaStream_t handle() const { return stream_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::byte* scratch() const { return scratch_.data(); }
  /// Returns the counters for kernels of this stream (arrival_counters.h).
  [[nodiscard]] unsigned int* counters() const {
    return reinterpret_cast<unsigned int*>(counters_.data());
  }

  /// Returns the stream's handle of cuDNN, made at the first call. `make_stream` calls this for
  /// compute streams, so that no execution has to make the handle.
  [[nodiscard]] cudnnHandle_t cudnn();

  /// Waits for the streams that wait for memory (`wait_across`). Call it before work that may load
  /// a kernel or allocate: either may wait for all streams of the device. Makes this stream's
  /// device current.
  void await_waiting_streams() const;

  /// Returns a scope for enqueueing work, which is logged with this stream's tag. The scope has no
  /// effect if this stream does not log.
  [[nodiscard]] TracedCall trace_call() const;
  /// Like `trace_call`, for a collective of streams on different devices with the same tag: work is
  /// logged by the stream of the device that executes it. All members' streams must have joined.
  [[nodiscard]] TracedCall trace_collective() const;
  void join_collective() const;

  /// Returns the number of the current logging session; 0 if the stream does not log.
  [[nodiscard]] std::uint64_t logging_session() const { return traced_ ? traced_->session() : 0; }

 private:
  void grow_scratch(std::size_t bytes) override;
  void wait_across(Event& event);
  [[nodiscard]] bool is_idle() const;
  void wait_until_idle(std::chrono::milliseconds limit) const;
  void settle(TracedStream& traced) const;
  [[nodiscard]] double clock_error(TracedStream& traced, const ActivityLog& probes);

  CudaDevice& device_;
  std::string name_;
  Buffer counters_;
  cudaStream_t stream_ = nullptr;
  Buffer scratch_;
  cudnnHandle_t cudnn_ = nullptr;
  std::unique_ptr<TracedStream> traced_;  // set while the stream logs
  ActivityLog* log_ = nullptr;            // set while the stream logs
  std::unique_ptr<HostWorker> host_worker_;
};

}  // namespace parbench::cuda
