// Convolution and its two backward passes on oneDNN. A pass uses the device's layout of activations
// or, if oneDNN has only a reference implementation for that layout, another layout with reorders
// before and after.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "kernels/cpu/ops/gradient_op.h"
#include "kernels/cpu/ops/plans.h"
#include "kernels/cpu/ops/reordered_op.h"
#include "kernels/cpu/runtime/engine.h"

namespace parbench::cpu {
namespace {

using dnnl::memory;

// Descriptors that the three passes have in common.
struct Geometry {
  // Uses the device's layout of activations.
  Geometry(const ConvolutionShape& shape, DType dtype,
           dnnl::algorithm way = dnnl::algorithm::convolution_direct)
      : Geometry(shape, activation_desc(shape.source(), dtype),
                 activation_desc(shape.destination(), dtype)) {
    algorithm = way;
  }
  // Uses another layout, the same for source and destination.
  Geometry(const ConvolutionShape& shape, DType dtype, memory::format_tag layout)
      : Geometry(shape, {shape.source(), data_type_of(dtype), layout},
                 {shape.destination(), data_type_of(dtype), layout}) {}
  Geometry(const ConvolutionShape& shape, const memory::desc& from, const memory::desc& to)
      : source(from),
        destination(to),
        strides{shape.stride, shape.stride},
        dilates{shape.dilation - 1, shape.dilation - 1},
        padding{shape.padding, shape.padding} {}

