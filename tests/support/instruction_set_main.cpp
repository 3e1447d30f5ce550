// main() of tests that ctest runs under several instruction sets (parbench_test's ISA_SAMPLE):
// where oneDNN does not use the one that DNNL_MAX_CPU_ISA names, the process says so and runs no
// test.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "kernels/cpu/runtime/instruction_sets.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  using parbench::cpu::InstructionSet;
  const char* limit = std::getenv("DNNL_MAX_CPU_ISA");
  const std::string_view wanted = limit == nullptr ? "" : limit;
  const auto sets = parbench::cpu::instruction_sets();
  const auto used = std::ranges::find(sets, dnnl::get_effective_cpu_isa(), &InstructionSet::isa);
  if (!wanted.empty() && (used == sets.end() || used->limit != wanted)) {
    fmt::print("skipped: this processor does not have {}: oneDNN uses {}\n", wanted,
               parbench::cpu::used_instruction_set());
    return 77;  // SKIP_RETURN_CODE in parbench_test
  }
  return RUN_ALL_TESTS();
}
