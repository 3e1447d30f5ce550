// Synchronisation of backends through host memory.
#include "kernels/core/crossing.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>

namespace parbench {
namespace {

/// Pause between polls: long enough to leave the core to a thread that computes there.
constexpr auto poll_interval = std::chrono::microseconds(20);
constexpr int polls_between_checks = 50;

bool same_backend(const Device& a, const Device& b) { return a.info().backend == b.info().backend; }

}  // namespace

SharedRecords::SharedRecords(Buffer word)
    : memory_(std::move(word)), word_(reinterpret_cast<std::uint32_t*>(memory_.data())) {
  if (memory_.bytes() < sizeof(std::uint32_t)) {
    throw std::invalid_argument("shared records need a word of memory");
  }
  reach(0);
}

void SharedRecords::reach(std::uint32_t record) {
  std::atomic_ref(*word_).store(record, std::memory_order_release);
}

bool SharedRecords::reached(std::uint32_t record) const {
  const std::uint32_t now = std::atomic_ref(*word_).load(std::memory_order_acquire);
  return static_cast<std::int32_t>(now - record) >= 0;
}

SharedRecords& shared_records_of(Event& event, std::string_view stream) {
  if (SharedRecords* records = event.shared_records()) return *records;
  throw std::invalid_argument(fmt::format(
      "{} cannot wait for this event, which is for streams of another backend", stream));
}

bool wait_on_host(Event& event, std::uint32_t record, std::chrono::milliseconds limit) {
  const SharedRecords& records = shared_records_of(event, "the host");
  const auto end = std::chrono::steady_clock::now() + limit;
  for (int polls = 0; !records.reached(record); ++polls) {
    if (polls % polls_between_checks == 0) event.check();
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(poll_interval);
  }
  return true;
}

std::unique_ptr<Event> make_event_for(Device& recorder, std::span<Device* const> waiters,
                                      EventKind kind) {
  const auto foreign = std::ranges::find_if(
      waiters, [&](const Device* waiter) { return !same_backend(recorder, *waiter); });
  if (foreign == waiters.end()) return recorder.make_event(kind);
  // The host can access the pinned memory of every device, but not every device can access memory
  // that the host has allocated.
  Device& owner = recorder.info().host_memory ? **foreign : recorder;
  return recorder.make_shared_event(owner.allocate(sizeof(std::uint32_t), MemoryKind::pinned));
}

bool reaches(const Device& device, const Device& other) {
  if (device.info().rank != other.info().rank) return false;
  return same_backend(device, other) || other.info().host_memory;
}

}  // namespace parbench
