// Queries the instructions that oneDNN may use; ONEDNN_MAX_CPU_ISA restricts them.
#include "kernels/cpu/runtime/engine.h"

#include <fmt/format.h>

#include <cstdlib>

#include "kernels/base/error.h"

namespace parbench::cpu {
namespace {

// Returns whether oneDNN may use an instruction set. The bits of an enumerator include the bits of
// all instruction sets that it contains.
bool offers(dnnl::cpu_isa wanted) {
  const auto bits = static_cast<unsigned>(wanted);
  return (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & bits) == bits;
}

}  // namespace

const dnnl::engine& engine() {
  static const dnnl::engine cpu_engine(dnnl::engine::kind::cpu, 0);
  return cpu_engine;
}

bool has_native_bf16() { return offers(dnnl::cpu_isa::avx512_core_bf16); }

std::string lacking_arithmetic(NumberFormat format) {
  if (format.dtype == DType::bf16 && !has_native_bf16()) {
    return "bf16 needs a processor with AVX-512 BF16 instructions, which oneDNN does not find here "
           "or may not use (ONEDNN_MAX_CPU_ISA); use f32";
  }
  if (format.math == MathMode::strict) return {};
  return "TF32 is arithmetic of NVIDIA's tensor cores, which processors do not have; use f32, or a "
         "cuda device such as cuda:0";
}

void check_arithmetic(std::string_view operation, NumberFormat format) {
  const std::string reason = lacking_arithmetic(format);
  if (!reason.empty()) throw Unsupported(fmt::format("{}: {}", operation, reason));
}

int channel_block() { return offers(dnnl::cpu_isa::avx512_core) ? 16 : 8; }

std::string_view wanted_layout() {
  const char* value = std::getenv("PARBENCH_CPU_LAYOUT");  // NOLINT(concurrency-mt-unsafe)
  const std::string_view wanted = value == nullptr ? "" : value;
  if (!wanted.empty() && wanted != "channels-last" && wanted != "blocks") {
    throw UsageError(
        fmt::format("PARBENCH_CPU_LAYOUT is '{}'; allowed: channels-last, blocks", wanted));
  }
  return wanted;
}

}  // namespace parbench::cpu
