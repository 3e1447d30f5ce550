// Implementation of CPU streams: the queue, the worker and its commands.
#include "kernels/cpu/stream.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/prctl.h>

#include <cstring>
#include <oneapi/dnnl/dnnl.hpp>
#include <stdexcept>

#include "kernels/cpu/engine.h"
#include "kernels/cpu/memory.h"
#include "kernels/cpu/topology.h"
#include "kernels/device.h"
#include "kernels/error.h"

namespace parbench::cpu {
namespace {

constexpr std::size_t initial_capacity = 1024;
/// Nanoseconds by which the system may lengthen a worker's naps, 50 µs unless it is told.
constexpr unsigned long nap_slack = 1000;

CpuEvent& cpu_event(Event& event) {
  auto* mine = dynamic_cast<CpuEvent*>(&event);
  if (mine == nullptr) throw std::invalid_argument("a CPU stream got another backend's event");
  return *mine;
}

}  // namespace

CpuStream::CpuStream(Device& device, std::string name, std::vector<int> cores, int threads)
    : device_(device),
      name_(std::move(name)),
      cores_(std::move(cores)),
      threads_(threads),
      dnnl_stream_(std::make_unique<dnnl::stream>(engine())),
      ring_(initial_capacity),
      worker_([this] { work(); }) {
  try {
    call([this] {
      prctl(PR_SET_TIMERSLACK, nap_slack);
      bind_this_thread(cores_);
      bind_team(cores_, threads_);
    });
  } catch (...) {
    stop();
    throw;
  }
}

CpuStream::~CpuStream() { stop(); }

void CpuStream::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_available_.notify_one();
  worker_.join();
}

void CpuStream::grow_scratch(std::size_t bytes) {
  synchronize(default_limit);
  scratch_ = {};
  scratch_ = device_.allocate(bytes, MemoryKind::device);
}

void CpuStream::copy(BufferView destination, BufferView source) {
  check_copy(destination, source, name_);
  Command command{.kind = Kind::copy, .number = source.bytes};
  command.arguments[0] = resolved(destination, "copy", name_, "destination");
  command.arguments[1] = resolved(source, "copy", name_, "source");
  push(command);
}

void CpuStream::record(Event& event) {
  CpuEvent& mine = cpu_event(event);
  push({.kind = Kind::record, .event = &mine, .number = mine.announce()});
}

void CpuStream::wait(Event& event) {
  if (auto* mine = dynamic_cast<CpuEvent*>(&event)) {
    push({.kind = Kind::wait, .event = mine, .number = mine->announced()});
  } else {
    const std::uint32_t record = shared_records_of(event, name_).announced();
    push({.kind = Kind::wait_across, .foreign = &event, .number = record});
  }
}

void CpuStream::synchronize(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  if (!idle_.wait_for(lock, limit, [this] { return count_ == 0; })) {
    throw TimedOut(
        fmt::format("{} did not finish within {} s; its kernels hang or the case is too large",
                    name_, std::chrono::duration<double>(limit).count()));
  }
  throw_failure();
}

void CpuStream::throw_failure() {
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void CpuStream::execute(CpuOp& op, std::span<const BufferView> views) {
  if (op.threads != threads_) {
    throw std::invalid_argument(fmt::format("{} was prepared for {} threads, {} has {}", op.name(),
                                            op.threads, name_, threads_));
  }
  if (op.scratch_bytes() > scratch_.bytes()) {
    throw std::invalid_argument(fmt::format("{} needs {} bytes of scratch, {} has {}", op.name(),
                                            op.scratch_bytes(), name_, scratch_.bytes()));
  }
  Command command{.kind = Kind::op, .op = &op};
  op.resolve(views, name_, command.arguments);
  push(command);
}

void CpuStream::call(const std::function<void()>& function) {
  // The queue refers to the function, so nothing may end this call between push and its execution:
  // what can hang is waited for before.
  synchronize(default_limit);
  push({.kind = Kind::function, .function = &function});
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return count_ == 0; });
  throw_failure();
}

void CpuStream::push(const Command& command) {
  {
    const std::lock_guard lock(mutex_);
    if (count_ == ring_.size()) {
      std::vector<Command> larger(ring_.size() * 2);
      for (std::size_t i = 0; i < count_; ++i) larger[i] = ring_[(first_ + i) % ring_.size()];
      ring_.swap(larger);
      first_ = 0;
    }
    ring_[(first_ + count_) % ring_.size()] = command;
    if (++count_ > 1) return;  // the worker is busy and will come by
  }
  work_available_.notify_one();
}

void CpuStream::work() {
  pthread_setname_np(pthread_self(), name_.substr(0, 15).c_str());
  std::unique_lock lock(mutex_);
  for (;;) {
    work_available_.wait(lock, [this] { return count_ > 0 || stopping_; });
    if (count_ == 0) return;
    const Command command = ring_[first_];
    lock.unlock();
    run_checked(command);
    lock.lock();
    first_ = (first_ + 1) % ring_.size();
    if (--count_ == 0) idle_.notify_all();
  }
}

bool CpuStream::skips_work() {
  const std::lock_guard lock(mutex_);
  return failure_ != nullptr || stopping_;
}

void CpuStream::run_checked(const Command& command) {
  const bool computes = command.kind != Kind::record && command.kind != Kind::wait &&
                        command.kind != Kind::wait_across;
  if (computes && skips_work()) return;
  try {
    run(command);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
}

void CpuStream::run(const Command& command) {
  switch (command.kind) {
    case Kind::op:
      command.op->execute({*dnnl_stream_, scratch_.data(), threads_},
                          std::span(command.arguments).first(command.op->arguments().size()));
      break;
    case Kind::copy:
      std::memcpy(command.arguments[0], command.arguments[1], command.number);
      break;
    case Kind::record:
      command.event->reach(command.number);
      break;
    case Kind::wait:
    case Kind::wait_across:
      wait_in_worker(command);
      break;
    case Kind::function:
      (*command.function)();
      break;
  }
}

void CpuStream::wait_in_worker(const Command& command) const {
  const bool reached = command.foreign != nullptr
                           ? wait_on_host(*command.foreign,
                                          static_cast<std::uint32_t>(command.number), default_limit)
                           : command.event->wait_for(command.number, default_limit);
  if (reached) return;
  throw Error(fmt::format("{} waited {} minutes for another stream's event", name_,
                          std::chrono::duration_cast<std::chrono::minutes>(default_limit).count()));
}

}  // namespace parbench::cpu
