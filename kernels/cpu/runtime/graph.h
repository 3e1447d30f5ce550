// Graphs of CPU devices: a launch enqueues the list of commands of each stream as a whole, with one
// lock and one wake-up instead of one for each command.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "kernels/core/graph.h"
#include "kernels/cpu/runtime/capture.h"

namespace parbench::cpu {

class CpuGraph final : public Graph {
 public:
  explicit CpuGraph(std::shared_ptr<const CapturedWork> work) : work_(std::move(work)) {}

  void launch() override;

 private:
  std::shared_ptr<const CapturedWork> work_;  // queued lists share it
  std::uint64_t launches_ = 0;
};

}  // namespace parbench::cpu
