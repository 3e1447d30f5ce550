// Streams of CPU devices: a worker thread bound to cores, with an OpenMP team and a queue of
// commands.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kernels/core/stream.h"
#include "kernels/cpu/host/thread_times.h"
#include "kernels/cpu/runtime/capture.h"
#include "kernels/cpu/runtime/command.h"
#include "kernels/cpu/runtime/cpu_op.h"
#include "kernels/cpu/runtime/event.h"

namespace parbench::cpu {

/// Stream of a CPU device. After an exception in its worker, it skips operations, copies and host
/// work until `synchronize` has thrown the exception. It also skips them while it is destroyed.
/// Events are still reached, so that no waiter hangs. Destruction waits for the running command.
class CpuStream final : public Stream {
 public:
  /// The worker is bound to `cores`, and each of several threads of its team to one of them. `name`
  /// appears in debuggers and error messages.
  CpuStream(Device& device, std::string name, std::vector<int> cores, int threads);
  ~CpuStream() override;
  CpuStream(const CpuStream&) = delete;
  CpuStream& operator=(const CpuStream&) = delete;

  [[nodiscard]] Device& device() const override { return device_; }
  [[nodiscard]] int threads() const override { return threads_; }
  [[nodiscard]] std::optional<ThreadTimes> thread_times() const override {
    return cpu::thread_times(thread_ids_);
  }
  [[nodiscard]] std::size_t scratch_bytes() const override { return scratch_.bytes(); }
  void copy(BufferView destination, BufferView source) override;
  void perform(HostWork& work) override;
  void record(Event& event) override;
  void wait(Event& event) override;
  [[nodiscard]] std::unique_ptr<Graph> capture(const std::function<void()>& enqueue) override;
  void synchronize(std::chrono::milliseconds limit) override;
  /// Each logged command costs two readings of the clock; operations of several threads also read
  /// it in each parallel region (TeamMeter).
  void log_activities(ActivityLog* log) override;
  void check_activities() override {}

  [[nodiscard]] const std::string& name() const { return name_; }

  /// Enqueues an operation. Throws std::invalid_argument if it was prepared for another number of
  /// threads or needs more scratch memory than the stream has, and what DescribedOp::resolve
  /// throws.
  void execute(CpuOp& op, std::span<const BufferView> views);

  /// Synchronises, runs a function in the worker and waits for it. Rethrows its exception. If
  /// `synchronize` throws, the function is not run.
  void call(const std::function<void()>& function);

  /// Enqueues this stream's part of a graph. `launch`: number of the launch, starting at 1.
  void launch(std::shared_ptr<const CommandList> list, std::uint64_t launch);

 private:
  void grow_scratch(std::size_t bytes) override;
  void wait_for_own(CpuEvent& event);
  void join(const std::shared_ptr<Capture>& capture);
  void refuse_while_capturing(std::string_view what) const;
  void enqueue(const Command& command);
  void push(Command command);
  void work();
  void stop();
  void run(const Command& command, std::uint64_t number);
  void run_logged(const Command& command, std::uint64_t number);
  void wait_in_worker(const Command& command, std::uint64_t number) const;
  void run_checked(const Command& command, std::uint64_t number);
  [[nodiscard]] bool skips_work();
  void throw_failure();  // requires the mutex; throws once

  Device& device_;
  std::string name_;
  std::vector<int> cores_;
  int threads_;
  std::vector<pid_t> thread_ids_;  // ids of the worker and of its OpenMP team
  Buffer scratch_;
  std::unique_ptr<dnnl::stream> dnnl_stream_;
  std::shared_ptr<Capture> capture_;  // set during a capture; used by the enqueueing thread only
  std::size_t capture_lane_ = 0;

  std::mutex mutex_;
  std::condition_variable work_available_;
  std::condition_variable idle_;
  std::vector<Command> ring_;  // grows when full, so that a repeated sequence allocates only once
  std::size_t first_ = 0;
  std::size_t count_ = 0;  // queued or running commands
  bool stopping_ = false;
  std::exception_ptr failure_;
  ActivityLog* log_ = nullptr;  // read by the worker while it works, set while it is idle

  std::thread worker_;  // last member: starts after all others are constructed
};

}  // namespace parbench::cpu
