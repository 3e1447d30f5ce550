// The oneDNN engine that all CPU devices share, and what this processor's kernels can do.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <string_view>

#include "kernels/base/tensor.h"

namespace parbench::cpu {

/// oneDNN's CPU engine. It has no state of its own: threads and cores are those of the caller.
[[nodiscard]] const dnnl::engine& engine();

/// Whether oneDNN may use native bf16 arithmetic (AVX-512 with bf16). Without it bf16 would be
/// emulated, whose speed is not representative.
[[nodiscard]] bool has_native_bf16();

/// Returns why this processor has no arithmetic for a format, with the remedy: TF32, and bf16
/// without the instructions. Empty where it has.
[[nodiscard]] std::string lacking_arithmetic(NumberFormat format);
/// Throws Unsupported, in the operation's name, for a format that it has no arithmetic for.
void check_arithmetic(std::string_view operation, NumberFormat format);

/// Channels in one block of the activation layout: 16 with AVX-512, else 8, as oneDNN's kernels
/// want it.
[[nodiscard]] int channel_block();

/// The value of PARBENCH_CPU_LAYOUT, which sets the layout of all activations: "channels-last" or
/// "blocks"; empty where it is not set. Throws UsageError for another value.
[[nodiscard]] std::string_view wanted_layout();

}  // namespace parbench::cpu
