// The table of instruction sets against the installed oneDNN's header, and the limit's text.
#include "kernels/cpu/runtime/instruction_sets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>

namespace parbench::cpu {
namespace {

using Values = std::map<std::string, unsigned long>;

/// The values of `dnnl_cpu_isa_t` in the header by their names: "avx512_core".
Values sets_of_header() {
  std::ifstream file(DNNL_TYPES_HEADER);
  std::string text(std::istreambuf_iterator<char>(file), {});
  text.erase(std::min(text.find("} dnnl_cpu_isa_t;"), text.size()));
  text.erase(0, text.rfind("typedef enum"));
  const std::regex value(R"(dnnl_cpu_isa_(\w+) = (0x[0-9a-f]+))");
  Values values;
  for (std::sregex_iterator match(text.begin(), text.end(), value), end; match != end; ++match) {
    values[(*match)[1]] = std::stoul((*match)[2], nullptr, 16);
  }
  return values;
}

TEST(InstructionSets, AreThoseOfTheInstalledHeader) {
  // The bundle of scripts/gpu-check runs where nothing is built.
  if (!std::filesystem::exists(DNNL_TYPES_HEADER)) GTEST_SKIP() << "no " << DNNL_TYPES_HEADER;
  Values values;
  for (const InstructionSet& set : instruction_sets()) {
    std::string name(set.limit);
    for (char& letter : name) letter = static_cast<char>(std::tolower(letter));
    values[name] = static_cast<unsigned long>(set.isa);
  }
  EXPECT_EQ(values, sets_of_header());
  EXPECT_GE(values.size(), 11U);
}

TEST(InstructionSets, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const InstructionSet& set : instruction_sets()) names.insert(set.name);
  EXPECT_EQ(names.size(), instruction_sets().size());
  EXPECT_EQ(names.count(""), 0U);
  EXPECT_EQ(names.count(used_instruction_set()), 1U);
}

TEST(InstructionSets, TheLimitNamesItsVariable) {
  const char* limit = std::getenv("DNNL_MAX_CPU_ISA");
  const bool is_limited = limit != nullptr && *limit != '\0';
  if (std::getenv("ONEDNN_MAX_CPU_ISA") != nullptr) GTEST_SKIP() << "another variable limits";
  EXPECT_EQ(instruction_set_limit(),
            is_limited ? "DNNL_MAX_CPU_ISA=" + std::string(limit) : std::string());
}

}  // namespace
}  // namespace parbench::cpu
