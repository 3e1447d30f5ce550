// Compares the kernels that reports list by case.
#include "reports/compare/kernel_choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

#include "kernels/base/units/units.h"

namespace parbench::compare {
namespace {

using report::CaseResult;
using report::Kernel;

/// Returns the kernels that `--autotune` chose, by measuring or for lack of time by heuristics.
std::vector<Kernel> tuned_kernels(const CaseResult& c) {
  std::vector<Kernel> kernels = c.kernels;
  std::erase_if(kernels, [](const Kernel& kernel) { return kernel.chosen_by.empty(); });
  return kernels;
}

/// Returns by how many operations more `now` has this kernel than `base`.
int gained(const Kernel& wanted, const std::vector<Kernel>& base, const std::vector<Kernel>& now) {
  const auto operations = [&](const std::vector<Kernel>& kernels) {
    int sum = 0;
    for (const Kernel& kernel : kernels) {
      const bool is_wanted =
          kernel.operation == wanted.operation && kernel.implementation == wanted.implementation;
      if (is_wanted) sum += kernel.count;
    }
    return sum;
  };
  return operations(now) - operations(base);
}

/// Returns the first kernel that `now` has for more operations than `base` where another one has
/// fewer, as "gemm: 4 more by cuBLASLt algorithm 21 …, 4 fewer by cuBLASLt algorithm 66 …".
std::optional<std::string> other_choice(const std::vector<Kernel>& base,
                                        const std::vector<Kernel>& now) {
  for (const Kernel& kernel : now) {
    const int more = gained(kernel, base, now);
    if (more <= 0) continue;
    for (const Kernel& earlier : base) {
      const int fewer = -gained(earlier, base, now);
      if (earlier.operation != kernel.operation || fewer <= 0) continue;
      return fmt::format("{}: {} more by {}, {} fewer by {}", kernel.operation, more,
                         kernel.implementation, fewer, earlier.implementation);
    }
  }
  return std::nullopt;
}

/// Returns "BASE was measured with --autotune, NEW without (3 cases); measure both alike."; empty
/// without such cases.
std::vector<std::string> tuned_alone(std::string_view tuned, std::string_view other,
                                     std::size_t cases) {
  if (cases == 0) return {};
  return {fmt::format("{} was measured with --autotune, {} without ({}); measure both alike.",
                      tuned, other, format_count(cases, "case"))};
}

}  // namespace

std::vector<std::string> cautions_on_kernel_choices(const std::vector<Match>& matches) {
  std::size_t only_base = 0;
  std::size_t only_now = 0;
  std::size_t others = 0;
  std::string example;
  for (const Match& match : matches) {
    if (match.state != MatchState::comparable) continue;
    const std::vector<Kernel> base = tuned_kernels(*match.base);
    const std::vector<Kernel> now = tuned_kernels(*match.now);
    if (base.empty() != now.empty()) ++(now.empty() ? only_base : only_now);
    const auto choice = other_choice(base, now);
    if (!choice) continue;
    if (others++ == 0) example = *choice;
  }
  std::vector<std::string> cautions = tuned_alone("BASE", "NEW", only_base);
  std::ranges::move(tuned_alone("NEW", "BASE", only_now), std::back_inserter(cautions));
  if (others > 0) {
    cautions.push_back(fmt::format("Tuning chose different kernels in {} ({}).",
                                   format_count(others, "case"), example));
  }
  return cautions;
}

}  // namespace parbench::compare
