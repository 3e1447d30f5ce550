// An operation that was planned in other layouts than those of its callers' tensors.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "kernels/cpu/onednn/planned_op.h"
#include "kernels/cpu/ops/plans.h"

namespace parbench::cpu {

/// Takes activations in the device's layout and runs `inner` on copies of them in scratch memory:
/// what it reads is reordered before it, what it writes after it. Both are part of the operation
/// and of its time, and `implementation()` lists the reorders. No activation is both read and
/// written.
class ReorderedOp final : public CpuOp {
 public:
  ReorderedOp(const OpDesc& desc, Planned inner);

  void execute(const Execution& execution, std::span<std::byte* const> arguments) override;

 private:
  /// An argument with a copy in scratch memory.
  struct Detour {
    std::size_t slot = 0;  // among the arguments
    Access access = Access::read;
    std::size_t copy = 0;     // where it begins in the scratch memory
    std::size_t scratch = 0;  // of the reorder, the same
    PrimitiveCall reorder;    // from the argument to the copy, or back
  };

  void add_detour(std::size_t slot, const Argument& inside, const TensorDesc& outside);

  Planned inner_;
  std::vector<Detour> detours_;
};

/// The operation itself where it takes activations in the device's layout, else with reorders
/// around it.
[[nodiscard]] Planned in_device_layout(const OpDesc& desc, Planned inner);

}  // namespace parbench::cpu
