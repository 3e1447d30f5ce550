#include "kernels/cpu/device/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "kernels/cpu/ops/prepare.h"
#include "kernels/cpu/runtime/event.h"
#include "kernels/cpu/runtime/memory.h"

namespace parbench::cpu {
namespace {

/// Returns the cores of share `index` of `sharers` shares. Shares differ by one core at most, and
/// no core is left over. With fewer cores than shares, share i is core i modulo the number of
/// cores.
std::vector<int> share_of(const std::vector<int>& cores, int index, int sharers) {
  const int count = static_cast<int>(cores.size());
  if (sharers > count) return {cores[static_cast<std::size_t>(index % count)]};
  return {cores.begin() + index * count / sharers, cores.begin() + (index + 1) * count / sharers};
}

}  // namespace

AvailableMemory CpuDevice::available_memory() const {
  return {"the host", cpu::available_memory()};
}

std::string CpuDevice::link_to(const Device& other) const {
  const auto* cpu = dynamic_cast<const CpuDevice*>(&other);
  if (cpu == nullptr) return {};
  const bool near = std::ranges::all_of(cpu->info_.cores, [this](int core) {
    return std::ranges::find(local_cores_, core) != local_cores_.end();
  });
  return near ? "shared memory" : "shared memory, different NUMA nodes";
}

std::unique_ptr<Stream> CpuDevice::make_stream(StreamKind kind, int index, int sharers) {
  if (sharers < 1 || index < 0 || index >= sharers) {
    throw std::invalid_argument(fmt::format("stream {} of {} does not exist", index, sharers));
  }
  if (kind == StreamKind::copy) {
    return std::make_unique<CpuStream>(*this, info_.name + "/copy", info_.copy_cores, 1);
  }
  const std::vector<int> cores = share_of(info_.cores, index, sharers);
  return std::make_unique<CpuStream>(*this, fmt::format("{}/{}", info_.name, index), cores,
                                     static_cast<int>(cores.size()));
}

std::unique_ptr<Event> CpuDevice::make_event(EventKind kind) {
  return std::make_unique<CpuEvent>(kind);
}

std::unique_ptr<Event> CpuDevice::make_shared_event(Buffer word) {
  return std::make_unique<CpuEvent>(std::move(word));
}

CpuStream& CpuDevice::service(int threads) {
  const std::lock_guard lock(service_mutex_);
  auto& service = services_[threads];
  if (!service) {
    service = std::make_unique<CpuStream>(*this, info_.name + "/service", info_.cores, threads);
  }
  return *service;
}

Buffer CpuDevice::allocate(std::size_t bytes, MemoryKind kind) {
  return map_memory({info_.name, local_cores_}, bytes, kind);
}

void CpuDevice::grow(Buffer& buffer, std::size_t bytes, MemoryKind kind) {
  grow_memory(buffer, {info_.name, local_cores_}, bytes, kind);
}

std::unique_ptr<Op> CpuDevice::prepare(const OpDesc& desc, int threads) {
  std::unique_ptr<CpuOp> op;
  service(threads).call([&] { op = cpu::prepare(desc, threads); });
  return op;
}

TensorDesc CpuDevice::activation(const Shape& shape, DType dtype) const {
  return cpu::activation(shape, dtype);
}

}  // namespace parbench::cpu
