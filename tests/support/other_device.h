// A second backend for tests: it computes on real CPU devices, but its streams, events and layouts
// are strangers to the CPU backend, as a GPU's are. What crosses between the two takes the ways
// that are there for any two backends.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernels/core/device.h"

namespace parbench::test {

/// Says of itself that its memory is not the host's, so only its own streams may copy from and to
/// it.
class OtherDevice final : public Device {
 public:
  /// `name`: "other:0".
  OtherDevice(std::unique_ptr<Device> device, std::string name);
  /// Messages to other ranks carry its data through staging memory.
  void stage_messages() { info_.staged = true; }

  const DeviceInfo& info() const override { return info_; }
  AvailableMemory available_memory() const override { return inner_->available_memory(); }
  std::unique_ptr<Stream> make_stream(StreamKind kind, int index, int sharers) override;
  std::unique_ptr<Event> make_event(EventKind kind) override;
  std::unique_ptr<Event> make_shared_event(Buffer word) override;
  Buffer allocate(std::size_t bytes, MemoryKind kind) override {
    ++allocations;
    return inner_->allocate(bytes, kind);
  }
  void grow(Buffer& buffer, std::size_t bytes, MemoryKind kind) override {
    inner_->grow(buffer, bytes, kind);
  }
  std::shared_ptr<void> page_lock(BufferView memory) override;
  std::unique_ptr<Op> prepare(const OpDesc& desc, int threads) override;
  TensorDesc activation(const Shape& shape, DType dtype) const override;

  /// The bytes that are locked now, by where they begin.
  std::map<const std::byte*, std::size_t> locked;
  int locks = 0;        // so far
  int allocations = 0;  // the same
  int copies = 0;       // enqueued on its streams so far
  /// Called before memory is locked; may throw.
  std::function<void(BufferView)> on_page_lock = [](BufferView) {};

 private:
  std::unique_ptr<Device> inner_;
  DeviceInfo info_;
};

/// The CPU devices of this machine by turns as they are and as another backend's: cpu:0, other:1,
/// cpu:2, …; `other_first` begins with the other.
[[nodiscard]] std::vector<std::unique_ptr<Device>> mixed_devices(int count,
                                                                 bool other_first = false);

}  // namespace parbench::test
