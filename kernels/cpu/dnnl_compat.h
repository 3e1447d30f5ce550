// The one place that knows how oneDNN 2.6 and 3.x differ: how primitives are described and how a
// memory descriptor is taken apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

#include "kernels/cpu/engine.h"

namespace parbench::cpu::compat {

/// Plans a primitive whose arguments have the same order in both versions.
template <class Primitive, class... Arguments>
typename Primitive::primitive_desc plan(const dnnl::primitive_attr& attributes,
                                        const Arguments&... arguments) {
#if DNNL_VERSION_MAJOR < 3
  return {typename Primitive::desc(arguments...), attributes, engine()};
#else
  return {engine(), arguments..., attributes};
#endif
}

/// The same for a backward primitive, which wants the plan of its forward one as a hint.
template <class Primitive, class Hint, class... Arguments>
typename Primitive::primitive_desc plan_backward(const dnnl::primitive_attr& attributes,
                                                 const Hint& hint, const Arguments&... arguments) {
#if DNNL_VERSION_MAJOR < 3
  return {typename Primitive::desc(arguments...), attributes, engine(), hint};
#else
  return {engine(), arguments..., hint, attributes};
#endif
}

// Elementwise, normalisation: 3.x describes source and destination each, 2.6 both at once.

inline dnnl::eltwise_forward::primitive_desc plan_relu(const dnnl::primitive_attr& attributes,
                                                       const dnnl::memory::desc& data) {
  const auto training = dnnl::prop_kind::forward_training;
  const auto relu = dnnl::algorithm::eltwise_relu_use_dst_for_bwd;
#if DNNL_VERSION_MAJOR < 3
  return plan<dnnl::eltwise_forward>(attributes, training, relu, data, 0.0F, 0.0F);
#else
  return plan<dnnl::eltwise_forward>(attributes, training, relu, data, data, 0.0F, 0.0F);
#endif
}

inline dnnl::eltwise_backward::primitive_desc plan_relu_backward(
    const dnnl::primitive_attr& attributes, const dnnl::memory::desc& data) {
  const auto hint = plan_relu(attributes, data);
  const auto relu = dnnl::algorithm::eltwise_relu_use_dst_for_bwd;
#if DNNL_VERSION_MAJOR < 3
  return plan_backward<dnnl::eltwise_backward>(attributes, hint, relu, data, data, 0.0F, 0.0F);
#else
  return plan_backward<dnnl::eltwise_backward>(attributes, hint, relu, data, data, data, 0.0F,
                                               0.0F);
#endif
}

inline void append_relu(dnnl::post_ops& operations) {
#if DNNL_VERSION_MAJOR < 3
  operations.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
#else
  operations.append_eltwise(dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
#endif
}

inline dnnl::batch_normalization_forward::primitive_desc plan_batch_norm(
    const dnnl::primitive_attr& attributes, const dnnl::memory::desc& data, float epsilon,
    dnnl::normalization_flags flags) {
  const auto training = dnnl::prop_kind::forward_training;
#if DNNL_VERSION_MAJOR < 3
  return plan<dnnl::batch_normalization_forward>(attributes, training, data, epsilon, flags);
#else
  return plan<dnnl::batch_normalization_forward>(attributes, training, data, data, epsilon, flags);
#endif
}

inline dnnl::batch_normalization_backward::primitive_desc plan_batch_norm_backward(
    const dnnl::primitive_attr& attributes, const dnnl::memory::desc& data, float epsilon,
    dnnl::normalization_flags flags) {
  const auto hint = plan_batch_norm(attributes, data, epsilon, flags);
  const auto backward = dnnl::prop_kind::backward;
#if DNNL_VERSION_MAJOR < 3
  return plan_backward<dnnl::batch_normalization_backward>(attributes, hint, backward, data, data,
                                                           epsilon, flags);
#else
  return plan_backward<dnnl::batch_normalization_backward>(attributes, hint, backward, data, data,
                                                           data, epsilon, flags);
#endif
}

// Pooling: 3.x has a dilation, which 2.6 knows in a primitive of its own.

struct PoolingWindow {
  dnnl::algorithm algorithm;
  dnnl::memory::dims strides;
  dnnl::memory::dims kernel;
  dnnl::memory::dims padding;
};

inline dnnl::pooling_forward::primitive_desc plan_pooling(const dnnl::primitive_attr& attributes,
                                                          const PoolingWindow& window,
                                                          const dnnl::memory::desc& source,
                                                          const dnnl::memory::desc& destination) {
  const auto training = dnnl::prop_kind::forward_training;
#if DNNL_VERSION_MAJOR < 3
  return plan<dnnl::pooling_forward>(attributes, training, window.algorithm, source, destination,
                                     window.strides, window.kernel, window.padding, window.padding);
#else
  return plan<dnnl::pooling_forward>(attributes, training, window.algorithm, source, destination,
                                     window.strides, window.kernel, dnnl::memory::dims{0, 0},
                                     window.padding, window.padding);
#endif
}

inline dnnl::pooling_backward::primitive_desc plan_pooling_backward(
    const dnnl::primitive_attr& attributes, const PoolingWindow& window,
    const dnnl::memory::desc& source, const dnnl::memory::desc& destination) {
  const auto hint = plan_pooling(attributes, window, source, destination);
#if DNNL_VERSION_MAJOR < 3
  return plan_backward<dnnl::pooling_backward>(attributes, hint, window.algorithm, source,
                                               destination, window.strides, window.kernel,
                                               window.padding, window.padding);
#else
  return plan_backward<dnnl::pooling_backward>(
      attributes, hint, window.algorithm, source, destination, window.strides, window.kernel,
      dnnl::memory::dims{0, 0}, window.padding, window.padding);
#endif
}

/// A memory descriptor taken apart. `strides` are between the outermost blocks, in elements.
struct Blocking {
  bool blocked = false;  // a plain or blocked format; nothing else below is set otherwise
  dnnl::memory::dims dims;
  dnnl::memory::dims padded_dims;
  dnnl::memory::dims strides;
  dnnl::memory::dim offset = 0;
  dnnl::memory::dims block_sizes;  // innermost last
  dnnl::memory::dims block_dims;   // which dimension each block divides
};

inline Blocking blocking_of(const dnnl::memory::desc& desc) {
  Blocking result;
#if DNNL_VERSION_MAJOR < 3
  const auto& data = desc.data;
  result.blocked = data.format_kind == dnnl_blocked;
  if (!result.blocked) return result;
  const auto& format = data.format_desc.blocking;
  result.dims.assign(data.dims, data.dims + data.ndims);
  result.padded_dims.assign(data.padded_dims, data.padded_dims + data.ndims);
  result.strides.assign(format.strides, format.strides + data.ndims);
  result.offset = data.offset0;
  result.block_sizes.assign(format.inner_blks, format.inner_blks + format.inner_nblks);
  result.block_dims.assign(format.inner_idxs, format.inner_idxs + format.inner_nblks);
#else
  result.blocked = desc.get_format_kind() == dnnl::memory::format_kind::blocked;
  if (!result.blocked) return result;
  result.dims = desc.get_dims();
  result.padded_dims = desc.get_padded_dims();
  result.strides = desc.get_strides();
  result.offset = desc.get_submemory_offset();
  result.block_sizes = desc.get_inner_blks();
  result.block_dims = desc.get_inner_idxs();
#endif
  return result;
}

inline dnnl::memory::dims dims_of(const dnnl::memory::desc& desc) {
#if DNNL_VERSION_MAJOR < 3
  return desc.dims();
#else
  return desc.get_dims();
#endif
}

inline dnnl::memory::data_type type_of(const dnnl::memory::desc& desc) {
#if DNNL_VERSION_MAJOR < 3
  return desc.data_type();
#else
  return desc.get_data_type();
#endif
}

}  // namespace parbench::cpu::compat
