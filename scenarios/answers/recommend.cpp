// Groups by the values of parameters, and one recommendation a group.
#include "scenarios/answers/recommend.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <variant>

namespace parbench {
namespace {

/// Names and values that are equal in a group.
using WorkKey = std::vector<std::pair<std::string, Value>>;

WorkKey key_of(const CaseSpec& spec, const std::vector<std::string_view>& parameters) {
  WorkKey key;
  for (const std::string_view name : parameters) {
    if (const Value* value = spec.parameters.find(name))
      key.emplace_back(std::string(name), *value);
  }
  key.emplace_back("dtype", std::string(to_string(spec.format())));
  key.emplace_back("graph", std::string(spec.graph ? "as graphs" : "without graphs"));
  return key;
}

/// "n 128", "pinned": words speak for themselves.
std::string item_text(const std::string& name, const Value& value) {
  return std::holds_alternative<std::string>(value) ? std::get<std::string>(value)
                                                    : name + ' ' + to_string(value);
}

/// The pairs that not all keys have.
std::string setting_of(const WorkKey& key, const std::map<WorkKey, SameWork>& groups) {
  std::string text;
  for (const auto& one : key) {
    const bool common = std::ranges::all_of(groups, [&](const auto& group) {
      return std::ranges::find(group.first, one) != group.first.end();
    });
    if (common) continue;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", item_text(one.first, one.second));
  }
  return text;
}

bool gains(const CaseOutcome* outcome) { return outcome->speedup && outcome->speedup->above(1); }

const CaseOutcome* largest_speedup(const Outcomes& cases, const Wording& wording) {
  const CaseOutcome* best = nullptr;
  for (const CaseOutcome* one : cases) {
    if (!one->speedup || wording.is_baseline(one->spec)) continue;
    if (best == nullptr || one->speedup->value > best->speedup->value) best = one;
  }
  return best;
}

}  // namespace

Outcomes outcomes_where(const std::vector<CaseOutcome>& outcomes,
                        const std::function<bool(const CaseOutcome&)>& predicate) {
  Outcomes chosen;
  for (const CaseOutcome& outcome : outcomes) {
    if (predicate(outcome)) chosen.push_back(&outcome);
  }
  return chosen;
}

std::vector<SameWork> same_work(const Outcomes& outcomes,
                                const std::vector<std::string_view>& parameters) {
  std::map<WorkKey, SameWork> groups;
  for (const CaseOutcome* outcome : outcomes) {
    groups[key_of(outcome->spec, parameters)].cases.push_back(outcome);
  }
  std::vector<SameWork> list;
  for (const auto& [key, group] : groups) list.push_back({setting_of(key, groups), group.cases});
  return list;
}

report::Recommendation recommend(SameWork group, const Wording& wording,
                                 const PossiblyFastest& possibly_fastest) {
  const auto is_baseline = [&](const CaseOutcome* one) { return wording.is_baseline(one->spec); };
  std::ranges::stable_sort(group.cases, [&](const CaseOutcome* a, const CaseOutcome* b) {
    return wording.simpler(a->spec, b->spec);
  });
  Outcomes candidates = possibly_fastest(group.cases);
  const auto baseline = std::ranges::find_if(group.cases, is_baseline);
  const bool best_is_known = std::ranges::none_of(candidates, is_baseline);
  const auto gaining = std::ranges::find_if(candidates, gains);

  report::Recommendation made{.setting = group.setting};
  made.pays = best_is_known && gaining != candidates.end();
  if (made.pays) {
    std::rotate(candidates.begin(), gaining, std::next(gaining));
  } else if (best_is_known && baseline != group.cases.end()) {
    candidates.insert(candidates.begin(), *baseline);
  }
  const auto labelled = [&](const CaseOutcome* one) {
    return report::LabelledCase{wording.label(one->spec), one->spec.name()};
  };
  std::ranges::transform(candidates, std::back_inserter(made.candidates), labelled);
  const CaseOutcome* shown = made.pays ? candidates.front() : largest_speedup(group.cases, wording);
  if (shown != nullptr) {
    made.gaining = labelled(shown);
    made.gain = shown->speedup;
  }
  return made;
}

}  // namespace parbench
