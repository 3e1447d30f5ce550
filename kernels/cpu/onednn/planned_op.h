// Building blocks of operations on oneDNN: a primitive with memory objects made in advance, and an
// operation that consists of one such primitive.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <span>
#include <vector>

#include "kernels/cpu/onednn/layout.h"
#include "kernels/cpu/runtime/cpu_op.h"
#include "kernels/ops/ops.h"

namespace parbench::cpu {

/// Returns the attribute that leaves scratch memory to the caller, so that a plan may run in any
/// thread.
[[nodiscard]] dnnl::primitive_attr user_scratchpad();

/// A primitive with memory objects made in advance. `run` sets their addresses and executes the
/// primitive; this class allocates nothing then.
class PrimitiveCall {
 public:
  PrimitiveCall(const dnnl::primitive_desc_base& plan, const dnnl::primitive& primitive);

  /// Appends an argument (DNNL_ARG_…) whose address `run` takes.
  void add(int argument, const dnnl::memory::desc& desc);

  [[nodiscard]] std::size_t scratch_bytes() const { return scratch_.get_desc().get_size(); }

  /// Runs in the calling thread. `addresses` are in the order of `add`.
  void run(const Execution& execution, std::span<std::byte* const> addresses, std::byte* scratch);

 private:
  void add(int argument, const dnnl::memory& memory);
  void point(std::size_t slot, std::byte* address);

  dnnl::primitive primitive_;
  dnnl::memory scratch_;  // also memories_[0]
  std::vector<dnnl::memory> memories_;
  std::vector<std::byte*> addresses_;
  std::vector<dnnl_exec_arg_t> arguments_;
};

/// Binds operand number `slot`, whose tensor has been added, to the next argument of a primitive
/// (DNNL_ARG_…) with this layout. Throws std::logic_error if the sizes differ.
void bind_slot(const CpuOp& op, std::size_t slot, PrimitiveCall& call, int argument,
               const dnnl::memory::desc& layout);

/// Adds the tensor of the next operand and binds it as `bind_slot` does.
void bind_next(CpuOp& op, PrimitiveCall& call, int argument, const dnnl::memory::desc& layout);

class PrimitiveOp final : public CpuOp {
 public:
  PrimitiveOp(const OpDesc& desc, const dnnl::primitive_desc_base& plan,
              const dnnl::primitive& primitive);

  /// Binds the next operand to an argument of the primitive (DNNL_ARG_…) with this layout.
  void bind(int argument, const dnnl::memory::desc& layout);

  void execute(const Execution& execution, std::span<std::byte* const> arguments) override;

 private:
  PrimitiveCall call_;
};

/// Returns an operation of one primitive whose operands are `arguments` (DNNL_ARG_…), in the
/// layouts of the plan.
[[nodiscard]] std::unique_ptr<CpuOp> primitive_op(const OpDesc& desc,
                                                  const dnnl::primitive_desc_base& plan,
                                                  const dnnl::primitive& primitive,
                                                  std::initializer_list<int> arguments);

}  // namespace parbench::cpu
