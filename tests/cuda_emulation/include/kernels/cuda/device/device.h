// Takes the place of kernels/cuda/device/device.h: a device whose kernels run on the calling
// thread.
#pragma once

#include <cstring>

#include "kernels/core/device.h"
#include "kernels/cuda/ops/layout.h"

namespace parbench::cuda {

class CudaDevice final : public Device {
 public:
  void make_current() const {}
  static void upload(const Buffer& to, const void* from, std::size_t bytes) {
    std::memcpy(to.data(), from, bytes);
  }
  /// `displacement`: bytes from an aligned address to where its memory begins.
  explicit CudaDevice(std::size_t displacement);

  [[nodiscard]] const DeviceInfo& info() const override { return info_; }
  [[nodiscard]] AvailableMemory available_memory() const override { return {}; }
  [[nodiscard]] std::unique_ptr<Stream> make_stream(StreamKind kind, int index,
                                                    int sharers) override;
  [[nodiscard]] std::unique_ptr<Event> make_event(EventKind kind) override;
  [[nodiscard]] Buffer allocate(std::size_t bytes, MemoryKind kind) override;
  void grow(Buffer& buffer, std::size_t bytes, MemoryKind kind) override;
  [[nodiscard]] std::unique_ptr<Op> prepare(const OpDesc& desc, int threads) override;
  [[nodiscard]] TensorDesc activation(const Shape& shape, DType dtype) const override;

  [[nodiscard]] int multiprocessors() const { return 132; }  // an H200's
  [[nodiscard]] bool may_round_gradients() const { return false; }

 private:
  DeviceInfo info_;
  std::size_t displacement_;
};

}  // namespace parbench::cuda
