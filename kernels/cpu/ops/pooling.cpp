// Max pooling, average pooling and global average pooling, both ways, on oneDNN.
#include "kernels/cpu/ops/plans.h"
#include "kernels/cpu/runtime/engine.h"

namespace parbench::cpu {
namespace {

using dnnl::memory;

struct Window {
  dnnl::algorithm algorithm;
  memory::dims strides;
  memory::dims kernel;
  memory::dims padding;   // padding at the top and on the left
  memory::dims trailing;  // padding at the bottom and on the right
};

Window window_of(const PoolingShape& shape, dnnl::algorithm algorithm) {
  const std::int64_t trailing = shape.padding + shape.trailing;
  return {.algorithm = algorithm,
          .strides = {shape.stride, shape.stride},
          .kernel = {shape.kernel, shape.kernel},
          .padding = {shape.padding, shape.padding},
          .trailing = {trailing, trailing}};
}

Window max_window(const PoolingShape& shape) {
  return window_of(shape, dnnl::algorithm::pooling_max);
}

Window average_window(const PoolingShape& shape, bool count_padding) {
  return window_of(shape, count_padding ? dnnl::algorithm::pooling_avg_include_padding
                                        : dnnl::algorithm::pooling_avg_exclude_padding);
}

// Returns a window that is the whole image.
Window mean_window(const Shape& source) {
  return {.algorithm = dnnl::algorithm::pooling_avg_exclude_padding,
          .strides = {1, 1},
          .kernel = {source[2], source[3]},
          .padding = {0, 0},
          .trailing = {0, 0}};
}

dnnl::pooling_forward::primitive_desc plan_forward(const Window& window, const memory::desc& source,
                                                   const memory::desc& destination) {
  return {{dnnl::prop_kind::forward_training, window.algorithm, source, destination, window.strides,
           window.kernel, window.padding, window.trailing},
          user_scratchpad(),
          engine()};
}

dnnl::pooling_backward::primitive_desc plan_backward(const Window& window,
                                                     const memory::desc& source,
                                                     const memory::desc& destination) {
  return {{window.algorithm, source, destination, window.strides, window.kernel, window.padding,
           window.trailing},
          user_scratchpad(),
          engine(),
          plan_forward(window, source, destination)};
}

Planned plan_mean(const OpDesc& desc, const Window& window, const memory::desc& source,
                  const memory::desc& destination) {
  const auto chosen = plan_forward(window, source, destination);
  auto op = std::make_unique<PrimitiveOp>(desc, chosen, dnnl::pooling_forward(chosen));
  op->bind(DNNL_ARG_SRC, chosen.src_desc());
  op->bind(DNNL_ARG_DST, chosen.dst_desc());
  return op;
}

Planned plan_gradient_of_mean(const OpDesc& desc, const Window& window, const memory::desc& source,
                              const memory::desc& destination) {
  const auto chosen = plan_backward(window, source, destination);
  auto op = std::make_unique<PrimitiveOp>(desc, chosen, dnnl::pooling_backward(chosen));
  op->bind(DNNL_ARG_DIFF_DST, chosen.diff_dst_desc());
  op->bind(DNNL_ARG_DIFF_SRC, chosen.diff_src_desc());
  return op;
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
  return plan_mean(desc, mean_window(desc.source), activation_desc(desc.source, desc.dtype),
                   activation_desc(shape_of_means(desc.source), desc.dtype));
}

Planned plan(const GlobalAveragePoolBackward& desc) {
  return plan_gradient_of_mean(desc, mean_window(desc.source),
                               activation_desc(desc.source, desc.dtype),
                               activation_desc(shape_of_means(desc.source), desc.dtype));
}

Planned plan(const AveragePoolForward& desc) {
  return plan_mean(desc, average_window(desc.shape, desc.count_padding),
                   activation_desc(desc.shape.source, desc.dtype),
                   activation_desc(desc.shape.destination(), desc.dtype));
}

Planned plan(const AveragePoolBackward& desc) {
  return plan_gradient_of_mean(desc, average_window(desc.shape, desc.count_padding),
                               activation_desc(desc.shape.source, desc.dtype),
                               activation_desc(desc.shape.destination(), desc.dtype));
}

}  // namespace parbench::cpu
