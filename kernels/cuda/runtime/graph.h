// CUDA graphs captured from streams.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>

#include "kernels/core/graph.h"

namespace parbench::cuda {

class CudaStream;

struct GraphDeleter {
  void operator()(cudaGraph_t graph) const { (void)cudaGraphDestroy(graph); }
  void operator()(cudaGraphExec_t executable) const { (void)cudaGraphExecDestroy(executable); }
};
using OwnedGraph = std::unique_ptr<CUgraph_st, GraphDeleter>;
using OwnedExecutable = std::unique_ptr<CUgraphExec_st, GraphDeleter>;

/// A capture in progress. The destructor ends it if necessary, discards the captured work and
/// restores the streams.
///
/// The capture is in relaxed mode: it does not restrict other threads of the process (planning,
/// allocation), and a library may allocate or load a module at its first call, which is not
/// captured. Synchronising the streams fails in every mode.
class StreamCapture {
 public:
  explicit StreamCapture(cudaStream_t origin);
  ~StreamCapture();
  StreamCapture(const StreamCapture&) = delete;
  StreamCapture& operator=(const StreamCapture&) = delete;

  /// Ends the capture. Throws if the origin does not wait for all other streams that joined the
  /// capture, or if a captured call failed.
  [[nodiscard]] OwnedGraph finish();

 private:
  cudaStream_t origin_;
  bool active_ = true;
};

class CudaGraph final : public Graph {
 public:
  /// Instantiates and uploads the graph; launches are enqueued on `origin`.
  CudaGraph(CudaStream& origin, const OwnedGraph& graph);
  ~CudaGraph() override;
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;

  void launch() override;

 private:
  CudaStream& origin_;
  std::uint64_t logging_session_;  // logging session of the origin at the time of the capture
  OwnedExecutable executable_;
};

}  // namespace parbench::cuda
