// Compares the kernels that reports list by case.
#include "reports/compare/kernel_choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

#include "kernels/base/units/units.h"
#include "reports/model/fingerprint.h"

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

bool has_kernel(const std::vector<Kernel>& kernels, const Kernel& wanted) {
  return std::ranges::any_of(kernels, [&](const Kernel& kernel) {
    return kernel.operation == wanted.operation && kernel.implementation == wanted.implementation;
  });
}

/// Returns the first kernel of `now` that replaces one of `base`, as "gemm: cuBLASLt algorithm 66 …
/// before, cuBLASLt algorithm 21 … now".
std::optional<std::string> other_choice(const std::vector<Kernel>& base,
                                        const std::vector<Kernel>& now) {
  for (const Kernel& kernel : now) {
    if (has_kernel(base, kernel)) continue;
    const auto replaced = std::ranges::find_if(base, [&](const Kernel& earlier) {
      return earlier.operation == kernel.operation && !has_kernel(now, earlier);
    });
    if (replaced == base.end()) continue;
    return report::difference_text(kernel.operation, replaced->implementation,
                                   kernel.implementation);
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
