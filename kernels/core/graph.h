// Work of several streams, captured once and launched many times.
#pragma once

namespace parbench {

/// Made by Stream::capture. The streams, operations and memory that it refers to outlive it, and
/// the memory stays where it was when the work was captured. It may be destroyed while a launch
/// still runs, which then goes on to its end.
class Graph {
 public:
  virtual ~Graph() = default;

  /// Enqueues all captured work behind what is queued on the stream that captured it; what is
  /// enqueued there afterwards begins when all of the work has run. Nothing else may be queued on
  /// the streams that joined the capture until then. Returns at once and allocates nothing. A
  /// failure of the work comes out of `synchronize` of the captured streams, as it would without a
  /// graph.
  virtual void launch() = 0;
};

}  // namespace parbench
