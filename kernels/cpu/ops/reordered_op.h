// An operation that was planned in other layouts than those of its callers' tensors.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/cpu/onednn/planned_op.h"
#include "kernels/cpu/ops/plans.h"

namespace parbench::cpu {

/// The tensor that callers pass for an argument.
struct OutsideTensor {
  std::string_view role;
  TensorDesc tensor;
};

/// Runs `inner` on copies of arguments in scratch memory: what it reads is reordered before it,
/// what it writes after it. Both are part of the operation and of its time; its FLOPs are those of
/// `inner`, and `implementation()` lists the reorders.
class ReorderedOp final : public CpuOp {
 public:
  /// Arguments of `inner` that are not among `outside` stay as they are. Those among them are
  /// either read or written, not both.
  ReorderedOp(Planned inner, const std::vector<OutsideTensor>& outside);

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

/// The operation itself where it takes the tensors as they are, else with reorders around it.
[[nodiscard]] Planned with_reorders(Planned inner, const std::vector<OutsideTensor>& outside);

}  // namespace parbench::cpu
