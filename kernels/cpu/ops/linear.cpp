// Fully connected layers and matrix products on oneDNN.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "kernels/cpu/onednn/data_gradient.h"
#include "kernels/cpu/onednn/inner_product.h"
#include "kernels/cpu/onednn/matrix_product.h"
#include "kernels/cpu/ops/flat_loops.h"
#include "kernels/cpu/ops/gradient_op.h"
#include "kernels/cpu/ops/plans.h"
#include "kernels/cpu/runtime/engine.h"

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

/// Returns whether oneDNN's matmul computes the gradient of blocked weights faster than the
/// backward inner product: in f32 with many rows (docs/decisions/cpu-kernels.md). Only the inner
/// product includes the gradient of the bias. With matmul, the gradient of the bias needs another
/// pass over the rows, which costs more than matmul saves if there are few inputs and many outputs.
bool pays_as_product(const LinearBackwardWeights& desc) {
  constexpr std::int64_t min_rows = 768;
  constexpr std::int64_t max_outputs = 8;  // outputs per input
  const LinearShape& shape = desc.shape;
  return desc.dtype == DType::f32 && shape.batch >= min_rows &&
         shape.out_features <= max_outputs * shape.in_features;
}

/// diff_weights = sourceᵀ · diff_destination with inputs outermost, then reordered into blocks.
class LinearWeightsProduct final : public CpuOp {
 public:
  LinearWeightsProduct(const LinearBackwardWeights& desc, const dnnl::memory::desc& weights)
      : CpuOp(desc),
        rows_(static_cast<std::size_t>(desc.shape.batch)),
        outputs_(static_cast<std::size_t>(desc.shape.out_features)),
        weights_(weights.get_size() / sizeof(float)),
        accumulate_(desc.accumulate),
        has_bias_(desc.bias),
        product_(plan_matrix_product(
            matrix_desc(desc.shape.in_features, desc.shape.batch, true, desc.dtype),
            matrix_desc(desc.shape.batch, desc.shape.out_features, false, desc.dtype),
            matrix_desc(desc.shape.in_features, desc.shape.out_features, false, DType::f32),
            false)) {
    const dnnl::memory::desc plain(desc.shape.weights(), dnnl::memory::data_type::f32,
                                   dnnl::memory::format_tag::ba);
    const dnnl::reorder::primitive_desc reorder(engine(), plain, engine(), weights,
                                                user_scratchpad());
    reorder_.emplace(reorder, dnnl::reorder(reorder));
    reorder_->add(DNNL_ARG_FROM, plain);
    reorder_->add(DNNL_ARG_TO, weights);
    for (const Operand& operand : operands()) {
      const bool is_weights = operand.placement == Placement::planned;
      add_tensor(is_weights ? describe(weights) : operand.tensor);
    }
    set_kernel(
        fmt::format("{} + {} reorder of weights", product_.kernel(), reorder.impl_info_str()));
    plain_ = add_scratch(plain.get_size());
    if (accumulate_) blocked_ = add_scratch(weights.get_size());
    work_ = add_scratch(std::max(product_.scratch_bytes(), reorder_->scratch_bytes()));
  }

  void execute(const Execution& execution, std::span<std::byte* const> arguments) override {
    std::byte* plain = execution.scratch + plain_;
    std::byte* work = execution.scratch + work_;
    std::byte* blocked = accumulate_ ? execution.scratch + blocked_ : arguments[2];
    product_.run(execution, {arguments[0], arguments[1], plain}, work);
    reorder_->run(execution, std::array{plain, blocked}, work);
    if (accumulate_) {
      accumulate(floats(arguments[2]), floats(blocked), weights_, execution.threads);
    }
    if (!has_bias_) return;
    sum_repeats(floats(arguments[3]), floats(arguments[1]), rows_, outputs_, accumulate_,
                execution.threads);
  }

 private:
  std::size_t rows_;
  std::size_t outputs_;
  std::size_t weights_;  // floats, padding included
  bool accumulate_;
  bool has_bias_;
  MatrixProduct product_;
  std::optional<PrimitiveCall> reorder_;
  // Offsets in scratch memory.
  std::size_t plain_ = 0;
  std::size_t blocked_ = 0;
  std::size_t work_ = 0;
};

}  // namespace

Planned plan(const LinearForward& desc) {
  const auto chosen = plan_inner_product(desc.shape, desc.dtype, desc.dtype, desc.bias);
  auto op = std::make_unique<PrimitiveOp>(desc, chosen, dnnl::inner_product_forward(chosen));
  op->bind(DNNL_ARG_SRC, chosen.src_desc());
  op->bind(DNNL_ARG_WEIGHTS, chosen.weights_desc());
  if (desc.bias) op->bind(DNNL_ARG_BIAS, chosen.bias_desc());
  op->bind(DNNL_ARG_DST, chosen.dst_desc());
  return op;
}

Planned plan(const LinearBackwardData& desc) {
  return std::make_unique<LinearBackwardDataOp>(desc);
}

Planned plan(const LinearBackwardWeights& desc) {
  const auto chosen = plan_inner_product_weights(desc.shape, desc.dtype, desc.bias);
  if (pays_as_product(desc) && is_blocked(chosen.diff_weights_desc())) {
    return std::make_unique<LinearWeightsProduct>(desc, chosen.diff_weights_desc());
  }
  auto op = std::make_unique<GradientOp>(desc, chosen, dnnl::inner_product_backward_weights(chosen),
                                         desc.accumulate);
  op->bind(DNNL_ARG_SRC, chosen.src_desc());
  op->bind(DNNL_ARG_DIFF_DST, chosen.diff_dst_desc());
  op->bind_gradient(DNNL_ARG_DIFF_WEIGHTS, chosen.diff_weights_desc());
  if (desc.bias) op->bind_gradient(DNNL_ARG_DIFF_BIAS, chosen.diff_bias_desc());
  return op;
}

Planned plan(const Gemm& desc) {
  const auto chosen = plan_matrix_product(
      matrix_desc(desc.m, desc.k, desc.transpose_a, desc.dtype, desc.batch),
      matrix_desc(desc.k, desc.n, desc.transpose_b, desc.dtype, desc.batch),
      matrix_desc(desc.m, desc.n, false, desc.dtype, desc.batch), desc.accumulate);
  return primitive_op(desc, chosen, dnnl::matmul(chosen),
                      {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST});
}

}  // namespace parbench::cpu
