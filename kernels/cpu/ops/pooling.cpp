// Max pooling and global average pooling, both ways, on oneDNN.
#include "kernels/cpu/ops/plans.h"
#include "kernels/cpu/runtime/engine.h"

namespace parbench::cpu {
namespace {

using dnnl::memory;

struct Window {
  dnnl::algorithm algorithm;
  memory::dims strides;
  memory::dims kernel;
  memory::dims padding;
};

Window max_window(const PoolingShape& shape) {
  return {.algorithm = dnnl::algorithm::pooling_max,
          .strides = {shape.stride, shape.stride},
          .kernel = {shape.kernel, shape.kernel},
          .padding = {shape.padding, shape.padding}};
}

// One window, the whole image.
Window mean_window(const Shape& source) {
  return {.algorithm = dnnl::algorithm::pooling_avg_exclude_padding,
          .strides = {1, 1},
          .kernel = {source[2], source[3]},
          .padding = {0, 0}};
}

dnnl::pooling_forward::primitive_desc plan_forward(const Window& window, const memory::desc& source,
                                                   const memory::desc& destination) {
  return {{dnnl::prop_kind::forward_training, window.algorithm, source, destination, window.strides,
           window.kernel, window.padding, window.padding},
          user_scratchpad(),
          engine()};
}

dnnl::pooling_backward::primitive_desc plan_backward(const Window& window,
                                                     const memory::desc& source,
                                                     const memory::desc& destination) {
  return {{window.algorithm, source, destination, window.strides, window.kernel, window.padding,
           window.padding},
          user_scratchpad(),
          engine(),
          plan_forward(window, source, destination)};
}

}  // namespace

Planned plan(const MaxPoolForward& desc) {
  const auto chosen =
      plan_forward(max_window(desc.shape), activation_desc(desc.shape.source, desc.dtype),
                   activation_desc(desc.shape.destination(), desc.dtype));
  auto op = std::make_unique<PrimitiveOp>(desc, chosen, dnnl::pooling_forward(chosen));
  op->bind(DNNL_ARG_SRC, chosen.src_desc());
  op->bind(DNNL_ARG_DST, chosen.dst_desc());
  op->bind(DNNL_ARG_WORKSPACE, chosen.workspace_desc());
  return op;
}

Planned plan(const MaxPoolBackward& desc) {
  const auto chosen =
      plan_backward(max_window(desc.shape), activation_desc(desc.shape.source, desc.dtype),
                    activation_desc(desc.shape.destination(), desc.dtype));
  auto op = std::make_unique<PrimitiveOp>(desc, chosen, dnnl::pooling_backward(chosen));
  op->bind(DNNL_ARG_DIFF_DST, chosen.diff_dst_desc());
  op->bind(DNNL_ARG_WORKSPACE, chosen.workspace_desc());
  op->bind(DNNL_ARG_DIFF_SRC, chosen.diff_src_desc());
  return op;
}

Planned plan(const GlobalAveragePoolForward& desc) {
  const auto chosen =
      plan_forward(mean_window(desc.source), activation_desc(desc.source, desc.dtype),
                   activation_desc(shape_of_means(desc.source), desc.dtype));
  auto op = std::make_unique<PrimitiveOp>(desc, chosen, dnnl::pooling_forward(chosen));
  op->bind(DNNL_ARG_SRC, chosen.src_desc());
  op->bind(DNNL_ARG_DST, chosen.dst_desc());
  return op;
}

Planned plan(const GlobalAveragePoolBackward& desc) {
  const auto chosen =
      plan_backward(mean_window(desc.source), activation_desc(desc.source, desc.dtype),
                    activation_desc(shape_of_means(desc.source), desc.dtype));
  auto op = std::make_unique<PrimitiveOp>(desc, chosen, dnnl::pooling_backward(chosen));
  op->bind(DNNL_ARG_DIFF_DST, chosen.diff_dst_desc());
  op->bind(DNNL_ARG_DIFF_SRC, chosen.diff_src_desc());
  return op;
}

}  // namespace parbench::cpu
