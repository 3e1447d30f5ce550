// Operations whose kernels need activations in another layout than the device's.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/cpu/onednn/planned_op.h"
#include "kernels/cpu/ops/plans.h"

namespace parbench::cpu {

/// An operation on activations in the device's layout, which runs `inner` on copies in scratch
/// memory of the activations whose layouts differ. Inputs are reordered before `inner`, outputs
/// after it. All reorders are part of the operation and of its time, and `implementation()` lists
/// them. No activation may be both read and written.
class ReorderedOp final : public CpuOp {
 public:
  ReorderedOp(const OpDesc& desc, Planned inner);

  void execute(const Execution& execution, std::span<std::byte* const> arguments) override;

 private:
  /// An argument with a copy in scratch memory.
  struct Detour {
    std::size_t slot = 0;  // index of the argument
    Access access = Access::read;
    std::size_t copy = 0;     // offset of the copy in scratch memory
    std::size_t scratch = 0;  // offset of the reorder's own scratch memory
    PrimitiveCall reorder;    // from the argument to the copy, or vice versa
  };

  void add_detour(std::size_t slot, const Argument& inside, const TensorDesc& outside);

  Planned inner_;
  std::vector<Detour> detours_;
};

/// Returns `inner` if it takes activations in the device's layout, otherwise `inner` with reorders
/// before and after it.
[[nodiscard]] Planned in_device_layout(const OpDesc& desc, Planned inner);

}  // namespace parbench::cpu
