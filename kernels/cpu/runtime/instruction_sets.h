// The instruction sets that oneDNN knows, and the one that it uses in this process.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <span>
#include <string>
#include <string_view>

namespace parbench::cpu {

struct InstructionSet {
  dnnl::cpu_isa isa;
  std::string_view limit;  // the value of DNNL_MAX_CPU_ISA that permits this set and no larger one
  std::string_view name;   // for people: "AVX-512 BF16"
};

/// A row for each value of the installed oneDNN's `cpu_isa`.
[[nodiscard]] std::span<const InstructionSet> instruction_sets();

/// Returns the name of the set that oneDNN uses: the largest one that it knows of this processor
/// and that DNNL_MAX_CPU_ISA permits.
[[nodiscard]] std::string used_instruction_set();

/// Returns the setting of the environment that limits oneDNN, such as "DNNL_MAX_CPU_ISA=AVX2";
/// empty without one.
[[nodiscard]] std::string instruction_set_limit();

}  // namespace parbench::cpu
