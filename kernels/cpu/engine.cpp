// Asks oneDNN which instructions it may use; ONEDNN_MAX_CPU_ISA lowers the answer.
#include "kernels/cpu/engine.h"

namespace parbench::cpu {
namespace {

// The values of the enumeration are sets of features: a larger set contains the bits of a smaller.
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

int channel_block() { return offers(dnnl::cpu_isa::avx512_core) ? 16 : 8; }

}  // namespace parbench::cpu
