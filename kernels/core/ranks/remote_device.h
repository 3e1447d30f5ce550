// A device of another rank: it can be planned for, and does nothing.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "kernels/core/device.h"

namespace parbench {

/// Stands for a device of another process, so that every rank can write the same plan. Operations
/// are planned by a device of this process that computes with the same kernels; what is enqueued is
/// ignored. Its memory has addresses and, as long as nothing writes to it, no pages.
class RemoteDevice final : public Device {
 public:
  /// `info` as the other rank describes its device. `twin`, of this process, outlives it.
  /// `same_kernels`: whether both compute with the same instructions, so that layouts are the same.
  RemoteDevice(DeviceInfo info, Device& twin, bool same_kernels);

  [[nodiscard]] const DeviceInfo& info() const override { return info_; }
  [[nodiscard]] AvailableMemory available_memory() const override;
  [[nodiscard]] bool one_launching_thread() const override { return twin_.one_launching_thread(); }
  [[nodiscard]] bool loads_at_first_use() const override { return twin_.loads_at_first_use(); }
  [[nodiscard]] std::unique_ptr<Stream> make_stream(StreamKind kind, int index,
                                                    int sharers) override;
  [[nodiscard]] std::unique_ptr<Event> make_event(EventKind kind) override;
  [[nodiscard]] Buffer allocate(std::size_t bytes, MemoryKind kind) override;
  void grow(Buffer& buffer, std::size_t bytes, MemoryKind kind) override;
  [[nodiscard]] std::unique_ptr<Op> prepare(const OpDesc& desc, int threads) override;
  /// Throws Unsupported where the layouts of the other rank are not known here.
  [[nodiscard]] TensorDesc activation(const Shape& shape, DType dtype) const override;

 private:
  DeviceInfo info_;
  Device& twin_;
  bool same_kernels_;
};

/// Returns whether a stream belongs to another rank's device.
[[nodiscard]] bool is_remote(const Stream& stream);

}  // namespace parbench
