// Capture, instantiation and launch through the runtime library.
#include "kernels/cuda/runtime/graph.h"

#include "kernels/base/error.h"
#include "kernels/cuda/device/device.h"
#include "kernels/cuda/runtime/error.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {

StreamCapture::StreamCapture(cudaStream_t origin) : origin_(origin) {
  PARBENCH_CUDA(cudaStreamBeginCapture(origin_, cudaStreamCaptureModeRelaxed));
}

StreamCapture::~StreamCapture() {
  if (!active_) return;
  cudaGraph_t partial = nullptr;
  (void)cudaStreamEndCapture(origin_, &partial);
  const OwnedGraph owned(partial);
  (void)cudaGetLastError();  // clears the error, which the next call would return
}

OwnedGraph StreamCapture::finish() {
  active_ = false;  // also if the call below fails, which ends the capture too
  cudaGraph_t graph = nullptr;
  PARBENCH_CUDA(cudaStreamEndCapture(origin_, &graph));
  return OwnedGraph(graph);
}

CudaGraph::CudaGraph(CudaStream& origin, const OwnedGraph& graph)
    : origin_(origin), logging_session_(origin.logging_session()) {
  cudaGraphExec_t executable = nullptr;
  PARBENCH_CUDA(cudaGraphInstantiate(&executable, graph.get(), 0));
  executable_.reset(executable);
  PARBENCH_CUDA(cudaGraphUpload(executable_.get(), origin_.handle()));
}

// Does not stop a launch that still runs: the driver frees the graph when the launch has ended.
CudaGraph::~CudaGraph() {
  origin_.cuda_device().try_to_make_current();
  executable_.reset();
}

void CudaGraph::launch() {
  if (origin_.logging_session() != 0 && origin_.logging_session() != logging_session_) {
    throw Unsupported(origin_.name() +
                      ": the calls of this graph cannot be recorded, because it was captured "
                      "before recording began; capture it again");
  }
  origin_.cuda_device().make_current();
  PARBENCH_CUDA(cudaGraphLaunch(executable_.get(), origin_.handle()));
}

}  // namespace parbench::cuda
