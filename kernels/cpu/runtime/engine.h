// The oneDNN engine that all CPU devices share, and what its kernels support on this processor.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <string_view>

#include "kernels/base/tensor.h"

namespace parbench::cpu {

/// Returns oneDNN's CPU engine. It has no state: primitives run on the calling thread and its team.
[[nodiscard]] const dnnl::engine& engine();

/// Returns whether oneDNN may use native bf16 arithmetic (AVX-512 with bf16). Without it bf16 would
/// be emulated, and its speed would not be representative.
[[nodiscard]] bool has_native_bf16();

/// Returns why this processor does not support a format, with the remedy; empty if it does. TF32 is
/// never supported, bf16 only by processors with instructions for it.
[[nodiscard]] std::string lacking_arithmetic(NumberFormat format);
/// Throws Unsupported, with the operation's name, for a format that the processor does not support.
void check_arithmetic(std::string_view operation, NumberFormat format);

/// Returns the channels per block of the activation layout: 16 with AVX-512, otherwise 8, as
/// oneDNN's kernels require.
[[nodiscard]] int channel_block();

/// Returns the value of PARBENCH_CPU_LAYOUT, "channels-last" or "blocks", on which `channel_order`
/// depends; empty if it is not set. Throws UsageError for other values.
[[nodiscard]] std::string_view wanted_layout();

}  // namespace parbench::cpu
