// The table of oneDNN's instruction sets.
#include "kernels/cpu/runtime/instruction_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace parbench::cpu {

std::span<const InstructionSet> instruction_sets() {
  using enum dnnl::cpu_isa;
  static constexpr std::array rows{
      // As a limit, ALL permits all sets. As the set in use, it means that no other set is
      // available.
      InstructionSet{all, "ALL", "generic code"},
      InstructionSet{sse41, "SSE41", "SSE4.1"},
      InstructionSet{avx, "AVX", "AVX"},
      InstructionSet{avx2, "AVX2", "AVX2"},
      InstructionSet{avx2_vnni, "AVX2_VNNI", "AVX2 VNNI"},
      InstructionSet{avx512_mic, "AVX512_MIC", "AVX-512 of Xeon Phi"},
      InstructionSet{avx512_mic_4ops, "AVX512_MIC_4OPS", "AVX-512 4OPS of Xeon Phi"},
      InstructionSet{avx512_core, "AVX512_CORE", "AVX-512"},
      InstructionSet{avx512_core_vnni, "AVX512_CORE_VNNI", "AVX-512 VNNI"},
      InstructionSet{avx512_core_bf16, "AVX512_CORE_BF16", "AVX-512 BF16"},
      InstructionSet{avx512_core_amx, "AVX512_CORE_AMX", "AMX"}};
  return rows;
}

std::string used_instruction_set() {
  const dnnl::cpu_isa used = dnnl::get_effective_cpu_isa();
  const auto row = std::ranges::find(instruction_sets(), used, &InstructionSet::isa);
  if (row != instruction_sets().end()) return std::string(row->name);
  return fmt::format("set {:#x} of a newer oneDNN", static_cast<unsigned>(used));
}

std::string instruction_set_limit() {
  for (const char* name : {"ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"}) {  // in oneDNN's order
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return fmt::format("{}={}", name, value);
  }
  return {};
}

}  // namespace parbench::cpu
