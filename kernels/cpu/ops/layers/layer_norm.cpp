// Layer normalisation and its backward pass on oneDNN, with all rows as one matrix.
#include <array>
#include <cstddef>
#include <span>

#include "kernels/cpu/ops/flat_loops.h"
#include "kernels/cpu/ops/plans.h"
#include "kernels/cpu/ops/prepare.h"
#include "kernels/cpu/runtime/engine.h"

namespace parbench::cpu {
namespace {

using dnnl::memory;

dnnl::normalization_flags scale_and_shift() {
  return dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;
}

memory::desc rows_of(const Shape& shape, DType dtype) {
  const std::int64_t columns = shape.back();
  return memory_desc(canonical({element_count(shape) / columns, columns}, dtype));
}

dnnl::layer_normalization_forward::primitive_desc plan_layer_norm(const memory::desc& rows,
                                                                  float epsilon) {
  return {{dnnl::prop_kind::forward_training, rows, epsilon, scale_and_shift()},
          user_scratchpad(),
          engine()};
}

// Indices of the arguments of LayerNormBackward, in the order of ops.h.
enum GradientSlot : std::size_t {
  of_source,
  of_diff_destination,
  of_mean,
  of_variance,
  of_scale,
  of_diff_source,
  of_diff_scale,
  of_diff_shift
};

/// The backward pass. It is not a GradientOp, because oneDNN's primitive requires a shift, which
/// LayerNormBackward does not have. The results do not depend on the shift, so the primitive gets
/// the scale instead of a shift.
class LayerNormBackwardOp final : public CpuOp {
 public:
  LayerNormBackwardOp(const LayerNormBackward& desc,
                      const dnnl::layer_normalization_backward::primitive_desc& chosen);
  void execute(const Execution& execution, std::span<std::byte* const> arguments) override;

 private:
  PrimitiveCall call_;
  bool accumulate_;
  std::size_t columns_;
  std::size_t sums_ = 0;  // with `accumulate`: offset of the new gradients in scratch memory
};

LayerNormBackwardOp::LayerNormBackwardOp(
    const LayerNormBackward& desc, const dnnl::layer_normalization_backward::primitive_desc& chosen)
    : CpuOp(desc),
      call_(chosen, dnnl::layer_normalization_backward(chosen)),
      accumulate_(desc.accumulate),
      columns_(static_cast<std::size_t>(desc.shape.back())) {
  set_kernel(chosen.impl_info_str());
  add_tensors(*this);
  add_scratch(call_.scratch_bytes());
  if (accumulate_) sums_ = add_scratch(2 * columns_ * sizeof(float));
  const memory::desc column = memory_desc(canonical({desc.shape.back()}));
  bind_slot(*this, of_source, call_, DNNL_ARG_SRC, chosen.src_desc());
  bind_slot(*this, of_diff_destination, call_, DNNL_ARG_DIFF_DST, chosen.diff_dst_desc());
  bind_slot(*this, of_mean, call_, DNNL_ARG_MEAN, chosen.mean_desc());
  bind_slot(*this, of_variance, call_, DNNL_ARG_VARIANCE, chosen.variance_desc());
  bind_slot(*this, of_scale, call_, DNNL_ARG_SCALE, column);
  bind_slot(*this, of_diff_source, call_, DNNL_ARG_DIFF_SRC, chosen.diff_src_desc());
  bind_slot(*this, of_diff_scale, call_, DNNL_ARG_DIFF_SCALE, column);
  bind_slot(*this, of_diff_shift, call_, DNNL_ARG_DIFF_SHIFT, column);
  bind_slot(*this, of_scale, call_, DNNL_ARG_SHIFT, column);
}

void LayerNormBackwardOp::execute(const Execution& execution,
                                  std::span<std::byte* const> arguments) {
  float* sums = floats(execution.scratch + sums_);
  const auto gradient = [&](std::size_t slot, float* sum) {
    return accumulate_ ? reinterpret_cast<std::byte*>(sum) : arguments[slot];
  };
  const std::array<std::byte*, 9> addresses{arguments[of_source],
                                            arguments[of_diff_destination],
                                            arguments[of_mean],
                                            arguments[of_variance],
                                            arguments[of_scale],
                                            arguments[of_diff_source],
                                            gradient(of_diff_scale, sums),
                                            gradient(of_diff_shift, sums + columns_),
                                            arguments[of_scale]};
  call_.run(execution, addresses, execution.scratch);
  if (!accumulate_) return;
  accumulate(floats(arguments[of_diff_scale]), sums, columns_, execution.threads);
  accumulate(floats(arguments[of_diff_shift]), sums + columns_, columns_, execution.threads);
}

}  // namespace

Planned plan(const LayerNormForward& desc) {
  const auto chosen = plan_layer_norm(rows_of(desc.shape, desc.dtype), desc.epsilon);
  return primitive_op(desc, chosen, dnnl::layer_normalization_forward(chosen),
                      {DNNL_ARG_SRC, DNNL_ARG_SCALE, DNNL_ARG_SHIFT, DNNL_ARG_DST, DNNL_ARG_MEAN,
                       DNNL_ARG_VARIANCE});
}

Planned plan(const LayerNormBackward& desc) {
  const memory::desc rows = rows_of(desc.shape, desc.dtype);
  const dnnl::layer_normalization_backward::primitive_desc chosen(
      {dnnl::prop_kind::backward, rows, rows, desc.epsilon, scale_and_shift()}, user_scratchpad(),
      engine(), plan_layer_norm(rows, desc.epsilon));
  return std::make_unique<LayerNormBackwardOp>(desc, chosen);
}

}  // namespace parbench::cpu
