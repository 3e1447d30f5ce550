// What the worker of a CPU stream executes, one after the other.
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

/// A stream's part of a graph. Its events are the graph's own and are reached once a launch.
using CommandList = std::vector<Command>;

struct Command {
  enum class Kind { op, copy, host_work, record, wait, wait_across, function, list };

  Kind kind = Kind::op;
  ActivityTag tag = 0;  // of an operation or copy
  CpuOp* op = nullptr;
  HostWork* work = nullptr;
  CpuEvent* event = nullptr;
  Event* foreign = nullptr;  // another backend's event, which is waited for
  std::uint64_t number = 0;  // of the event's record; of the list's launch
  std::size_t bytes = 0;     // of a copy
  const std::function<void()>* function = nullptr;
  std::shared_ptr<const CommandList> list = {};
  std::array<std::byte*, CpuOp::max_arguments> arguments{};
};

}  // namespace parbench::cpu
