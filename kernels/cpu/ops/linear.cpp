// Fully connected layers and matrix products on oneDNN.
#include "kernels/cpu/ops/gradient_op.h"
#include "kernels/cpu/ops/plans.h"
#include "kernels/cpu/runtime/engine.h"

namespace parbench::cpu {
namespace {

using dnnl::memory;

memory::desc source_desc(const LinearShape& shape, DType dtype) {
  return memory_desc(canonical(shape.source(), dtype));
}

memory::desc destination_desc(const LinearShape& shape, DType dtype) {
  return memory_desc(canonical(shape.destination(), dtype));
}

// Plans a pass whose weights are the primitive's `argument`. Where oneDNN blocks them, its layout
// stays. Where it computes a plain matrix product it would store them one way for one pass or
// batch and the other way for another; they lie with the inputs outermost then, in which every
// pass is as fast or faster (docs/decisions/0022), so that they need no reordering in between.
template <class Plan>
auto plan_weights_alike(const LinearShape& shape, DType dtype, int argument, const Plan& plan) {
  const Shape weights = shape.weights();
  auto chosen = plan(any_layout(weights, dtype));
  const dnnl_memory_desc_t layout = chosen.query_md(dnnl::query::exec_arg_md, argument).data;
  if (layout.format_kind != dnnl_blocked || layout.format_desc.blocking.inner_nblks != 0) {
    return chosen;
  }
  return plan(memory::desc(weights, data_type_of(dtype), memory::format_tag::ba));
}

memory::desc bias_desc(const LinearShape& shape) {
  return memory_desc(canonical({shape.out_features}));
}

dnnl::inner_product_forward::primitive_desc plan_forward(const LinearShape& shape, DType dtype) {
  return plan_weights_alike(shape, dtype, DNNL_ARG_WEIGHTS, [&](const memory::desc& weights) {
    return dnnl::inner_product_forward::primitive_desc(
        {dnnl::prop_kind::forward_training, source_desc(shape, dtype), weights, bias_desc(shape),
         destination_desc(shape, dtype)},
        user_scratchpad(), engine());
  });
}

// A matrix of rows × columns that is stored transposed if `transposed`.
memory::desc operand(std::int64_t rows, std::int64_t columns, bool transposed, DType dtype) {
  const memory::dims strides = transposed ? memory::dims{1, rows} : memory::dims{columns, 1};
  return {{rows, columns}, data_type_of(dtype), strides};
}

}  // namespace

Planned plan(const LinearForward& desc) {
  const auto chosen = plan_forward(desc.shape, desc.dtype);
  auto op = std::make_unique<PrimitiveOp>(desc, chosen, dnnl::inner_product_forward(chosen));
  op->bind(DNNL_ARG_SRC, chosen.src_desc());
  op->bind(DNNL_ARG_WEIGHTS, chosen.weights_desc());
  op->bind(DNNL_ARG_BIAS, chosen.bias_desc());
  op->bind(DNNL_ARG_DST, chosen.dst_desc());
  return op;
}

Planned plan(const LinearBackwardData& desc) {
  const auto hint = plan_forward(desc.shape, desc.dtype);
  const auto chosen = plan_weights_alike(desc.shape, desc.dtype, DNNL_ARG_WEIGHTS,
                                         [&](const memory::desc& weights) {
                                           return dnnl::inner_product_backward_data::primitive_desc(
                                               {source_desc(desc.shape, desc.dtype), weights,
                                                destination_desc(desc.shape, desc.dtype)},
                                               user_scratchpad(), engine(), hint);
                                         });
  auto op = std::make_unique<PrimitiveOp>(desc, chosen, dnnl::inner_product_backward_data(chosen));
  op->bind(DNNL_ARG_DIFF_DST, chosen.diff_dst_desc());
  op->bind(DNNL_ARG_WEIGHTS, chosen.weights_desc());
  op->bind(DNNL_ARG_DIFF_SRC, chosen.diff_src_desc());
  return op;
}

Planned plan(const LinearBackwardWeights& desc) {
  const auto hint = plan_forward(desc.shape, desc.dtype);
  const auto chosen = plan_weights_alike(
      desc.shape, DType::f32, DNNL_ARG_DIFF_WEIGHTS, [&](const memory::desc& weights) {
        return dnnl::inner_product_backward_weights::primitive_desc(
            {source_desc(desc.shape, desc.dtype), weights, bias_desc(desc.shape),
             destination_desc(desc.shape, desc.dtype)},
            user_scratchpad(), engine(), hint);
      });
  auto op = std::make_unique<GradientOp>(desc, chosen, dnnl::inner_product_backward_weights(chosen),
                                         desc.accumulate);
  op->bind(DNNL_ARG_SRC, chosen.src_desc());
  op->bind(DNNL_ARG_DIFF_DST, chosen.diff_dst_desc());
  op->bind_gradient(DNNL_ARG_DIFF_WEIGHTS, chosen.diff_weights_desc());
  op->bind_gradient(DNNL_ARG_DIFF_BIAS, chosen.diff_bias_desc());
  return op;
}

Planned plan(const Gemm& desc) {
  dnnl::primitive_attr attributes = user_scratchpad();
  if (desc.accumulate) {
    dnnl::post_ops operations;
    operations.append_sum(1.0F);
    attributes.set_post_ops(operations);
  }
  const auto chosen =
      dnnl::matmul::primitive_desc({operand(desc.m, desc.k, desc.transpose_a, desc.dtype),
                                    operand(desc.k, desc.n, desc.transpose_b, desc.dtype),
                                    operand(desc.m, desc.n, false, desc.dtype)},
                                   attributes, engine());
  auto op = std::make_unique<PrimitiveOp>(desc, chosen, dnnl::matmul(chosen));
  op->bind(DNNL_ARG_SRC, chosen.src_desc());
  op->bind(DNNL_ARG_WEIGHTS, chosen.weights_desc());
  op->bind(DNNL_ARG_DST, chosen.dst_desc());
  return op;
}

}  // namespace parbench::cpu
