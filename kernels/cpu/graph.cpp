// Launching of CPU graphs.
#include "kernels/cpu/graph.h"

#include "kernels/cpu/stream.h"

namespace parbench::cpu {

void CpuGraph::launch() {
  ++launches_;
  for (const CapturedWork::Lane& lane : work_->lanes) {
    lane.stream->launch({work_, &lane.commands}, launches_);
  }
}

}  // namespace parbench::cpu
