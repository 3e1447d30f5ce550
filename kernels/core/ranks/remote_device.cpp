// Streams, events and operations that do nothing.
#include "kernels/core/ranks/remote_device.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>

#include "kernels/base/round_up.h"

namespace parbench {
namespace {

class RemoteEvent final : public Event {
 public:
  [[nodiscard]] double seconds_since(const Event& /*earlier*/) const override { return 0; }
};

class RemoteStream final : public Stream {
 public:
  RemoteStream(Device& device, int threads) : device_(device), threads_(threads) {}

  [[nodiscard]] Device& device() const override { return device_; }
  [[nodiscard]] int threads() const override { return threads_; }
  [[nodiscard]] std::size_t scratch_bytes() const override { return scratch_bytes_; }
  void copy(BufferView /*destination*/, BufferView /*source*/) override {}
  void record(Event& /*event*/) override {}
  void wait(Event& /*event*/) override {}
  void perform(HostWork& /*work*/) override {}
  void synchronize(std::chrono::milliseconds /*limit*/) override {}
  void log_activities(ActivityLog* /*log*/) override {}
  void check_activities() override {}

 private:
  void grow_scratch(std::size_t bytes) override { scratch_bytes_ = bytes; }

  Device& device_;
  int threads_;
  std::size_t scratch_bytes_ = 0;
};

class RemoteOp final : public Op {
 public:
  explicit RemoteOp(const Op& planned) {
    name_ = planned.name();
    arguments_ = planned.arguments();
    work_ = planned.work();
    scratch_bytes_ = planned.scratch_bytes();
    implementation_ = planned.implementation();
    is_reference_ = planned.is_reference();
    chosen_by_ = planned.chosen_by();
  }
  void enqueue(Stream& /*stream*/, std::span<const BufferView> /*views*/) override {}
};

/// Returns the number of threads that a stream of a CPU device with these cores has; a copy stream
/// has one thread.
int threads_of(const DeviceInfo& info, StreamKind kind, int index, int sharers) {
  const int cores = static_cast<int>(info.cores.size());
  if (kind == StreamKind::copy || sharers > cores) return 1;
  return std::max(1, (index + 1) * cores / sharers - index * cores / sharers);
}

}  // namespace

RemoteDevice::RemoteDevice(DeviceInfo info, Device& twin, bool same_kernels)
    : info_(std::move(info)), twin_(twin), same_kernels_(same_kernels) {
  info_.is_remote = true;
}

AvailableMemory RemoteDevice::available_memory() const {
  return {fmt::format("rank {}", info_.rank), info_.memory_bytes};
}

std::unique_ptr<Stream> RemoteDevice::make_stream(StreamKind kind, int index, int sharers) {
  return std::make_unique<RemoteStream>(*this, threads_of(info_, kind, index, sharers));
}

std::unique_ptr<Event> RemoteDevice::make_event(EventKind /*kind*/) {
  return std::make_unique<RemoteEvent>();
}

Buffer RemoteDevice::allocate(std::size_t bytes, MemoryKind kind) {
  constexpr std::size_t page = 4096;
  const std::size_t length = round_up(std::max<std::size_t>(bytes, 1), page);
  void* const address = mmap(nullptr, length, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) throw OutOfMemory(info_.name, bytes, 0);
  return {static_cast<std::byte*>(address), bytes, kind,
          [length](std::byte* data) { munmap(data, length); }};
}

void RemoteDevice::grow(Buffer& buffer, std::size_t bytes, MemoryKind kind) {
  if (bytes > buffer.bytes()) buffer = allocate(bytes, kind);
}

std::unique_ptr<Op> RemoteDevice::prepare(const OpDesc& desc, int threads) {
  return std::make_unique<RemoteOp>(*twin_.prepare(desc, threads));
}

TensorDesc RemoteDevice::activation(const Shape& shape, DType dtype) const {
  if (same_kernels_) return twin_.activation(shape, dtype);
  throw Unsupported(
      fmt::format("{} computes with another instruction set than {}, so that tensors lie "
                  "differently in memory; "
                  "limit all ranks to what both have, for example DNNL_MAX_CPU_ISA=AVX2",
                  info_.name, twin_.info().name));
}

bool is_remote(const Stream& stream) { return stream.device().info().is_remote; }

std::vector<Stream*> local_streams(const std::vector<Stream*>& streams) {
  std::vector<Stream*> local = streams;
  std::erase_if(local, [](const Stream* stream) { return is_remote(*stream); });
  return local;
}

}  // namespace parbench
