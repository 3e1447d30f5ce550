// A graph: work of several streams, captured once and launched many times.
#pragma once

namespace parbench {

/// Work captured by Stream::capture. The streams, operations and memory of the work must outlive
/// the graph, and the memory must not move after the capture. Destroying the graph does not stop a
/// launch that still runs.
class Graph {
 public:
  virtual ~Graph() = default;

  /// Enqueues all captured work after the work already queued on the stream that captured it; work
  /// enqueued there later begins once all of the captured work has run. Until then, nothing else
  /// may be queued on the other streams of the capture. Returns at once and allocates nothing.
  /// `synchronize` of the captured streams throws failures of the work, as it would without a
  /// graph.
  virtual void launch() = 0;
};

}  // namespace parbench
