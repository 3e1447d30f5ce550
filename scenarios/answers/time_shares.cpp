// Lists shares of time and memory of cases.
#include "scenarios/answers/time_shares.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "kernels/base/units/units.h"
#include "scenarios/answers/best_strategy.h"
#include "scenarios/answers/wording.h"
#include "scenarios/framework/all_cores.h"

namespace parbench {
namespace {

/// Returns "41 MiB" if the amounts of all devices have the same text, otherwise "41 + 133 MiB".
std::string memory_text(const std::vector<double>& memory) {
  std::set<std::string> different;
  for (const double bytes : memory) different.insert(format_bytes(bytes));
  return different.size() == 1 ? *different.begin() : format_bytes(memory);
}

/// Returns whether a case is the recommended one, or another one that is tied with the fastest.
bool is_used_or_tied(const Recommendation& found, const std::string& name) {
  return (!found.candidates.empty() && found.candidates.front().name == name) ||
         std::ranges::find(found.tied, name, &LabelledCase::name) != found.tied.end();
}

}  // namespace

Conclusion with_time_shares(Conclusion conclusion, const Scenario& scenario,
                            const Outcomes& outcomes,
                            const std::function<std::string(const CaseSpec&)>& label) {
  if (conclusion.recommendations.empty()) return conclusion;
  // With other programs running, the shares would include their effect.
  const bool is_disturbed = best_of(conclusion.recommendations).load > 0;
  if (is_disturbed) return conclusion;
  const std::string& setting = best_of(conclusion.recommendations).setting;
  const std::vector<SameWork> groups = same_work(outcomes, common_axes(scenario));
  const auto group = std::ranges::find(groups, setting, &SameWork::setting);
  if (group == groups.end()) return conclusion;
  const std::string where = groups.size() > 1 ? fmt::format(" ({})", setting) : "";
  const auto sentence = [&](const auto& is_named) {
    std::string text;
    for (const CaseOutcome* one : group->cases) {
      if (!one->shares || one->spec.strategy == scenario.baseline()) continue;
      // one device has nothing to exchange
      if (uses_all_cores(one->spec) || !is_named(*one)) continue;
      text += fmt::format("{}{} {}, {}, {}", text.empty() ? "" : "; ", label(one->spec),
                          format_percent(one->shares->exposed, 0),
                          format_percent(one->shares->idle, 0), memory_text(one->memory));
    }
    if (text.empty()) return text;
    return fmt::format(" Exposed communication, idle, memory{}: {}.", where, text);
  };
  const std::string before = conclusion.text;
  conclusion.text = joined_sentences({before, sentence([](const CaseOutcome&) { return true; })});
  if (conclusion.text != before) return conclusion;
  const Recommendation& best = best_of(conclusion.recommendations);
  conclusion.text = joined_sentences({before, sentence([&](const CaseOutcome& one) {
                                        return is_used_or_tied(best, one.spec.name());
                                      })});
  return conclusion;
}

}  // namespace parbench
