// CPU streams: the queue, the worker and its commands.
#include "kernels/cpu/runtime/stream.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/prctl.h>

#include <cstring>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <stdexcept>

#include "kernels/base/error.h"
#include "kernels/core/device.h"
#include "kernels/cpu/host/topology.h"
#include "kernels/cpu/runtime/engine.h"
#include "kernels/cpu/runtime/graph.h"
#include "kernels/cpu/runtime/memory.h"
#include "kernels/cpu/runtime/team_waiting.h"

namespace parbench::cpu {
namespace {

using Kind = Command::Kind;

constexpr std::size_t initial_capacity = 1024;
/// Nanoseconds by which the system may lengthen a worker's sleeps; Linux's default is 50 µs.
constexpr unsigned long timer_slack = 1000;

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
      prctl(PR_SET_TIMERSLACK, timer_slack);
      bind_this_thread(cores_);
      bind_team(cores_, threads_);
      thread_ids_ = team_ids(threads_);
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
  device_.grow(scratch_, bytes, MemoryKind::device);
}

void CpuStream::copy(BufferView destination, BufferView source) {
  check_copy(destination, source, name_);
  Command command{.kind = Kind::copy, .tag = tag(), .bytes = source.bytes};
  command.arguments[0] = resolved(destination, "copy", name_, "destination");
  command.arguments[1] = resolved(source, "copy", name_, "source");
  enqueue(command);
}

void CpuStream::perform(HostWork& work) {
  enqueue({.kind = Kind::host_work, .tag = tag(), .work = &work});
}

void CpuStream::record(Event& event) {
  CpuEvent& mine = cpu_event(event);
  if (capture_) {
    capture_->record(capture_lane_, mine);
  } else {
    push({.kind = Kind::record, .event = &mine, .number = mine.announce()});
  }
}

void CpuStream::wait(Event& event) {
  if (auto* mine = dynamic_cast<CpuEvent*>(&event)) {
    wait_for_own(*mine);
  } else {
    refuse_while_capturing("wait for another backend's event");
    const std::uint32_t record = shared_records_of(event, name_).announced();
    push({.kind = Kind::wait_across, .foreign = &event, .number = record});
  }
}

void CpuStream::wait_for_own(CpuEvent& event) {
  const CpuEvent::Record record = event.latest();
  if (record.captured) {
    join(record.captured->capture.lock());
    capture_->wait(capture_lane_, *record.captured);
  } else {
    refuse_while_capturing("wait for an event from outside");
    push({.kind = Kind::wait, .event = &event, .number = record.number});
  }
}

void CpuStream::join(const std::shared_ptr<Capture>& capture) {
  if (!capture) {
    throw std::logic_error(name_ + " cannot wait for an event that a finished capture recorded");
  }
  if (capture_ == capture) return;
  refuse_while_capturing("wait for another capture's event");
  capture_lane_ = capture->add(*this);
  capture_ = capture;
}

void CpuStream::refuse_while_capturing(std::string_view what) const {
  if (capture_) throw std::logic_error(fmt::format("{} cannot {} while it captures", name_, what));
}

std::unique_ptr<Graph> CpuStream::capture(const std::function<void()>& enqueue) {
  refuse_while_capturing("begin a capture");
  const auto capture = std::make_shared<Capture>();
  join(capture);
  struct End {
    const Capture& capture;
    ~End() {
      for (const CapturedWork::Lane& lane : capture.lanes()) lane.stream->capture_.reset();
    }
  };
  {
    const End end{*capture};
    enqueue();
  }
  return std::make_unique<CpuGraph>(capture->finish());
}

void CpuStream::synchronize(std::chrono::milliseconds limit) {
  refuse_while_capturing("be waited for");
  std::unique_lock lock(mutex_);
  if (!idle_.wait_for(lock, limit, [this] { return count_ == 0; })) {
    throw TimedOut(
        fmt::format("{} did not finish within {} s; its kernels hang or the case is too large",
                    name_, std::chrono::duration<double>(limit).count()));
  }
  throw_failure();
}

void CpuStream::log_activities(ActivityLog* log) {
  const std::lock_guard lock(mutex_);
  log_ = log;
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
  Command command{.kind = Kind::op, .tag = tag(), .op = &op};
  op.resolve(views, name_, command.arguments);
  enqueue(command);
}

void CpuStream::enqueue(const Command& command) {
  if (capture_) {
    capture_->enqueue(capture_lane_, command);
  } else {
    push(command);
  }
}

void CpuStream::launch(std::shared_ptr<const CommandList> list, std::uint64_t launch) {
  refuse_while_capturing("launch a graph");
  push({.kind = Kind::list, .number = launch, .list = std::move(list)});
}

void CpuStream::call(const std::function<void()>& function) {
  // The queue refers to the function, so this call must not return between push and execution. Work
  // that may hang is therefore waited for first.
  synchronize(default_limit);
  push({.kind = Kind::function, .function = &function});
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return count_ == 0; });
  throw_failure();
}

