// Sets environment variables that GNU's OpenMP library reads; figures are in
// docs/decisions/cpu-devices.md.
#include "kernels/cpu/runtime/waiting.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace parbench::cpu {
namespace {

struct Variable {
  const char* name;
  const char* value;
};

// Under the active policy an idle thread polls GOMP_SPINCOUNT times before it sleeps, but only 1000
// times while all teams together have more threads than the process has cores. GOMP_SPINCOUNT has
// the same value, so that a case does not depend on which other cases keep their streams.
constexpr std::array<Variable, 2> settings{{{"OMP_WAIT_POLICY", "active"},  //
                                            {"GOMP_SPINCOUNT", "1000"}}};

std::string_view value_of(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

}  // namespace

void adopt_waiting_policy(char* const* arguments) {
  for (const Variable& setting : settings) {
    if (!value_of(setting.name).empty()) return;
  }
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return;
  for (const Variable& setting : settings) setenv(setting.name, setting.value, 1);
  execv(program.c_str(), arguments);
  // The restart failed: the loaded library keeps its own setting.
  for (const Variable& setting : settings) unsetenv(setting.name);
}

std::string waiting_policy() {
  std::string text;
  for (const Variable& setting : settings) {
    const std::string_view value = value_of(setting.name);
    if (value.empty()) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", setting.name, value);
  }
  return text.empty() ? "the library's default" : text;
}

}  // namespace parbench::cpu
