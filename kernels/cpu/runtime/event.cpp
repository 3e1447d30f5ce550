#include "kernels/cpu/runtime/event.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace parbench::cpu {

std::chrono::steady_clock::time_point CpuEvent::time() const {
  if (kind_ == EventKind::ordering) throw std::logic_error("an event that only orders has no time");
  const std::lock_guard lock(mutex_);
  if (latest_.captured)
    throw std::logic_error("an event that was recorded in a capture has no time");
  if (reached_ == 0) throw std::logic_error("an event that was never reached has no time");
  return time_;
}

double CpuEvent::seconds_since(const Event& earlier) const {
  const auto* other = dynamic_cast<const CpuEvent*>(&earlier);
  if (other == nullptr)
    throw std::invalid_argument("events of different backends have no distance");
  return std::chrono::duration<double>(time() - other->time()).count();
}

std::uint64_t CpuEvent::announce() {
  const std::lock_guard lock(mutex_);
  if (shared_) shared_->announce();
  latest_.captured.reset();
  return ++latest_.number;
}

void CpuEvent::announce_captured(CapturedRecord record) {
  const std::lock_guard lock(mutex_);
  latest_.captured = std::move(record);
}

CpuEvent::Record CpuEvent::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

void CpuEvent::reach(std::uint64_t record) {
  const bool timing = kind_ == EventKind::timing;
  const auto now = timing ? std::chrono::steady_clock::now() : decltype(time_)();
  // Notifies with the lock held: a waiter may destroy the event as soon as it continues.
  const std::lock_guard lock(mutex_);
  reached_ = std::max(reached_, record);
  time_ = now;
  if (shared_) shared_->reach(static_cast<std::uint32_t>(reached_));
  reached_changed_.notify_all();
}

bool CpuEvent::wait_for(std::uint64_t record, std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  return reached_changed_.wait_for(lock, limit, [&] { return reached_ >= record; });
}

}  // namespace parbench::cpu
