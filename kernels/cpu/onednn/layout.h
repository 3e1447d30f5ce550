// Between the portable TensorDesc and oneDNN's memory descriptors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>

#include "kernels/base/tensor.h"

namespace parbench::cpu {

[[nodiscard]] dnnl::memory::data_type data_type_of(DType dtype);

/// Dense and row-major, or the layout of an earlier `describe`. Throws UsageError for a layout that
/// another backend made, and for an opaque one.
[[nodiscard]] dnnl::memory::desc memory_desc(const TensorDesc& tensor);

/// oneDNN's choice of layout is left open: for weights.
[[nodiscard]] dnnl::memory::desc any_layout(const Shape& shape, DType dtype);

/// The portable description; a descriptor that is dense and row-major is canonical.
[[nodiscard]] TensorDesc describe(const dnnl::memory::desc& desc);

/// oneDNN's layout for kernels of this processor: channels in blocks, the last one padded.
[[nodiscard]] dnnl::memory::format_tag blocked_tag();

/// How the channels of an activation lie: each by itself (NCHW), in blocks, or those of a pixel
/// beside each other (NHWC).
enum class ChannelOrder { planes, blocks, last };

/// Returns the order for that many channels (docs/decisions/cpu-kernels.md): last where
/// they fill no blocks, and in bf16 where oneDNN's convolutions use AMX for that layout, or as
/// `wanted_layout` says; few channels that fill no blocks are planes.
[[nodiscard]] ChannelOrder channel_order(std::int64_t channels, DType dtype);

/// The activation as oneDNN sees it. A matrix {N, C} has one pixel: {N, C, 1, 1} in the layout of
/// activations, the same bytes.
[[nodiscard]] dnnl::memory::desc activation_desc(const Shape& shape, DType dtype);

}  // namespace parbench::cpu
