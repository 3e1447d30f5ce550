// Fully connected layers and matrix products on oneDNN.
#include "kernels/checks.h"
#include "kernels/cpu/engine.h"
#include "kernels/cpu/gradient_op.h"
#include "kernels/cpu/plans.h"

namespace parbench::cpu {
namespace {

using dnnl::memory;

memory::desc source_desc(const LinearShape& shape, DType dtype) {
  return memory_desc(canonical({shape.batch, shape.in_features}, dtype));
}

memory::desc destination_desc(const LinearShape& shape, DType dtype) {
  return memory_desc(canonical({shape.batch, shape.out_features}, dtype));
}

memory::desc weights_desc(const LinearShape& shape, DType dtype) {
  return any_layout({shape.out_features, shape.in_features}, dtype);
}

memory::desc bias_desc(const LinearShape& shape) {
  return memory_desc(canonical({shape.out_features}));
}

dnnl::inner_product_forward::primitive_desc plan_forward(const LinearShape& shape, DType dtype) {
  return dnnl::inner_product_forward::primitive_desc(
      {dnnl::prop_kind::forward_training, source_desc(shape, dtype), weights_desc(shape, dtype),
       bias_desc(shape), destination_desc(shape, dtype)},
      user_scratchpad(), engine());
}

// A matrix of rows × columns that is stored transposed if `transposed`.
memory::desc operand(std::int64_t rows, std::int64_t columns, bool transposed, DType dtype) {
  const memory::dims strides = transposed ? memory::dims{1, rows} : memory::dims{columns, 1};
  return {{rows, columns}, data_type_of(dtype), strides};
}

// The matrix as it lies in memory.
TensorDesc stored(std::int64_t rows, std::int64_t columns, bool transposed, DType dtype) {
  return transposed ? canonical({columns, rows}, dtype) : canonical({rows, columns}, dtype);
}

}  // namespace

Planned plan(const LinearForward& desc) {
  const auto name = name_of(desc);
  check(name, desc.shape);
  check_arithmetic(name, {desc.dtype, desc.math});
  const auto chosen = plan_forward(desc.shape, desc.dtype);
  auto op = std::make_unique<PrimitiveOp>(name, chosen, dnnl::inner_product_forward(chosen));
  op->bind("source", Access::read, DNNL_ARG_SRC, chosen.src_desc());
  op->bind("weights", Access::read, DNNL_ARG_WEIGHTS, chosen.weights_desc());
  op->bind("bias", Access::read, DNNL_ARG_BIAS, chosen.bias_desc());
  op->bind("destination", Access::write, DNNL_ARG_DST, chosen.dst_desc());
  return op;
}

Planned plan(const LinearBackwardData& desc) {
  const auto name = name_of(desc);
  check(name, desc.shape);
  check_arithmetic(name, {desc.dtype, desc.math});
  const auto chosen = dnnl::inner_product_backward_data::primitive_desc(
      {source_desc(desc.shape, desc.dtype), weights_desc(desc.shape, desc.dtype),
       destination_desc(desc.shape, desc.dtype)},
      user_scratchpad(), engine(), plan_forward(desc.shape, desc.dtype));
  auto op = std::make_unique<PrimitiveOp>(name, chosen, dnnl::inner_product_backward_data(chosen));
  op->bind("diff_destination", Access::read, DNNL_ARG_DIFF_DST, chosen.diff_dst_desc());
  op->bind("weights", Access::read, DNNL_ARG_WEIGHTS, chosen.weights_desc());
  op->bind("diff_source", Access::write, DNNL_ARG_DIFF_SRC, chosen.diff_src_desc());
  return op;
}

Planned plan(const LinearBackwardWeights& desc) {
  const auto name = name_of(desc);
  check(name, desc.shape);
  check_arithmetic(name, {desc.dtype, desc.math});
  const auto chosen = dnnl::inner_product_backward_weights::primitive_desc(
      {source_desc(desc.shape, desc.dtype), weights_desc(desc.shape, DType::f32),
       bias_desc(desc.shape), destination_desc(desc.shape, desc.dtype)},
      user_scratchpad(), engine(), plan_forward(desc.shape, desc.dtype));
  auto op = std::make_unique<GradientOp>(name, chosen, dnnl::inner_product_backward_weights(chosen),
                                         desc.accumulate);
  op->bind("source", Access::read, DNNL_ARG_SRC, chosen.src_desc());
  op->bind("diff_destination", Access::read, DNNL_ARG_DIFF_DST, chosen.diff_dst_desc());
  op->bind_gradient("diff_weights", DNNL_ARG_DIFF_WEIGHTS, chosen.diff_weights_desc());
  op->bind_gradient("diff_bias", DNNL_ARG_DIFF_BIAS, chosen.diff_bias_desc());
  return op;
}

Planned plan(const Gemm& desc) {
  const auto name = name_of(desc);
  check_positive(name, "m", desc.m);
  check_positive(name, "n", desc.n);
  check_positive(name, "k", desc.k);
  check_arithmetic(name, {desc.dtype, desc.math});
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
  auto op = std::make_unique<PrimitiveOp>(name, chosen, dnnl::matmul(chosen));
  op->bind("a", Access::read, DNNL_ARG_SRC, chosen.src_desc(),
           stored(desc.m, desc.k, desc.transpose_a, desc.dtype));
  op->bind("b", Access::read, DNNL_ARG_WEIGHTS, chosen.weights_desc(),
           stored(desc.k, desc.n, desc.transpose_b, desc.dtype));
  op->bind("c", desc.accumulate ? Access::read_write : Access::write, DNNL_ARG_DST,
           chosen.dst_desc(), stored(desc.m, desc.n, false, desc.dtype));
  return op;
}

}  // namespace parbench::cpu
