// Streams and memory shared by the cases of a run.
#include "scenarios/context.h"

#include <fmt/format.h>

#include <stdexcept>

#include "kernels/error.h"

namespace parbench {
namespace {

constexpr std::size_t alignment = 4096;

std::size_t aligned(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

}  // namespace

Context::Context(std::vector<std::unique_ptr<Device>> devices, Options options)
    : devices_(std::move(devices)), options_(options) {}

Stream& Context::stream(int device, StreamKind kind, int index, int sharers) {
  if (kind == StreamKind::copy) {
    index = 0;
    sharers = 1;
  }
  auto& stream = streams_[{device, kind, index, sharers}];
  if (!stream) stream = this->device(device).make_stream(kind, index, sharers);
  return *stream;
}

void Context::begin_case() {
  for (auto& [key, arena] : arenas_) arena.used = 0;
  for (auto& [key, shared] : shared_) shared.used = false;
}

BufferView Context::borrow(int device, std::size_t bytes, MemoryKind kind) {
  Arena& arena = arenas_[{device, kind}];
  const std::size_t offset = arena.used;
  arena.used += aligned(bytes);
  return {arena.memory, offset, bytes};
}

BufferView Context::shared(int device, const std::string& key, std::size_t bytes, Fill fill) {
  Shared& shared = shared_[{device, key}];
  if (shared.bytes != 0 && shared.bytes != bytes) {
    throw std::logic_error(fmt::format("shared memory '{}' has {} bytes, asked for with {}", key,
                                       shared.bytes, bytes));
  }
  if (shared.bytes == 0) {
    shared.bytes = bytes;
    shared.fill = std::move(fill);
  }
  shared.used = true;
  return {shared.memory, 0, bytes};
}

void Context::commit() {
  for (auto& [key, arena] : arenas_) {
    if (arena.used <= arena.memory.bytes()) continue;
    device(key.first).grow(arena.memory, arena.used, key.second);
  }
  for (auto& [key, shared] : shared_) {
    if (!shared.used || shared.memory.data() != nullptr) continue;
    // Kept once it is filled: a later case must not find it empty when filling fails.
    Buffer memory = device(key.first).allocate(shared.bytes, MemoryKind::device);
    shared.fill(BufferView(memory));
    shared.memory = std::move(memory);
  }
}

const std::vector<double>& Context::measured(const std::string& key, const Measure& measure) {
  auto found = measured_.find(key);
  if (found == measured_.end()) found = measured_.emplace(key, measure()).first;
  return found->second;
}

std::size_t Context::case_bytes(int device) const {
  std::size_t sum = 0;
  for (const auto& [key, arena] : arenas_) {
    if (key.first == device) sum += arena.used;
  }
  for (const auto& [key, shared] : shared_) {
    if (key.first == device && shared.used) sum += shared.bytes;
  }
  for (const auto& [key, stream] : streams_) {
    if (std::get<0>(key) == device) sum += stream->scratch_bytes();
  }
  return sum;
}

}  // namespace parbench
