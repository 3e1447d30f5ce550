// Sentences about recommendations that several scenarios use.
#include "scenarios/answers/wording.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>

#include "reports/units/units.h"

namespace parbench {

std::string ratio_text(const report::Ratio& ratio) {
  const auto& interval = ratio.interval;
  if (!interval) return report::format_ratio(ratio.value);
  return with_confidence(report::format_ratio(ratio.value, interval->low, interval->high),
                         *interval);
}

std::string percent_text(const report::Ratio& fraction) {
  const auto& interval = fraction.interval;
  if (!interval) return report::format_percent(fraction.value, 0);
  return with_confidence(report::format_percent(fraction.value, interval->low, interval->high),
                         *interval);
}

std::string list_text(const std::vector<std::string>& items) {
  constexpr std::size_t max_items = 3;
  if (items.empty()) return {};
  const bool all = items.size() <= max_items + 1;
  const auto named =
      items.begin() + static_cast<std::ptrdiff_t>(all ? items.size() - 1 : max_items);
  std::string last = all ? items.back() : fmt::format("{} more", items.end() - named);
  if (named == items.begin()) return last;
  return fmt::format("{} and {}", fmt::join(items.begin(), named, ", "), last);
}

std::string rivals_text(const report::Recommendation& recommendation) {
  std::vector<std::string> labels;
  for (std::size_t i = 1; i < recommendation.candidates.size(); ++i) {
    labels.push_back(recommendation.candidates[i].label);
  }
  if (labels.empty()) return {};
  return fmt::format(" It cannot be distinguished from {}.", list_text(labels));
}

std::string_view no_gain_text(const report::Recommendation& recommendation) {
  if (recommendation.gain->below(1)) return "does not pay";
  return recommendation.gain->above(1) ? "may pay" : "shows no gain";
}

std::string where_it_pays(std::span<const report::Recommendation> recommendations,
                          std::string_view verb) {
  std::vector<std::string> paying;
  for (const report::Recommendation& one : recommendations) {
    if (one.pays) paying.push_back(one.setting);
  }
  const std::size_t count = recommendations.size();
  if (paying.empty()) {
    const std::string_view shows = verb.ends_with('s') ? "shows" : "show";
    return fmt::format("{} no gain{}", shows, count > 1 ? " at any setting" : "");
  }
  if (paying.size() == count) {
    return fmt::format("{}{}", verb, count > 1 ? " at every setting" : "");
  }
  if (paying.size() == 1) return fmt::format("{} at {} only", verb, paying.front());
  return fmt::format("{} at {} of {} settings", verb, paying.size(), count);
}

std::string superlinear_text(const report::Recommendation& recommendation, double devices,
                             std::string_view likely_cause) {
  if (!recommendation.pays || !recommendation.gain->above(devices)) return {};
  return fmt::format(" This is more than {:.0f} devices can give; likely cause: {}.", devices,
                     likely_cause);
}

}  // namespace parbench
