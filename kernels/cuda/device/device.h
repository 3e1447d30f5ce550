// A CUDA device: a GPU, or some of its multiprocessors.
#pragma once

#include <cublasLt.h>
#include <cuda.h>
#include <cudnn.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kernels/core/device.h"
#include "kernels/cuda/activity/activity_trace.h"
#include "kernels/cuda/collectives/nccl.h"
#include "kernels/cuda/device/gpu_part.h"
#include "kernels/cuda/device/nvml.h"

namespace parbench::cuda {

class Autotuner;
class EngineChoices;
class TuningChoices;

class CudaDevice final : public Device {
 public:
  /// `ordinal`: the runtime's index of the GPU. `part`: null for the whole GPU. `sensors`: nothing
  /// if NVML does not report on the GPU; `condition` is then empty. `nccl`: used for collectives of
  /// whole GPUs if it is available. `trace`: shared by all devices of the process. `choices`:
  /// shared by equal devices; if not null, kernels of the libraries are chosen by measuring them.
  /// `may_round_gradients`: DeviceOptions::round_gradients.
  CudaDevice(DeviceInfo info, int ordinal, std::unique_ptr<GpuPart> part,
             std::optional<NvmlGpu> sensors, std::shared_ptr<const Nccl> nccl,
             std::shared_ptr<ActivityTrace> trace, std::shared_ptr<TuningChoices> choices,
             bool may_round_gradients);
  ~CudaDevice() override;
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  [[nodiscard]] const DeviceInfo& info() const override { return info_; }
  [[nodiscard]] AvailableMemory available_memory() const override;
  [[nodiscard]] Condition condition() const override;
  [[nodiscard]] std::string link_to(const Device& other) const override;
  /// A green context "can be current to only one thread at a time" (cuGreenCtxCreate).
  [[nodiscard]] bool one_launching_thread() const override { return part_ != nullptr; }
  [[nodiscard]] bool loads_at_first_use() const override { return true; }
  [[nodiscard]] std::unique_ptr<Stream> make_stream(StreamKind kind, int index,
                                                    int sharers) override;
  [[nodiscard]] std::unique_ptr<Event> make_event(EventKind kind) override;
  [[nodiscard]] std::unique_ptr<Event> make_shared_event(Buffer word) override;
  [[nodiscard]] Buffer allocate(std::size_t bytes, MemoryKind kind) override;
  void grow(Buffer& buffer, std::size_t bytes, MemoryKind kind) override;
  [[nodiscard]] std::shared_ptr<void> page_lock(BufferView memory) override;
  [[nodiscard]] std::unique_ptr<Communicator> make_communicator(
      std::span<Device* const> members) override;
  [[nodiscard]] std::vector<std::byte> make_joining_id() override;
  [[nodiscard]] std::unique_ptr<Communicator> join(const Joining& joining) override;
  [[nodiscard]] std::unique_ptr<Op> prepare(const OpDesc& desc, int threads) override;
  void tune(std::vector<OpDesc> operations) override;
  [[nodiscard]] TensorDesc activation(const Shape& shape, DType dtype) const override;

  /// Makes this device the current one of the calling thread's CUDA calls, including its part of
  /// the GPU.
  void make_current() const;
  /// Like `make_current`, for destructors, which cannot report a failure.
  void try_to_make_current() const noexcept;
  /// Makes the GPU current in the calling thread, but not this device's part of it. For threads
  /// that launch no kernels: unlike `make_current`, it may be called while the part is current in
  /// another thread.
  void enter_gpu() const;
  /// Copies host memory to a buffer of the device and waits. cudaMemcpy does not suffice: from
  /// pageable memory it returns before the copy has arrived, and non-blocking streams have no order
  /// with it.
  void upload(const Buffer& to, const void* from, std::size_t bytes);
  /// Creates a stream that does not synchronise with the default stream. The caller destroys it.
  [[nodiscard]] cudaStream_t create_stream();

  [[nodiscard]] int ordinal() const { return ordinal_; }
  [[nodiscard]] int multiprocessors() const { return multiprocessors_; }
  [[nodiscard]] bool is_part() const { return part_ != nullptr; }

  // Return the handles for planning, which runs in one thread at a time; made at the first call.
  // Streams execute cuDNN's plans with handles of their own.
  [[nodiscard]] cudnnHandle_t cudnn();
  [[nodiscard]] cublasLtHandle_t cublas();

  /// Returns the cache of engines for convolutions.
  [[nodiscard]] EngineChoices& engine_choices() { return *engine_choices_; }

  [[nodiscard]] const std::shared_ptr<ActivityTrace>& activity_trace() const { return trace_; }

  /// Returns the tuner; null if the libraries' heuristics choose kernels.
  [[nodiscard]] Autotuner* autotuner() const { return autotuner_.get(); }

  /// Returns whether a kernel may round a weight gradient to the type of the activations.
  [[nodiscard]] bool may_round_gradients() const { return may_round_gradients_; }

 private:
  /// Throws Unsupported if the GPU does not support the operation's number format.
  void check_arithmetic(const OpDesc& desc) const;

  DeviceInfo info_;
  int ordinal_;
  std::unique_ptr<GpuPart> part_;
  std::optional<NvmlGpu> sensors_;
  std::shared_ptr<const Nccl> nccl_;
  std::shared_ptr<ActivityTrace> trace_;
  int multiprocessors_ = 0;
  int compute_capability_ = 0;  // 10 · major + minor
  bool may_round_gradients_;
  cudnnHandle_t cudnn_ = nullptr;
  cublasLtHandle_t cublas_ = nullptr;
  std::unique_ptr<EngineChoices> engine_choices_;
  std::unique_ptr<Autotuner> autotuner_;  // destroyed first, because its stream uses the device
};

}  // namespace parbench::cuda
