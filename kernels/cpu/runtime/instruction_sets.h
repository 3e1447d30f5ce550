// Instruction sets that oneDNN supports, and the instruction set that it uses in this process.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <span>
#include <string>
#include <string_view>

namespace parbench::cpu {

struct InstructionSet {
  dnnl::cpu_isa isa;
  std::string_view limit;  // the value of DNNL_MAX_CPU_ISA that permits this set and no larger one
  std::string_view name;   // display name: "AVX-512 BF16"
};

/// Returns a row for each value of the installed oneDNN's `cpu_isa`.
[[nodiscard]] std::span<const InstructionSet> instruction_sets();

/// Returns the name of the instruction set that oneDNN uses: the largest set that the processor
/// and oneDNN support and DNNL_MAX_CPU_ISA permits.
[[nodiscard]] std::string used_instruction_set();

/// Returns the environment variable that limits oneDNN, such as "DNNL_MAX_CPU_ISA=AVX2"; empty
/// without one.
[[nodiscard]] std::string instruction_set_limit();

}  // namespace parbench::cpu
