// Events: records of streams, and waits for them.
#include <algorithm>

#include "tests/cuda_stand_in/objects.h"

using namespace parbench::stand_in;  // NOLINT(google-build-using-namespace): the vendor's functions

namespace {

/// Adds the nodes of a captured record to what the stream's next node waits for.
cudaError_t join(const Call& call, CUstream_st& stream, const CUevent_st& event) {
  if (!event.capture->active) {
    return call.fail(cudaErrorCapturedEvent, "the capture of the event's record has ended");
  }
  if (stream.capture && stream.capture != event.capture) {
    return call.fail(cudaErrorStreamCaptureMerge, "two captures would become one");
  }
  if (!stream.capture) {
    stream.capture = event.capture;
    stream.tail.clear();
    event.capture->streams.insert(&stream);
  }
  for (const std::size_t node : event.nodes) {
    if (std::ranges::find(stream.tail, node) == stream.tail.end()) stream.tail.push_back(node);
  }
  return cudaSuccess;
}

}  // namespace

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  PARBENCH_CALL();
  if (flags != cudaEventDefault && flags != cudaEventDisableTiming) {
    return call.fail(cudaErrorNotSupported, "such events are not in the stand-in");
  }
  *event = make<CUevent_st>(current_context(), flags == cudaEventDefault);
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const Call call(__func__, {event});
  event->alive = false;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  PARBENCH_CALL(event, stream);
  if (event->context != stream->context) {
    return call.fail(cudaErrorInvalidResourceHandle, "event and stream have two contexts");
  }
  event->record = nullptr;
  event->capture = stream->capture;
  event->nodes = stream->tail;
  if (stream->capture) return cudaSuccess;
  const auto record = std::make_shared<Record>();
  event->record = record;
  submit(*stream, [record] {
    const std::lock_guard lock(state().mutex);
    record->time = Clock::now();
    record->done = true;
  });
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  const Call call(__func__, {event, stream});
  if (flags != 0) return call.fail(cudaErrorInvalidValue, "flags are not in the stand-in");
  if (const cudaError_t lost = call.lost()) return lost;
  if (event->capture) return join(call, *stream, *event);
  if (event->record == nullptr) return cudaSuccess;
  if (stream->capture) {
    stream->capture->is_invalid = true;
    return call.fail(cudaErrorStreamCaptureIsolation, "a capture waits for what is not part of it");
  }
  submit(*stream, [record = event->record] {
    std::unique_lock lock(state().mutex);
    state().changed.wait(lock, [&] { return record->done || state().lost != cudaSuccess; });
  });
  return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  const Call call(__func__, {event});
  if (event->capture) return call.fail(cudaErrorCapturedEvent, "the event's record was captured");
  if (const cudaError_t lost = call.lost()) return lost;
  if (event->record == nullptr || event->record->done) return cudaSuccess;
  return call.fail(cudaErrorNotReady);
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  PARBENCH_CALL(begin, end);
  if (!begin->timed || !end->timed || begin->context->device != end->context->device) {
    return call.fail(cudaErrorInvalidResourceHandle, "events without time, or of two devices");
  }
  if (begin->record == nullptr || end->record == nullptr) {
    return call.fail(cudaErrorInvalidResourceHandle, "an event was not recorded outside a capture");
  }
  if (!begin->record->done || !end->record->done) return call.fail(cudaErrorNotReady);
  *milliseconds =
      std::chrono::duration<float, std::milli>(end->record->time - begin->record->time).count();
  return cudaSuccess;
}
