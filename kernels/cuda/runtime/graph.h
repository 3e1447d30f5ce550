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

/// A capture in progress; ends with the object at the latest, which throws away what was captured
/// and leaves the streams as before.
///
/// In relaxed mode: what the other threads of the process do (planning, allocation) is of no
/// concern, and a library that allocates or loads a module at its first call may do so, which is
/// not captured and need not be. What the libraries must not do, synchronise the streams, fails in
/// every mode.
class StreamCapture {
 public:
  explicit StreamCapture(cudaStream_t origin);
  ~StreamCapture();
  StreamCapture(const StreamCapture&) = delete;
  StreamCapture& operator=(const StreamCapture&) = delete;

  /// Ends it. Throws when a stream that joined was not joined back, or anything in it failed.
  [[nodiscard]] OwnedGraph finish();

 private:
  cudaStream_t origin_;
  bool active_ = true;
};

class CudaGraph final : public Graph {
 public:
  /// Instantiates and uploads the graph; launches go to `origin`.
  CudaGraph(CudaStream& origin, const OwnedGraph& graph);
  ~CudaGraph() override;
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;

  void launch() override;

 private:
  CudaStream& origin_;
  std::uint64_t logging_session_;  // of the origin, when it was captured
  OwnedExecutable executable_;
};

}  // namespace parbench::cuda
