// Streams: queues, each with a thread.
#include <algorithm>
#include <random>

#include "tests/cuda_stand_in/objects.h"
#include "tests/cuda_stand_in/stand_in.h"

namespace parbench::stand_in {
namespace {

thread_local std::minstd_rand random_pauses;

/// The life of a stream's thread.
void work_off(CUstream_st& stream, unsigned int number) {
  random_pauses.seed(number + 1);
  std::unique_lock lock(state().mutex);
  for (;;) {
    stream.filled.wait(lock, [&] { return !stream.queue.empty() || !stream.alive; });
    if (stream.queue.empty()) return;
    const Task task = std::move(stream.queue.front());
    stream.queue.pop_front();
    stream.busy = true;
    int& left = state().tasks_to_loss;
    if (left == 1) state().lost = cudaErrorIllegalAddress;
    left = std::max(0, left - 1);
    const bool runs = state().lost == cudaSuccess;
    lock.unlock();
    if (runs) pause_at_random();
    if (runs) task();
    lock.lock();
    stream.busy = false;
    state().changed.notify_all();
  }
}

}  // namespace

void pause_at_random() {
  static const int longest = setting("PARBENCH_STAND_IN_JITTER", 0);
  if (longest <= 0) return;
  std::this_thread::sleep_for(
      std::chrono::microseconds(std::uniform_int_distribution(0, longest)(random_pauses)));
}

void submit(CUstream_st& stream, Task task, Work work) {
  if (stream.capture) {
    const std::uint64_t number = ++state().nodes;
    stream.capture->nodes.push_back({std::move(task), stream.tail, work, &stream, number});
    stream.tail = {stream.capture->nodes.size() - 1};
    announce_node(number, 0);
    return;
  }
  stream.queue.push_back(recorded(stream, std::move(task), work));
  if (!std::exchange(stream.started, true)) {
    const auto number = static_cast<unsigned int>(state().objects.size());
    std::thread([&stream, number] { work_off(stream, number); }).detach();
  }
  stream.filled.notify_one();
}

CUstream_st& default_stream(int device) {
  static std::map<int, CUstream_st*>& streams = *new std::map<int, CUstream_st*>;
  CUstream_st*& stream = streams[device];
  if (stream == nullptr) stream = make<CUstream_st>(current_context(), "default stream");
  return *stream;
}

bool are_idle(std::optional<int> device) {
  return std::ranges::all_of(state().objects, [&](const auto& object) {
    const auto* stream = dynamic_cast<const CUstream_st*>(object.get());
    const bool counts = stream != nullptr && (!device || stream->context->device == *device);
    return !counts || stream->is_idle();
  });
}

void drain(Call& call, int device) {
  call.wait([&] { return are_idle(device); }, "it waits for the streams of the device");
}

std::mutex& grids() {
  static std::mutex& mutex = *new std::mutex;
  return mutex;
}

void load(Call& call, int device, const void* kernel) {
  if (kernel == nullptr || !state().loaded.emplace(device, kernel).second) return;
  state().loader = std::this_thread::get_id();
  drain(call, device);
  state().loader = {};
  state().changed.notify_all();
}

cudaError_t launch(cudaStream_t stream, std::function<void()> work, const void* kernel) {
  Call call("a launch");
  if (stream == nullptr) refuse(call.name(), "the default stream");
  call.check(stream);
  if (const cudaError_t lost = call.lost()) return lost;
  if (stream->context != current_context()) {
    return call.fail(cudaErrorInvalidResourceHandle, "the stream's context is not current");
  }
  load(call, stream->context->device, kernel);
  if (const cudaError_t lost = call.lost()) return lost;
  submit(*stream, std::move(work), Work::kernel);
  return cudaSuccess;
}

}  // namespace parbench::stand_in

using namespace parbench::stand_in;  // NOLINT(google-build-using-namespace): the vendor's functions

namespace {

/// Whether waiting for the stream, or asking it, would need what a capture only describes.
bool forbids_waiting(CUstream_st& stream) {
  if (!stream.capture) return false;
  stream.capture->is_invalid = true;
  return true;
}

}  // namespace

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  PARBENCH_CALL();
  if (flags != cudaStreamNonBlocking) {
    return call.fail(cudaErrorNotSupported, "streams that block are not in the stand-in");
  }
  *stream = make<CUstream_st>(current_context());
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const Call call(__func__, {stream});
  if (stream->capture) refuse(__func__, "the stream is capturing");
  stream->alive = false;
  stream->filled.notify_one();
  return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  const Call call(__func__, {stream});
  if (forbids_waiting(*stream)) return call.fail(cudaErrorStreamCaptureUnsupported, "is capturing");
  if (const cudaError_t lost = call.lost()) return lost;
  return stream->is_idle() ? cudaSuccess : call.fail(cudaErrorNotReady);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  Call call(__func__, {stream});
  if (forbids_waiting(*stream)) return call.fail(cudaErrorStreamCaptureUnsupported, "is capturing");
  call.wait([&] { return stream->is_idle(); }, "the stream does not end");
  return call.lost();
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  PARBENCH_CALL(stream);
  submit(*stream, [=] {
    this_thread().in_host_function = true;
    function(data);
    this_thread().in_host_function = false;
  });
  return cudaSuccess;
}
