// Operations that run one function of this project: a loop over their arguments.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include "kernels/base/element.h"
#include "kernels/cpu/ops/plans.h"
#include "kernels/cpu/ops/prepare.h"

namespace parbench::cpu {

/// Properties of an operation that is a loop.
struct LoopNeeds {
  std::string_view implementation = "vector loop";
  std::size_t opaque_bytes = 0;   // bytes of each opaque operand
  std::size_t scratch_bytes = 0;  // bytes at Execution::scratch
};

/// An operation that calls `run(execution, arguments)`.
template <class Run>
class LoopOp final : public CpuOp {
 public:
  LoopOp(const OpDesc& desc, const LoopNeeds& needs, Run run) : CpuOp(desc), run_(std::move(run)) {
    add_tensors(*this, needs.opaque_bytes);
    add_scratch(needs.scratch_bytes);
    set_implementation(needs.implementation);
  }

  void execute(const Execution& execution, Addresses arguments) override {
    run_(execution, arguments);
  }

 private:
  Run run_;
};

template <class Run>
Planned loop_op(const OpDesc& desc, const LoopNeeds& needs, Run run) {
  return std::make_unique<LoopOp<Run>>(desc, needs, std::move(run));
}

template <class Run>
Planned loop_op(const OpDesc& desc, Run run) {
  return loop_op(desc, {}, std::move(run));
}

/// Plans an operation that calls `run(element, execution, arguments)`, where `element` has the C++
/// type of the description's elements (with_element).
template <class Desc, class Run>
Planned typed_loop_op(const Desc& desc, const LoopNeeds& needs, Run run) {
  return loop_op(
      desc, needs,
      [run = std::move(run), dtype = desc.dtype](const Execution& execution, Addresses arguments) {
        with_element(dtype, [&](auto element) { run(element, execution, arguments); });
      });
}

template <class Desc, class Run>
Planned typed_loop_op(const Desc& desc, Run run) {
  return typed_loop_op(desc, {}, std::move(run));
}

}  // namespace parbench::cpu
