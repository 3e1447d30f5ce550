// Commands that the worker of a CPU stream executes in order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "kernels/core/activity.h"
#include "kernels/core/ranks/host_work.h"
#include "kernels/cpu/runtime/cpu_op.h"

namespace parbench::cpu {

class CpuEvent;
struct Command;

/// A stream's part of a graph. Its events belong to the graph and are reached once per launch.
using CommandList = std::vector<Command>;

struct Command {
  enum class Kind { op, copy, host_work, record, wait, wait_across, function, list };

  Kind kind = Kind::op;
  ActivityTag tag = 0;  // tag of an operation, a copy or host work
  CpuOp* op = nullptr;
  HostWork* work = nullptr;
  CpuEvent* event = nullptr;
  Event* foreign = nullptr;  // event of another backend to wait for
  std::uint64_t number = 0;  // number of the event's record, or of the list's launch
  std::size_t bytes = 0;     // bytes of a copy
  const std::function<void()>* function = nullptr;
  std::shared_ptr<const CommandList> list = {};
  std::array<std::byte*, CpuOp::max_arguments> arguments{};
};

}  // namespace parbench::cpu
