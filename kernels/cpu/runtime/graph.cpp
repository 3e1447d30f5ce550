#include "kernels/cpu/runtime/graph.h"

#include "kernels/cpu/runtime/stream.h"

namespace parbench::cpu {

void CpuGraph::launch() {
  ++launches_;
  for (const CapturedWork::Lane& lane : work_->lanes) {
    lane.stream->launch({work_, &lane.commands}, launches_);
  }
}

}  // namespace parbench::cpu
