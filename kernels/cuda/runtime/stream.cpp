// CUDA streams.
#include "kernels/cuda/runtime/stream.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <span>
#include <stdexcept>
#include <thread>
#include <utility>

#include "kernels/base/error.h"
#include "kernels/core/crossing.h"
#include "kernels/core/ranks/host_worker.h"
#include "kernels/cuda/activity/clock_bound.h"
#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device_code/arrival_counters.h"
#include "kernels/cuda/runtime/backoff.h"
#include "kernels/cuda/runtime/cuda_op.h"
#include "kernels/cuda/runtime/driver.h"
#include "kernels/cuda/runtime/error.h"
#include "kernels/cuda/runtime/event.h"
#include "kernels/cuda/runtime/graph.h"
#include "kernels/cuda/runtime/waiting_streams.h"

namespace parbench::cuda {
namespace {

using Clock = std::chrono::steady_clock;

/// Number of memsets by which `clock_error` compares recorded times with the host's clock when a
/// stream begins to log. The best of ten bounds the error by about the latency of a launch.
constexpr std::size_t clock_probes = 10;

CudaEvent& cuda_event(Event& event) {
  auto* mine = dynamic_cast<CudaEvent*>(&event);
  if (mine == nullptr)
    throw std::invalid_argument("a CUDA stream cannot record an event of another backend");
  return *mine;
}

bool is_capturing(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  PARBENCH_CUDA(cudaStreamIsCapturing(stream, &status));
  return status != cudaStreamCaptureStatusNone;
}

}  // namespace

CudaStream::CudaStream(CudaDevice& device, std::string name)
    : device_(device),
      name_(std::move(name)),
      counters_(device.allocate(arrival_counters * sizeof(unsigned int), MemoryKind::device)),
      stream_(device.create_stream()) {
  PARBENCH_CUDA(cudaMemsetAsync(counters_.data(), 0, counters_.bytes(), stream_));
}

CudaStream::~CudaStream() {
  device_.try_to_make_current();
  if (host_worker_) host_worker_->stop();  // the stream may wait for the worker
  (void)cudaStreamSynchronize(stream_);
  waiting_streams().remove(*this);
  host_worker_.reset();
  traced_.reset();
  if (cudnn_ != nullptr) (void)cudnnDestroy(cudnn_);
  (void)cudaStreamDestroy(stream_);
}

Device& CudaStream::device() const { return device_; }

void CudaStream::grow_scratch(std::size_t bytes) {
  synchronize(default_limit);
  device_.grow(scratch_, bytes, MemoryKind::device);
}

void CudaStream::copy(BufferView destination, BufferView source) {
  check_copy(destination, source, name_);
  std::byte* to = resolved(destination, "copy", name_, "destination");
  const std::byte* from = resolved(source, "copy", name_, "source");
  device_.make_current();
  const TracedCall traced = trace_call();
  PARBENCH_CUDA(cudaMemcpyAsync(to, from, source.bytes, cudaMemcpyDefault, stream_));
}

void CudaStream::record(Event& event) {
  device_.make_current();
  cuda_event(event).record(stream_);
}

void CudaStream::wait(Event& event) {
  device_.make_current();
  if (auto* mine = dynamic_cast<CudaEvent*>(&event)) {
    PARBENCH_CUDA(cudaStreamWaitEvent(stream_, mine->handle(), 0));
  } else {
    wait_across(event);
  }
}

/// The stream itself reads the event's word; no host thread takes part.
void CudaStream::wait_across(Event& event) {
  const SharedRecords& records = shared_records_of(event, name_);
  if (driver().stream_wait_value == nullptr) {
    throw Unsupported(name_ +
                      ": waiting for devices of other backends needs a driver for CUDA 11.7 or "
                      "newer; update the driver, or use cuda devices only");
  }
  if (is_capturing(stream_)) {
    throw Unsupported(name_ +
                      ": a graph cannot wait for devices of other backends; leave out --graph, or "
                      "use cuda devices only");
  }
  waiting_streams().add(*this);
  PARBENCH_CUDA(driver().stream_wait_value(stream_, reinterpret_cast<CUdeviceptr>(records.word()),
                                           records.announced(), CU_STREAM_WAIT_VALUE_GEQ));
}

/// What they wait for has been enqueued and needs nothing that this thread has yet to enqueue.
void CudaStream::await_waiting_streams() const {
  for (const CudaStream* stream : waiting_streams().all()) {
    if (!is_capturing(stream->stream_)) stream->wait_until_idle(default_limit);
  }
  device_.make_current();
}

std::unique_ptr<Graph> CudaStream::capture(const std::function<void()>& enqueue) {
  device_.make_current();
  StreamCapture capture(stream_);
  enqueue();
  device_.make_current();  // another stream's device may be current after the capture
  const OwnedGraph graph = capture.finish();
  return std::make_unique<CudaGraph>(*this, graph);
}

void CudaStream::synchronize(std::chrono::milliseconds limit) {
  wait_until_idle(limit);
  waiting_streams().remove(*this);
  if (host_worker_) host_worker_->finish(limit);
  if (traced_) settle(*traced_);
}

HostWorker* CudaStream::host_worker() {
  if (!host_worker_) {
    host_worker_ = std::make_unique<HostWorker>(device_, [this] { device_.enter_gpu(); });
    host_worker_->note_activities(log_ != nullptr);
  }
  return host_worker_.get();
}

/// The stream's device must be current.
bool CudaStream::is_idle() const { return PARBENCH_CUDA_DONE(cudaStreamQuery(stream_)); }

void CudaStream::wait_until_idle(std::chrono::milliseconds limit) const {
  device_.make_current();
  const Clock::time_point begin = Clock::now();
  while (!is_idle()) {
    const auto waited = Clock::now() - begin;
    if (waited > limit) {
      throw TimedOut(
          fmt::format("{} did not finish within {} s; its kernels hang or the case is too large",
                      name_, std::chrono::duration<double>(limit).count()));
    }
    const std::chrono::nanoseconds pause = backoff_after(waited);
    if (pause.count() > 0) {
      std::this_thread::sleep_for(pause);
    } else {
      std::this_thread::yield();  // lets a worker of a CPU device on the same core run
    }
  }
}

void CudaStream::execute(CudaOp& op, std::span<const BufferView> views) {
  if (&op.device() != &device_) {
    throw std::invalid_argument(fmt::format("{} was prepared for {}, not for {}", op.name(),
                                            op.device().info().name, name_));
  }
  if (op.scratch_bytes() > scratch_.bytes()) {
    throw std::invalid_argument(fmt::format("{} needs {} bytes of scratch, {} has {}", op.name(),
                                            op.scratch_bytes(), name_, scratch_.bytes()));
  }
  std::array<std::byte*, DescribedOp::max_arguments> addresses{};
  op.resolve(views, name_, addresses);
  const auto arguments = std::span(addresses).first(views.size());
  device_.make_current();
  if (op.begins_first_run(arguments)) await_waiting_streams();
  const TracedCall traced = trace_call();
  op.execute(*this, arguments);
}

cudnnHandle_t CudaStream::cudnn() {
  if (cudnn_ == nullptr) {
    device_.make_current();
    PARBENCH_CUDA(cudnnCreate(&cudnn_));
    PARBENCH_CUDA(cudnnSetStream(cudnn_, stream_));
  }
  return cudnn_;
}

TracedCall CudaStream::trace_call() const {
  return traced_ ? traced_->enqueue(tag()) : TracedCall();
}

TracedCall CudaStream::trace_collective() const {
  return traced_ ? traced_->enqueue_collective(tag()) : TracedCall();
}

void CudaStream::join_collective() const {
  if (traced_) traced_->join_collective(tag());
}

/// CUPTI requires a synchronising call before its records are read. The stream is idle, so the call
/// returns at once.
void CudaStream::settle(TracedStream& traced) const {
  PARBENCH_CUDA(cudaStreamSynchronize(stream_));
  traced.settle();
  if (host_worker_ && log_ != nullptr) host_worker_->deliver(*log_);
}

void CudaStream::log_activities(ActivityLog* log) {
  traced_.reset();
  log_ = nullptr;
  if (host_worker_) host_worker_->note_activities(log != nullptr);
  if (log == nullptr) return;
  ActivityLog probes(clock_probes);
  const TracedStream::Description description{
      .name = name_, .device = static_cast<std::uint32_t>(device_.ordinal()), .is_idle = [this] {
        device_.make_current();
        return is_idle();
      }};
  auto traced = std::make_unique<TracedStream>(device_.activity_trace(), description, probes);
  log->clock_error = clock_error(*traced, probes);
  traced->redirect(*log);
  traced_ = std::move(traced);
  log_ = log;
}

void CudaStream::check_activities() { device_.activity_trace()->check(name_); }

/// Returns the error of the recorded times in seconds. Measures it with memsets: each runs between
/// a reading of the host's clock before it is enqueued and a reading after the stream is idle.
double CudaStream::clock_error(TracedStream& traced, const ActivityLog& probes) {
  const Buffer memory = device_.allocate(sizeof(int), MemoryKind::device);
  std::array<std::pair<Clock::time_point, Clock::time_point>, clock_probes> readings;
  for (std::size_t i = 0; i < clock_probes; ++i) {
    readings[i].first = Clock::now();
    {
      const TracedCall call = traced.enqueue(static_cast<ActivityTag>(i + 1));
      PARBENCH_CUDA(cudaMemsetAsync(memory.data(), 0, sizeof(int), stream_));
    }
    wait_until_idle(default_limit);
    readings[i].second = Clock::now();
  }
  settle(traced);
  ClockBound bound;
  for (const Activity& recorded : probes.activities()) {
    const auto& [before, after] = readings[recorded.tag - 1];
    bound.add(before, recorded, after);
  }
  if (probes.activities().empty()) {
    throw Unsupported(fmt::format(
        "{} cannot record when its calls run: CUPTI has no record of {} memsets; update the driver",
        name_, clock_probes));
  }
  return bound.error();
}

}  // namespace parbench::cuda
