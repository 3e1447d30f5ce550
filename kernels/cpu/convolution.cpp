// Convolution and its two backward passes on oneDNN.
#include <utility>

#include "kernels/checks.h"
#include "kernels/cpu/engine.h"
#include "kernels/cpu/gradient_op.h"
#include "kernels/cpu/plans.h"

namespace parbench::cpu {
namespace {

using dnnl::memory;

constexpr auto algorithm = dnnl::algorithm::convolution_direct;

// Everything that the three passes describe alike.
struct Geometry {
  explicit Geometry(const ConvolutionShape& shape, DType dtype)
      : source(activation_desc(shape.source(), dtype)),
        destination(activation_desc(shape.destination(), dtype)),
        strides{shape.stride, shape.stride},
        padding{shape.padding, shape.padding} {}

  memory::desc source;
  memory::desc destination;
  memory::dims strides;
  memory::dims padding;
};

memory::desc bias_desc(const ConvolutionShape& shape) {
  return memory_desc(canonical({shape.out_channels}));
}

dnnl::convolution_forward::primitive_desc plan_forward(const ConvolutionShape& shape, DType dtype,
                                                       bool bias) {
  const Geometry geometry(shape, dtype);
  const memory::desc weights = any_layout(shape.weights(), dtype);
  const auto training = dnnl::prop_kind::forward_training;
  if (bias) {
    return dnnl::convolution_forward::primitive_desc(
        {training, algorithm, geometry.source, weights, bias_desc(shape), geometry.destination,
         geometry.strides, geometry.padding, geometry.padding},
        user_scratchpad(), engine());
  }
  return dnnl::convolution_forward::primitive_desc(
      {training, algorithm, geometry.source, weights, geometry.destination, geometry.strides,
       geometry.padding, geometry.padding},
      user_scratchpad(), engine());
}

dnnl::convolution_backward_weights::primitive_desc plan_weights(const ConvolutionShape& shape,
                                                                DType dtype, bool bias) {
  const Geometry geometry(shape, dtype);
  const memory::desc diff_weights = any_layout(shape.weights(), DType::f32);
  const auto hint = plan_forward(shape, dtype, bias);
  if (bias) {
    return dnnl::convolution_backward_weights::primitive_desc(
        {algorithm, geometry.source, diff_weights, bias_desc(shape), geometry.destination,
         geometry.strides, geometry.padding, geometry.padding},
        user_scratchpad(), engine(), hint);
  }
  return dnnl::convolution_backward_weights::primitive_desc(
      {algorithm, geometry.source, diff_weights, geometry.destination, geometry.strides,
       geometry.padding, geometry.padding},
      user_scratchpad(), engine(), hint);
}

}  // namespace

Planned plan(const ConvolutionForward& desc) {
  const auto name = name_of(desc);
  check(name, desc.shape);
  check_arithmetic(name, {desc.dtype, desc.math});
  const auto chosen = plan_forward(desc.shape, desc.dtype, desc.bias);
  auto op = std::make_unique<PrimitiveOp>(name, chosen, dnnl::convolution_forward(chosen));
  op->bind("source", Access::read, DNNL_ARG_SRC, chosen.src_desc());
  op->bind("weights", Access::read, DNNL_ARG_WEIGHTS, chosen.weights_desc());
  if (desc.bias) op->bind("bias", Access::read, DNNL_ARG_BIAS, chosen.bias_desc());
  op->bind("destination", Access::write, DNNL_ARG_DST, chosen.dst_desc());
  return op;
}

Planned plan(const ConvolutionBackwardData& desc) {
  const auto name = name_of(desc);
  check(name, desc.shape);
  check_arithmetic(name, {desc.dtype, desc.math});
  const Geometry geometry(desc.shape, desc.dtype);
  const auto chosen = dnnl::convolution_backward_data::primitive_desc(
      {algorithm, geometry.source, any_layout(desc.shape.weights(), desc.dtype),
       geometry.destination, geometry.strides, geometry.padding, geometry.padding},
      user_scratchpad(), engine(), plan_forward(desc.shape, desc.dtype, false));
  auto op = std::make_unique<PrimitiveOp>(name, chosen, dnnl::convolution_backward_data(chosen));
  op->bind("diff_destination", Access::read, DNNL_ARG_DIFF_DST, chosen.diff_dst_desc());
  op->bind("weights", Access::read, DNNL_ARG_WEIGHTS, chosen.weights_desc());
  op->bind("diff_source", Access::write, DNNL_ARG_DIFF_SRC, chosen.diff_src_desc());
  return op;
}

Planned plan(const ConvolutionBackwardWeights& desc) {
  const auto name = name_of(desc);
  check(name, desc.shape);
  check_arithmetic(name, {desc.dtype, desc.math});
  const auto chosen = plan_weights(desc.shape, desc.dtype, desc.bias);
  auto op = std::make_unique<GradientOp>(name, chosen, dnnl::convolution_backward_weights(chosen),
                                         desc.accumulate);
  op->bind("source", Access::read, DNNL_ARG_SRC, chosen.src_desc());
  op->bind("diff_destination", Access::read, DNNL_ARG_DIFF_DST, chosen.diff_dst_desc());
  op->bind_gradient("diff_weights", DNNL_ARG_DIFF_WEIGHTS, chosen.diff_weights_desc());
  if (desc.bias) op->bind_gradient("diff_bias", DNNL_ARG_DIFF_BIAS, chosen.diff_bias_desc());
  return op;
}

}  // namespace parbench::cpu
