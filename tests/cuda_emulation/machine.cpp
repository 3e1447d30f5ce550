// A machine with two devices whose kernels run on the host: memory of cuda:0 is aligned as
// cudaMalloc's, that of cuda:1 for single elements only, so that kernels cannot use vectors.
#include "kernels/machine/machine.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>

#include "kernels/cuda/device/device.h"
#include "kernels/cuda/ops/plans.h"
#include "kernels/cuda/runtime/stream.h"
#include "kernels/ops/checks.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, bytes) static_cast<void>(address)
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes) static_cast<void>(address)
#endif

namespace parbench {
namespace cuda {
namespace {

constexpr std::align_val_t allocation_alignment{256};  // of cudaMalloc
constexpr std::size_t displaced = sizeof(float);

Buffer allocate_at(std::size_t displacement, std::size_t bytes, MemoryKind kind) {
  auto* data = static_cast<std::byte*>(::operator new(displacement + bytes, allocation_alignment));
  return {data + displacement, bytes, kind, [displacement](std::byte* memory) {
            ::operator delete(memory - displacement, allocation_alignment);
          }};
}

class EmulatedEvent final : public Event {
 public:
  [[nodiscard]] double seconds_since(const Event& /*earlier*/) const override {
    throw std::logic_error("emulated kernels take no time");
  }
};

class EmulatedBackend final : public Backend {
 public:
  [[nodiscard]] std::string_view name() const override { return "cuda"; }
  [[nodiscard]] std::vector<Component> components() const override { return {}; }
  [[nodiscard]] int device_count() const override { return 2; }
  [[nodiscard]] std::string description() const override { return "kernels on the host"; }
  [[nodiscard]] std::vector<std::unique_ptr<Device>> open(
      const std::vector<DeviceNumber>& numbers, const DeviceOptions& /*options*/) override {
    std::vector<std::unique_ptr<Device>> devices;
    for (const DeviceNumber& number : numbers) {
      devices.push_back(std::make_unique<CudaDevice>(number.device == 0 ? 0 : displaced));
    }
    return devices;
  }
};

}  // namespace

CudaDevice::CudaDevice(std::size_t displacement) : displacement_(displacement) {
  info_.name = displacement == 0 ? "cuda:0" : "cuda:1";
  info_.backend = "cuda";
}

std::unique_ptr<Stream> CudaDevice::make_stream(StreamKind /*kind*/, int /*index*/,
                                                int /*sharers*/) {
  return std::make_unique<CudaStream>(*this);
}

std::unique_ptr<Event> CudaDevice::make_event(EventKind /*kind*/) {
  return std::make_unique<EmulatedEvent>();
}

Buffer CudaDevice::allocate(std::size_t bytes, MemoryKind kind) {
  return allocate_at(displacement_, bytes, kind);
}

void CudaDevice::grow(Buffer& buffer, std::size_t bytes, MemoryKind kind) {
  if (bytes > buffer.bytes()) buffer = allocate(bytes, kind);
}

std::unique_ptr<Op> CudaDevice::prepare(const OpDesc& desc, int /*threads*/) {
  check(desc);
  return std::visit([&](const auto& one) -> std::unique_ptr<Op> { return plan(*this, one); }, desc);
}

TensorDesc CudaDevice::activation(const Shape& shape, DType dtype) const {
  return shape.size() == 4 ? channels_last(shape, dtype) : canonical(shape, dtype);
}

Planned plan(CudaDevice& /*device*/, const Spin& desc) {
  throw Unsupported(std::string(name_of(desc)) + " needs a GPU's clock");
}

Planned plan(CudaDevice& /*device*/, const Discard& desc) {
  throw Unsupported(std::string(name_of(desc)) + " has no kernel");
}

CudaStream::CudaStream(CudaDevice& device) : device_(device) {}

Device& CudaStream::device() const { return device_; }

void CudaStream::copy(BufferView destination, BufferView source) {
  check_copy(destination, source, "stream");
  std::memcpy(destination.data(), source.data(), source.bytes);
}

void CudaStream::grow_scratch(std::size_t bytes) {
  scratch_ = allocate_at(0, bytes, MemoryKind::device);  // aligned by contract
}

void CudaStream::execute(CudaOp& op, std::span<const BufferView> views) {
  constexpr int nans = 0xFF;
  std::array<std::byte*, DescribedOp::max_arguments> addresses{};
  op.resolve(views, "stream", addresses);
  if (scratch_.bytes() > 0) std::memset(scratch_.data(), nans, scratch_.bytes());
  ASAN_POISON_MEMORY_REGION(scratch_.data(), scratch_.bytes());
  ASAN_UNPOISON_MEMORY_REGION(scratch_.data(), op.scratch_bytes());
  for (const BufferView& view : views) {
    ASAN_POISON_MEMORY_REGION(view.buffer->data(), view.buffer->bytes());
  }
  for (const BufferView& view : views) ASAN_UNPOISON_MEMORY_REGION(view.data(), view.bytes);
  op.execute(*this, std::span(addresses).first(views.size()));
  for (const BufferView& view : views) {
    ASAN_UNPOISON_MEMORY_REGION(view.buffer->data(), view.buffer->bytes());
  }
  ASAN_UNPOISON_MEMORY_REGION(scratch_.data(), scratch_.bytes());
  if (std::ranges::any_of(counters_, [](unsigned int counter) { return counter != 0; })) {
    throw std::logic_error(op.name() + " left counters that are not zero");
  }
}

}  // namespace cuda

Machine::Machine() { backends_.push_back(std::make_unique<cuda::EmulatedBackend>()); }

std::vector<Machine::Missing> Machine::missing_backends() { return {}; }

std::string_view Machine::request_examples() { return "cuda:0,cuda:1"; }

}  // namespace parbench
