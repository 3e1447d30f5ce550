// Fully connected layers and matrix products on oneDNN.
#include "kernels/cpu/onednn/data_gradient.h"
#include "kernels/cpu/onednn/inner_product.h"
#include "kernels/cpu/onednn/matrix_product.h"
#include "kernels/cpu/ops/gradient_op.h"
#include "kernels/cpu/ops/plans.h"

namespace parbench::cpu {
namespace {

class LinearBackwardDataOp final : public CpuOp {
 public:
  explicit LinearBackwardDataOp(const LinearBackwardData& desc)
      : CpuOp(desc), gradient_(desc.shape, desc.dtype, desc.dtype) {
    for (const Operand& operand : operands()) {
      const bool is_weights = operand.placement == Placement::planned;
      add_tensor(is_weights ? describe(gradient_.weights()) : operand.tensor);
    }
    set_kernel(gradient_.kernel());
    add_scratch(gradient_.scratch_bytes());
  }

  void execute(const Execution& execution, std::span<std::byte* const> arguments) override {
    gradient_.prepare(execution, arguments[1], execution.scratch);
    gradient_.multiply(execution, arguments[0], arguments[1], arguments[2], execution.scratch);
  }

 private:
  DataGradient gradient_;
};

}  // namespace

Planned plan(const LinearForward& desc) {
  const auto chosen = plan_inner_product(desc.shape, desc.dtype, desc.dtype, true);
  auto op = std::make_unique<PrimitiveOp>(desc, chosen, dnnl::inner_product_forward(chosen));
  op->bind(DNNL_ARG_SRC, chosen.src_desc());
  op->bind(DNNL_ARG_WEIGHTS, chosen.weights_desc());
  op->bind(DNNL_ARG_BIAS, chosen.bias_desc());
  op->bind(DNNL_ARG_DST, chosen.dst_desc());
  return op;
}

Planned plan(const LinearBackwardData& desc) {
  return std::make_unique<LinearBackwardDataOp>(desc);
}

Planned plan(const LinearBackwardWeights& desc) {
  const auto chosen = plan_inner_product_weights(desc.shape, desc.dtype, true);
  auto op = std::make_unique<GradientOp>(desc, chosen, dnnl::inner_product_backward_weights(chosen),
                                         desc.accumulate);
  op->bind(DNNL_ARG_SRC, chosen.src_desc());
  op->bind(DNNL_ARG_DIFF_DST, chosen.diff_dst_desc());
  op->bind_gradient(DNNL_ARG_DIFF_WEIGHTS, chosen.diff_weights_desc());
  op->bind_gradient(DNNL_ARG_DIFF_BIAS, chosen.diff_bias_desc());
  return op;
}

Planned plan(const Gemm& desc) {
  const auto chosen = plan_matrix_product(
      matrix_desc(desc.m, desc.k, desc.transpose_a, desc.dtype, desc.batch),
      matrix_desc(desc.k, desc.n, desc.transpose_b, desc.dtype, desc.batch),
      matrix_desc(desc.m, desc.n, false, desc.dtype, desc.batch), desc.accumulate);
  auto op = std::make_unique<PrimitiveOp>(desc, chosen, dnnl::matmul(chosen));
  op->bind(DNNL_ARG_SRC, chosen.src_desc());
  op->bind(DNNL_ARG_WEIGHTS, chosen.weights_desc());
  op->bind(DNNL_ARG_DST, chosen.dst_desc());
  return op;
}

}  // namespace parbench::cpu