  memory::desc source;
  memory::desc destination;
  memory::dims strides;
  memory::dims dilates;  // taps left out between two taps
  memory::dims padding;
  dnnl::algorithm algorithm = dnnl::algorithm::convolution_direct;
};

// Plans a pass by Winograd's algorithm. Returns nothing if the algorithm is not faster for this
// shape or oneDNN has no kernel for it.
template <class Plan>
auto plan_winograd(const ConvolutionShape& shape, DType dtype, const Plan& plan)
    -> std::optional<decltype(plan(Geometry(shape, dtype)))> {
  if (!is_for_winograd(shape, dtype)) return std::nullopt;
  try {
    return plan(Geometry(shape, dtype, dnnl::algorithm::convolution_winograd));
  } catch (const dnnl::error& refusal) {
    if (refusal.status != dnnl_unimplemented) throw;
    return std::nullopt;
  }
}

// Returns whether the larger of source and destination has its channels last; the other is then
// reordered if necessary.
bool has_channels_last(const ConvolutionShape& shape, DType dtype) {
  const bool is_source = element_count(shape.source()) >= element_count(shape.destination());
  return channel_order(is_source ? shape.in_channels : shape.out_channels, dtype) ==
         ChannelOrder::last;
}

// Returns the layouts for source and destination that are tried if the device's own layout has only
// a reference implementation, in the order of trying. The order follows from measurements
// (docs/decisions/cpu-kernels.md): channels in blocks with a partial last block; NCHW, for which
// oneDNN computes one product per image; channels last. If the larger tensor has its channels last,
// this layout comes first.
std::array<memory::format_tag, 3> other_layouts(const ConvolutionShape& shape, DType dtype) {
  using Tag = memory::format_tag;
  if (has_channels_last(shape, dtype)) return {Tag::nhwc, blocked_tag(), Tag::nchw};
  return {blocked_tag(), Tag::nchw, Tag::nhwc};
}

// Plans a pass by Winograd's algorithm, otherwise in the device's layout of activations, otherwise
// in the first layout for which oneDNN has an optimised kernel. Without any optimised kernel, the
// reference implementation gets the device's layout.
template <class Plan>
auto plan_optimised(const ConvolutionShape& shape, DType dtype, const Plan& plan) {
  if (auto winograd = plan_winograd(shape, dtype, plan)) return *std::move(winograd);
  auto own = plan(Geometry(shape, dtype));
  if (!is_reference_kernel(own.impl_info_str())) return own;
  for (const memory::format_tag layout : other_layouts(shape, dtype)) {
    auto other = plan(Geometry(shape, dtype, layout));
    if (!is_reference_kernel(other.impl_info_str())) return other;
  }
  return own;
}

memory::desc bias_desc(const ConvolutionShape& shape) {
  return memory_desc(canonical({shape.out_channels}));
}

dnnl::primitive_attr clamping_attributes() {
  dnnl::post_ops operations;
  operations.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
  dnnl::primitive_attr attributes = user_scratchpad();
  attributes.set_post_ops(operations);
  return attributes;
}

dnnl::convolution_forward::primitive_desc plan_forward(
    const Geometry& geometry, const ConvolutionShape& shape, DType dtype, bool bias,
    const dnnl::primitive_attr& attributes = user_scratchpad()) {
  const memory::desc weights = any_layout(shape.weights(), dtype);
  const auto training = dnnl::prop_kind::forward_training;
  if (bias) {
    return dnnl::convolution_forward::primitive_desc(
        {training, geometry.algorithm, geometry.source, weights, bias_desc(shape),
         geometry.destination, geometry.strides, geometry.dilates, geometry.padding,
         geometry.padding},
        attributes, engine());
  }
  return dnnl::convolution_forward::primitive_desc(
      {training, geometry.algorithm, geometry.source, weights, geometry.destination,
       geometry.strides, geometry.dilates, geometry.padding, geometry.padding},
      attributes, engine());
}

dnnl::convolution_backward_data::primitive_desc plan_data(const Geometry& geometry,
                                                          const ConvolutionShape& shape,
                                                          DType dtype) {
  return dnnl::convolution_backward_data::primitive_desc(
      {geometry.algorithm, geometry.source, any_layout(shape.weights(), dtype),
       geometry.destination, geometry.strides, geometry.dilates, geometry.padding,
       geometry.padding},
      user_scratchpad(), engine(), plan_forward(geometry, shape, dtype, false));
}

dnnl::convolution_backward_weights::primitive_desc plan_weights(const Geometry& geometry,
                                                                const ConvolutionShape& shape,
                                                                DType dtype, bool bias) {
  const memory::desc diff_weights = any_layout(shape.weights(), DType::f32);
  const auto hint = plan_forward(geometry, shape, dtype, bias);
  if (bias) {
    return dnnl::convolution_backward_weights::primitive_desc(
        {geometry.algorithm, geometry.source, diff_weights, bias_desc(shape), geometry.destination,
         geometry.strides, geometry.dilates, geometry.padding, geometry.padding},
        user_scratchpad(), engine(), hint);
  }
  return dnnl::convolution_backward_weights::primitive_desc(
      {geometry.algorithm, geometry.source, diff_weights, geometry.destination, geometry.strides,
       geometry.dilates, geometry.padding, geometry.padding},
      user_scratchpad(), engine(), hint);
}

// Returns whether the window is 1×1, without padding and groups: each output position reads one
// pixel of the source.
bool is_one_by_one(const ConvolutionShape& shape) {
  return shape.kernel == 1 && shape.padding == 0 && shape.groups == 1;
}

// Returns whether the gradient of the weights can be one product over the batch (f32 or channels
// last; no bias, groups or dilation), and images are small enough for this to be fast.
bool has_product(const ConvolutionBackwardWeights& desc) {
  // output positions per image; with more, one product per image is faster
  constexpr std::int64_t max_positions = 64;
  const bool has_layout = desc.dtype == DType::f32 || has_channels_last(desc.shape, desc.dtype);
  return has_layout && !desc.bias && desc.shape.groups == 1 && desc.shape.dilation == 1 &&
         desc.shape.out_height() * desc.shape.out_width() <= max_positions;
}

// Returns whether the gradient of the weights is one product over the batch whichever kernel oneDNN
// offers: with channels last, which need no reorder, if `has_product` accepts the description or
// the convolution has a 1×1 window without padding and groups and no bias.
bool is_product(const ConvolutionBackwardWeights& desc) {
  return has_channels_last(desc.shape, desc.dtype) &&
         (has_product(desc) || (is_one_by_one(desc.shape) && !desc.bias));
}

// Overload for the gradient of the source: with channels last and a 1×1 window without padding and
// groups.
bool is_product(const ConvolutionBackwardData& desc) {
  return has_channels_last(desc.shape, desc.dtype) && is_one_by_one(desc.shape);
}

// Returns whether `implementation` names a oneDNN kernel for depthwise convolutions: "jit_dw:avx2".
bool is_depthwise_kernel(std::string_view implementation) {
  return implementation.find("dw") != std::string_view::npos;
}

}  // namespace

bool is_pointwise(const ConvolutionShape& shape) {
  return is_one_by_one(shape) && shape.stride == 1;
}

bool is_for_winograd(const ConvolutionShape& shape, DType dtype) {
  constexpr std::int64_t tile_side = 4;   // output positions along a side of a tile
  constexpr std::int64_t tile_block = 4;  // tiles per block of oneDNN; all blocks must be full
  // with fewer tiles, transforming the weights takes as long as the algorithm saves
  constexpr std::int64_t min_tiles = 32;
  // with fewer channels, transforming the tiles takes as long as the algorithm saves
  constexpr std::int64_t min_channels = 64;
  const auto tiles_along = [](std::int64_t extent) { return (extent + tile_side - 1) / tile_side; };
  const std::int64_t positions = shape.out_height() * shape.out_width();
  const std::int64_t tiles_of_image =
      tiles_along(shape.out_height()) * tiles_along(shape.out_width());
  const std::int64_t tiles = shape.batch * tiles_of_image;
  const bool are_tiles_filled = 3 * positions >= 2 * tile_side * tile_side * tiles_of_image;
  return channel_block() == 16 && dtype == DType::f32 && shape.kernel == 3 && shape.stride == 1 &&
         shape.dilation == 1 && shape.groups == 1 &&
         std::min(shape.in_channels, shape.out_channels) >= min_channels && tiles >= min_tiles &&
         tiles % tile_block == 0 && are_tiles_filled;
}

Planned plan(const ConvolutionForward& desc) {
  const dnnl::primitive_attr attributes = desc.relu ? clamping_attributes() : user_scratchpad();
  const auto chosen = plan_optimised(desc.shape, desc.dtype, [&](const Geometry& geometry) {
    return plan_forward(geometry, desc.shape, desc.dtype, desc.bias, attributes);
  });
  auto op = std::make_unique<PrimitiveOp>(desc, chosen, dnnl::convolution_forward(chosen));
  op->bind(DNNL_ARG_SRC, chosen.src_desc());
  op->bind(DNNL_ARG_WEIGHTS, chosen.weights_desc());
  if (desc.bias) op->bind(DNNL_ARG_BIAS, chosen.bias_desc());
  op->bind(DNNL_ARG_DST, chosen.dst_desc());
  return in_device_layout(desc, std::move(op));
}

Planned plan(const ConvolutionBackwardData& desc) {
  if (is_product(desc)) return in_device_layout(desc, plan_as_product(desc));
  const auto chosen = plan_optimised(desc.shape, desc.dtype, [&](const Geometry& geometry) {
    return plan_data(geometry, desc.shape, desc.dtype);
  });
  return in_device_layout(desc,
                          primitive_op(desc, chosen, dnnl::convolution_backward_data(chosen),
                                       {DNNL_ARG_DIFF_DST, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_SRC}));
}

Planned plan(const ConvolutionBackwardWeights& desc) {
  const auto plan_in = [&](const Geometry& geometry) {
    return plan_weights(geometry, desc.shape, desc.dtype, desc.bias);
  };
  if (has_tap_loop(desc.shape) &&
      !is_depthwise_kernel(plan_in(Geometry(desc.shape, desc.dtype)).impl_info_str())) {
    return plan_tap_loop(desc);
  }
  if (is_product(desc) ||
      (has_product(desc) &&
       is_reference_kernel(plan_in(Geometry(desc.shape, desc.dtype)).impl_info_str()))) {
    return in_device_layout(desc, plan_as_product(desc));
  }
  const auto chosen = plan_optimised(desc.shape, desc.dtype, plan_in);
  auto op = std::make_unique<GradientOp>(desc, chosen, dnnl::convolution_backward_weights(chosen),
                                         desc.accumulate);
  op->bind(DNNL_ARG_SRC, chosen.src_desc());
  op->bind(DNNL_ARG_DIFF_DST, chosen.diff_dst_desc());
  op->bind_gradient(DNNL_ARG_DIFF_WEIGHTS, chosen.diff_weights_desc());
  if (desc.bias) op->bind_gradient(DNNL_ARG_DIFF_BIAS, chosen.diff_bias_desc());
  return in_device_layout(desc, std::move(op));
}

}  // namespace parbench::cpu
