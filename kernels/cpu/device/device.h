// A CPU device: a set of cores with their streams, memory and planned operations.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "kernels/core/device.h"
#include "kernels/cpu/host/sensors.h"
#include "kernels/cpu/runtime/stream.h"

namespace parbench::cpu {

class CpuDevice final : public Device {
 public:
  /// `local_cores`: cores whose threads touch the device's memory first.
  CpuDevice(DeviceInfo info, std::vector<int> local_cores)
      : info_(std::move(info)), local_cores_(std::move(local_cores)), sensors_(info_.cores) {}

  [[nodiscard]] const DeviceInfo& info() const override { return info_; }
  [[nodiscard]] AvailableMemory available_memory() const override;
  [[nodiscard]] Condition condition() const override { return sensors_.read(); }
  [[nodiscard]] std::string link_to(const Device& other) const override;
  [[nodiscard]] std::unique_ptr<Stream> make_stream(StreamKind kind, int index,
                                                    int sharers) override;
  [[nodiscard]] std::unique_ptr<Event> make_event(EventKind kind) override;
  [[nodiscard]] std::unique_ptr<Event> make_shared_event(Buffer word) override;
  [[nodiscard]] Buffer allocate(std::size_t bytes, MemoryKind kind) override;
  void grow(Buffer& buffer, std::size_t bytes, MemoryKind kind) override;
  [[nodiscard]] std::unique_ptr<Op> prepare(const OpDesc& desc, int threads) override;
  [[nodiscard]] TensorDesc activation(const Shape& shape, DType dtype) const override;

 private:
  /// Returns the stream whose thread plans operations for streams with `threads` threads: oneDNN
  /// plans for the team size of the calling thread.
  [[nodiscard]] CpuStream& service(int threads);

  DeviceInfo info_;
  std::vector<int> local_cores_;
  CoreSensors sensors_;
  std::mutex service_mutex_;
  std::map<int, std::unique_ptr<CpuStream>> services_;
};

}  // namespace parbench::cpu
