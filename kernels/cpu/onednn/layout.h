// Conversion between the portable TensorDesc and oneDNN's memory descriptors.
#pragma once

#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>

#include "kernels/base/tensor.h"

namespace parbench::cpu {

[[nodiscard]] dnnl::memory::data_type data_type_of(DType dtype);

/// Returns the descriptor of a tensor: dense and row-major, or the layout of an earlier `describe`.
/// Throws UsageError for layouts of other backends and for opaque tensors.
[[nodiscard]] dnnl::memory::desc memory_desc(const TensorDesc& tensor);

/// Returns a descriptor that leaves the layout to oneDNN, for weights.
[[nodiscard]] dnnl::memory::desc any_layout(const Shape& shape, DType dtype);

/// Returns the portable description; a dense row-major descriptor becomes canonical.
[[nodiscard]] TensorDesc describe(const dnnl::memory::desc& desc);

/// Returns oneDNN's layout of images with channels in blocks of `channel_block`; a partial last
/// block is padded.
[[nodiscard]] dnnl::memory::format_tag blocked_tag();

/// Order of an activation's channels: each channel separately (NCHW), in blocks, or all channels of
/// a pixel together (NHWC).
enum class ChannelOrder { planes, blocks, last };

/// Returns the order for that number of channels; the first case that applies
/// (docs/decisions/cpu-kernels.md):
/// - `last` if `wanted_layout` is "channels-last".
/// - `last` for bf16 if `wanted_layout` is empty and oneDNN's convolutions use AMX for this order.
/// - `blocks` if the channels fill whole blocks.
/// - `last` for 8 channels or more if `wanted_layout` is empty.
/// - `planes`.
[[nodiscard]] ChannelOrder channel_order(std::int64_t channels, DType dtype);

/// Returns oneDNN's descriptor of an activation. A matrix {N, C} has one pixel: it becomes
/// {N, C, 1, 1} in the layout of activations, with the same bytes.
[[nodiscard]] dnnl::memory::desc activation_desc(const Shape& shape, DType dtype);

}  // namespace parbench::cpu
