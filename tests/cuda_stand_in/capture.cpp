// Stream capture, and graphs.
#include <algorithm>
#include <random>

#include "tests/cuda_stand_in/objects.h"

using namespace parbench::stand_in;  // NOLINT(google-build-using-namespace): the vendor's functions

namespace {

/// Whether the origin's next node would come after all that the other streams have captured.
bool all_joined(const Capture& capture) {
  std::vector<bool> before(capture.nodes.size(), false);
  for (const std::size_t node : capture.origin->tail) before[node] = true;
  for (std::size_t node = capture.nodes.size(); node-- > 0;) {
    if (!before[node]) continue;
    for (const std::size_t needed : capture.nodes[node].needs) before[needed] = true;
  }
  return std::ranges::all_of(capture.streams, [&](const CUstream_st* stream) {
    return std::ranges::all_of(stream->tail, [&](std::size_t node) { return before[node]; });
  });
}

/// Runs the nodes in one of the orders that their dependencies allow, another one at every launch.
/// Nodes that meet others run on threads of their own.
void run_graph(const std::vector<Node>& nodes, unsigned int launch) {
  std::minstd_rand random(launch + 1);
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::size_t> missing;
  std::vector<std::vector<std::size_t>> next(nodes.size());
  std::vector<std::size_t> ready;
  std::size_t left = nodes.size();
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    missing.push_back(nodes[node].needs.size());
    for (const std::size_t needed : nodes[node].needs) next[needed].push_back(node);
    if (missing.back() == 0) ready.push_back(node);
  }
  const auto run = [&](std::size_t node) {
    nodes[node].task();
    const std::lock_guard lock(mutex);
    --left;
    for (const std::size_t after : next[node]) {
      if (--missing[after] == 0) ready.push_back(after);
    }
    changed.notify_one();
  };
  std::vector<std::jthread> threads;
  for (std::unique_lock lock(mutex);;) {
    changed.wait(lock, [&] { return !ready.empty() || left == 0; });
    if (ready.empty()) break;
    std::swap(ready[random() % ready.size()], ready.back());
    const std::size_t node = ready.back();
    ready.pop_back();
    lock.unlock();
    if (nodes[node].work == Work::collective) {
      threads.emplace_back(run, node);
    } else {
      run(node);
    }
    lock.lock();
  }
}

}  // namespace

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  PARBENCH_CALL(stream);
  if (mode != cudaStreamCaptureModeRelaxed) {
    return call.fail(cudaErrorNotSupported, "only relaxed captures are in the stand-in");
  }
  if (stream->capture) return call.fail(cudaErrorIllegalState, "the stream captures already");
  stream->capture = std::make_shared<Capture>();
  stream->capture->origin = stream;
  stream->capture->streams.insert(stream);
  stream->tail.clear();
  return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  PARBENCH_CALL(stream);
  *status = cudaStreamCaptureStatusNone;
  if (stream->capture) {
    *status = stream->capture->is_invalid ? cudaStreamCaptureStatusInvalidated
                                          : cudaStreamCaptureStatusActive;
  }
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const Call call(__func__, {stream});
  *graph = nullptr;
  const std::shared_ptr<Capture> capture = stream->capture;
  if (!capture || capture->origin != stream) {
    return call.fail(cudaErrorStreamCaptureUnmatched, "the stream did not begin a capture");
  }
  const bool joined = all_joined(*capture);
  for (CUstream_st* member : capture->streams) {
    member->capture = nullptr;
    member->tail.clear();
  }
  capture->active = false;
  if (const cudaError_t lost = call.lost()) return lost;
  if (capture->is_invalid) return call.fail(cudaErrorStreamCaptureInvalidated);
  if (!joined) return call.fail(cudaErrorStreamCaptureUnjoined, "a stream was not joined back");
  *graph = make<CUgraph_st>(std::move(capture->nodes));
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  const Call call(__func__, {graph});
  graph->alive = false;
  graph->nodes.clear();
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                 unsigned long long flags) {
  const Call call(__func__, {graph});
  if (flags != 0) return call.fail(cudaErrorNotSupported, "flags are not in the stand-in");
  if (const cudaError_t lost = call.lost()) return lost;
  std::vector<Node> nodes = graph->nodes;
  for (Node& node : nodes) {
    const std::uint64_t original = std::exchange(node.number, ++state().nodes);
    announce_node(node.number, original);
  }
  *executable = make<CUgraphExec_st>(std::move(nodes));
  return cudaSuccess;
}

cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t stream) {
  const Call call(__func__, {executable, stream});
  if (stream->capture) return call.fail(cudaErrorStreamCaptureUnsupported, "is capturing");
  return call.lost();
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  static unsigned int launches = 0;
  PARBENCH_CALL(executable, stream);
  if (stream->capture) return call.fail(cudaErrorNotSupported, "graphs in graphs");
  std::vector<Node> nodes = executable->nodes;
  for (Node& node : nodes) {
    node.task = recorded(*node.stream, std::move(node.task), node.work, node.number);
  }
  submit(*stream, [nodes = std::move(nodes), launch = launches++] { run_graph(nodes, launch); });
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  const Call call(__func__, {executable});
  executable->alive = false;
  executable->nodes.clear();
  return cudaSuccess;
}
