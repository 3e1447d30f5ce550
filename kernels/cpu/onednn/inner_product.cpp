// Plans inner products with one layout of weights for the forward and backward passes.
#include "kernels/cpu/onednn/inner_product.h"

#include "kernels/cpu/onednn/layout.h"
#include "kernels/cpu/onednn/planned_op.h"
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

memory::desc bias_desc(const LinearShape& shape) {
  return memory_desc(canonical({shape.out_features}));
}

// Plans a pass whose weights are the primitive's `argument`. A blocked layout that oneDNN chooses
// is kept. For a plain matrix product, oneDNN would choose different layouts for different passes
// or batch sizes, so the layout with the inputs outermost is used instead. Every pass is as fast or
// faster with this layout (docs/decisions/cpu-kernels.md), and no weights are reordered between
// passes.
template <class Plan>
auto plan_weights_alike(const LinearShape& shape, DType dtype, int argument, const Plan& plan) {
  const Shape weights = shape.weights();
  auto chosen = plan(any_layout(weights, dtype));
  const memory::desc layout = chosen.query_md(dnnl::query::exec_arg_md, argument);
  if (layout.data.format_kind != dnnl_blocked || is_blocked(layout)) return chosen;
  return plan(memory::desc(weights, data_type_of(dtype), memory::format_tag::ba));
}

}  // namespace

bool is_blocked(const memory::desc& weights) {
  return weights.data.format_kind == dnnl_blocked &&
         weights.data.format_desc.blocking.inner_nblks != 0;
}

dnnl::inner_product_forward::primitive_desc plan_inner_product(const LinearShape& shape,
                                                               DType dtype, DType result,
                                                               bool bias) {
  return plan_weights_alike(shape, dtype, DNNL_ARG_WEIGHTS, [&](const memory::desc& weights) {
    return dnnl::inner_product_forward::primitive_desc(
        {dnnl::prop_kind::forward_training, source_desc(shape, dtype), weights,
         bias ? bias_desc(shape) : memory::desc(), destination_desc(shape, result)},
        user_scratchpad(), engine());
  });
}

dnnl::inner_product_backward_data::primitive_desc plan_inner_product_data(const LinearShape& shape,
                                                                          DType dtype,
                                                                          DType result) {
  const auto hint = plan_inner_product(shape, dtype, dtype, true);
  return plan_weights_alike(shape, dtype, DNNL_ARG_WEIGHTS, [&](const memory::desc& weights) {
    return dnnl::inner_product_backward_data::primitive_desc(
        {source_desc(shape, result), weights, destination_desc(shape, dtype)}, user_scratchpad(),
        engine(), hint);
  });
}

dnnl::inner_product_backward_weights::primitive_desc plan_inner_product_weights(
    const LinearShape& shape, DType dtype, bool bias) {
  const auto hint = plan_inner_product(shape, dtype, dtype, true);
  return plan_weights_alike(
      shape, DType::f32, DNNL_ARG_DIFF_WEIGHTS, [&](const memory::desc& weights) {
        return dnnl::inner_product_backward_weights::primitive_desc(
            {source_desc(shape, dtype), weights, bias ? bias_desc(shape) : memory::desc(),
             destination_desc(shape, dtype)},
            user_scratchpad(), engine(), hint);
      });
}

}  // namespace parbench::cpu
