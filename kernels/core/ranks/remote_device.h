// A placeholder for a device of another rank: plans can use it, but it executes nothing.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/core/device.h"

namespace parbench {

/// Represents a device of another process, so that every rank can build the same plan. A device of
/// this process plans the operations; enqueued work is ignored. Memory of a RemoteDevice has
/// addresses, but no physical pages until data is written to it.
class RemoteDevice final : public Device {
 public:
  /// `info`: the description of the device by its own rank. `twin`: a device of this process, which
  /// plans the operations and must outlive this object. `same_kernels`: whether both devices
  /// compute with the same instructions, so that layouts are equal.
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
  /// Throws Unsupported if the constructor's `same_kernels` was false: layouts may differ.
  [[nodiscard]] TensorDesc activation(const Shape& shape, DType dtype) const override;

 private:
  DeviceInfo info_;
  Device& twin_;
  bool same_kernels_;
};

[[nodiscard]] bool is_remote(const Stream& stream);

/// Returns the streams that this process enqueues work on.
[[nodiscard]] std::vector<Stream*> local_streams(const std::vector<Stream*>& streams);

}  // namespace parbench
