// A backward primitive whose last outputs are gradients of parameters, overwritten or accumulated.
#pragma once

#include <cstddef>
#include <oneapi/dnnl/dnnl.hpp>
#include <span>
#include <vector>

#include "kernels/cpu/onednn/planned_op.h"
#include "kernels/ops/ops.h"

namespace parbench::cpu {

/// A backward primitive whose gradients of parameters can be accumulated. oneDNN's primitives
/// cannot accumulate, so with `accumulate` the primitive writes these gradients to scratch memory,
/// and the operation adds them from there.
class GradientOp final : public CpuOp {
 public:
  GradientOp(const OpDesc& desc, const dnnl::primitive_desc_base& plan,
             const dnnl::primitive& primitive, bool accumulate);

  /// Binds the next operand to an argument of the primitive. For operands other than gradients of
  /// parameters; must be called before the first `bind_gradient`.
  void bind(int argument, const dnnl::memory::desc& layout);
  /// Binds the next operand, a gradient of parameters (f32).
  void bind_gradient(int argument, const dnnl::memory::desc& layout);

  void execute(const Execution& execution, std::span<std::byte* const> arguments) override;

 private:
  struct Gradient {
    std::size_t scratch = 0;  // with `accumulate`: offset of the new gradient in scratch memory
    std::size_t count = 0;    // floats, padding included
  };

  PrimitiveCall call_;
  bool accumulate_;
  std::size_t others_ = 0;  // number of arguments before the gradients
  std::vector<Gradient> gradients_;
};

}  // namespace parbench::cpu