void CpuStream::push(Command command) {
  {
    const std::lock_guard lock(mutex_);
    if (count_ == ring_.size()) {
      std::vector<Command> larger(ring_.size() * 2);
      for (std::size_t i = 0; i < count_; ++i) {
        larger[i] = std::move(ring_[(first_ + i) % ring_.size()]);
      }
      ring_.swap(larger);
      first_ = 0;
    }
    ring_[(first_ + count_) % ring_.size()] = std::move(command);
    if (++count_ > 1) return;  // the worker is busy and will see the new command
  }
  work_available_.notify_one();
}

void CpuStream::work() {
  pthread_setname_np(pthread_self(), name_.substr(0, 15).c_str());
  const auto has_work = [this] { return count_ > 0 || stopping_; };
  std::unique_lock lock(mutex_);
  for (;;) {
    const bool sleeps = !has_work();
    work_available_.wait(lock, has_work);
    if (count_ == 0) return;
    if (sleeps) {
      // Wakes the team of an idle stream before its first event is reached, so that times between
      // events do not include the wake-up. The team of a busy stream is awake.
      lock.unlock();
      wake_team(threads_);
      lock.lock();
    }
    {
      // moved out of the ring, which would otherwise keep graphs alive
      const Command command = std::move(ring_[first_]);
      lock.unlock();
      run_checked(command, command.number);
    }
    lock.lock();
    first_ = (first_ + 1) % ring_.size();
    if (--count_ == 0) idle_.notify_all();
  }
}

bool CpuStream::skips_work() {
  const std::lock_guard lock(mutex_);
  return failure_ != nullptr || stopping_;
}

void CpuStream::run_checked(const Command& command, std::uint64_t number) {
  const Kind kind = command.kind;
  const bool computes =
      kind == Kind::op || kind == Kind::copy || kind == Kind::host_work || kind == Kind::function;
  if (computes && skips_work()) return;
  try {
    if (log_ != nullptr && command.tag != 0) {
      run_logged(command, number);
    } else {
      run(command, number);
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
}

void CpuStream::run_logged(const Command& command, std::uint64_t number) {
  const bool by_team = threads_ > 1 && command.kind == Kind::op && command.op->work().seconds == 0;
  std::optional<TeamMeter> meter;
  if (by_team) meter.emplace();
  Activity activity{.tag = command.tag, .begin = std::chrono::steady_clock::now(), .end = {}};
  run(command, number);
  activity.end = std::chrono::steady_clock::now();
  if (meter) activity.team_waiting = meter->waiting(activity.end - activity.begin, threads_);
  log_->add(activity);
}

void CpuStream::run(const Command& command, std::uint64_t number) {
  switch (command.kind) {
    case Kind::op:
      command.op->execute({*dnnl_stream_, scratch_.data(), threads_},
                          std::span(command.arguments).first(command.op->arguments().size()));
      break;
    case Kind::copy:
      std::memcpy(command.arguments[0], command.arguments[1], command.bytes);
      break;
    case Kind::host_work:
      command.work->run();
      break;
    case Kind::record:
      command.event->reach(number);
      break;
    case Kind::wait:
    case Kind::wait_across:
      wait_in_worker(command, number);
      break;
    case Kind::function:
      (*command.function)();
      break;
    case Kind::list:
      for (const Command& one : *command.list) run_checked(one, number);
      break;
  }
}

void CpuStream::wait_in_worker(const Command& command, std::uint64_t number) const {
  const bool reached =
      command.kind == Kind::wait_across
          ? wait_on_host(*command.foreign, static_cast<std::uint32_t>(number), default_limit)
          : command.event->wait_for(number, default_limit);
  if (reached) return;
  throw Error(fmt::format("{} waited {} minutes for another stream's event", name_,
                          std::chrono::duration_cast<std::chrono::minutes>(default_limit).count()));
}

}  // namespace parbench::cpu
