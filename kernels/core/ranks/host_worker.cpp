// The thread, its queue, and its waits for the stream.
#include "kernels/core/ranks/host_worker.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "kernels/core/device.h"

namespace parbench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t initial_capacity = 256;
/// Time for which a wait yields between polls, so that short waits end without the latency of
/// waking up. Longer waits sleep between polls.
constexpr auto yielding = std::chrono::microseconds(200);
constexpr auto sleep_between_polls = std::chrono::microseconds(20);
constexpr int polls_per_check = 50;

}  // namespace

double HostSignal::seconds_since(const Event& /*earlier*/) const {
  throw std::logic_error("an event that only orders has no time");
}

HostWorker::HostWorker(Device& device, std::function<void()> enter)
    : device_(device),
      enter_(std::move(enter)),
      come_(device.make_shared_event(make_word())),
      done_(make_word()),
      ring_(initial_capacity),
      thread_([this] { work(); }) {}

HostWorker::~HostWorker() {
  stop();
  { const std::lock_guard lock(mutex_); }
  changed_.notify_all();
  thread_.join();
}

Buffer HostWorker::make_word() {
  return device_.allocate(sizeof(std::uint32_t), MemoryKind::pinned);
}

void HostWorker::begin(Stream& stream, HostWork& work, HostSignal& signal, ActivityTag tag) {
  stream.record(*come_);
  push({.work = &work,
        .signal = &signal,
        .come = come_->shared_records()->announced(),
        .number = signal.shared_records()->announce(),
        .tag = tag});
}

void HostWorker::perform(Stream& stream, HostWork& work, ActivityTag tag) {
  begin(stream, work, done_, tag);
  stream.wait(done_);
}

Staging& HostWorker::staging() {
  if (!staging_) {
    auto made = std::make_unique<Staging>();
    for (Staging::Slot& slot : made->slots) {
      slot.memory = device_.allocate(Staging::slot_bytes, MemoryKind::pinned);
      slot.done = std::make_unique<HostSignal>(make_word());
    }
    staging_ = std::move(made);
  }
  return *staging_;
}

void HostWorker::push(const Order& order) {
  {
    const std::lock_guard lock(mutex_);
    if (count_ == ring_.size()) {
      std::vector<Order> larger(ring_.size() * 2);
      for (std::size_t i = 0; i < count_; ++i) larger[i] = ring_[(first_ + i) % ring_.size()];
      ring_.swap(larger);
      first_ = 0;
    }
    ring_[(first_ + count_) % ring_.size()] = order;
    ++count_;
  }
  changed_.notify_one();
}

void HostWorker::finish(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  if (!idle_.wait_for(lock, limit, [this] { return count_ == 0; })) {
    throw TimedOut(fmt::format("a message of {} did not end within {} s", device_.info().name,
                               std::chrono::duration<double>(limit).count()));
  }
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void HostWorker::stop() noexcept { stopping_ = true; }

void HostWorker::note_activities(bool on) {
  activities_.clear();
  notes_ = on;
}

void HostWorker::deliver(ActivityLog& log) {
  for (const Activity& activity : activities_) log.add(activity);
  activities_.clear();
}

void HostWorker::work() {
  try {
    enter_();
  } catch (...) {
    const std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
  }
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return count_ > 0 || stopping_; });
    if (count_ == 0) return;
    const Order order = ring_[first_];
    lock.unlock();
    run(order);
    order.signal->shared_records()->reach(order.number);
    lock.lock();
    first_ = (first_ + 1) % ring_.size();
    if (--count_ == 0) idle_.notify_all();
  }
}

bool HostWorker::skips() {
  const std::lock_guard lock(mutex_);
  return failure_ != nullptr || stopping_;
}

void HostWorker::run(const Order& order) {
  if (skips()) return;
  try {
    wait_for_stream(order.come);
    if (stopping_) return;
    const Clock::time_point begin = Clock::now();
    order.work->run();
    if (notes_ && order.tag != 0) note(order.tag, begin);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
}

/// Records work that started at `begin` and ends now. Consecutive work with the same tag, such as
/// the chunks of a message, becomes one activity.
void HostWorker::note(ActivityTag tag, Clock::time_point begin) {
  if (activities_.empty() || activities_.back().tag != tag) {
    activities_.push_back({.tag = tag, .begin = begin, .end = {}});
  }
  activities_.back().end = Clock::now();
}

void HostWorker::wait_for_stream(std::uint32_t record) {
  const SharedRecords& records = *come_->shared_records();
  const Clock::time_point begin = Clock::now();
  for (int sleeps = 0; !records.reached(record) && !stopping_;) {
    if (Clock::now() - begin < yielding) {
      std::this_thread::yield();
      continue;
    }
    if (sleeps++ % polls_per_check == 0) come_->check();
    std::this_thread::sleep_for(sleep_between_polls);
  }
}

}  // namespace parbench
