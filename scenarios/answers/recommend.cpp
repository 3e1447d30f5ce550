// Groups by the values of parameters, and one recommendation a group.
#include "scenarios/answers/recommend.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <ranges>
#include <tuple>
#include <utility>
#include <variant>

namespace parbench {
namespace {

constexpr const char* format_name = "dtype";
constexpr const char* graph_name = "graph";

/// Names and values that are equal in a group.
using WorkKey = std::vector<std::pair<std::string, Value>>;

WorkKey key_of(const CaseSpec& spec, const std::vector<std::string_view>& parameters) {
  WorkKey key;
  for (const std::string_view name : parameters) {
    if (const Value* value = spec.parameters.find(name))
      key.emplace_back(std::string(name), *value);
  }
  key.emplace_back(format_name, std::string(to_string(spec.format())));
  key.emplace_back(graph_name, std::string(spec.graph ? "as graphs" : "without graphs"));
  return key;
}

/// "n 128", "recompute block"; number formats and graphs speak for themselves, and files are known
/// by their names.
std::string item_text(const std::string& name, const Value& value) {
  std::string text = to_string(value);
  if (name == format_name || name == graph_name) return text;
  return name + ' ' + text.substr(text.rfind('/') + 1);
}

const Value* value_in(const WorkKey& key, std::string_view name) {
  const auto found = std::ranges::find(key, name, &WorkKey::value_type::first);
  return found == key.end() ? nullptr : &found->second;
}

/// The values of some names in a key; without those that it has not.
WorkKey part_of(const WorkKey& key, const std::vector<std::string_view>& names) {
  WorkKey part;
  for (const std::string_view name : names) {
    if (const Value* value = value_in(key, name)) part.emplace_back(std::string(name), *value);
  }
  return part;
}

/// Whether keys that are equal in some names are equal in another one, too.
bool follows(const std::vector<WorkKey>& keys, std::string_view name,
             const std::vector<std::string_view>& from) {
  std::map<WorkKey, WorkKey> known;
  return std::ranges::all_of(keys, [&](const WorkKey& key) {
    const WorkKey own = part_of(key, {name});
    return known.try_emplace(part_of(key, from), own).first->second == own;
  });
}

/// The names whose values distinguish keys, without those whose values follow from the names before
/// them, as the sizes of a model do from the model.
std::vector<std::string_view> distinguishing_names(
    const std::vector<WorkKey>& keys, const std::vector<std::string_view>& parameters) {
  std::vector<std::string_view> names;
  const auto add = [&](std::string_view name) {
    if (!follows(keys, name, names)) names.push_back(name);
  };
  std::ranges::for_each(parameters, add);
  add(format_name);
  add(graph_name);
  return names;
}

std::string setting_of(const WorkKey& key, const std::vector<std::string_view>& names) {
  std::string text;
  for (const auto& [name, value] : part_of(key, names)) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", item_text(name, value));
  }
  return text;
}

/// An interval of few samples shows no gain.
bool gains(const CaseOutcome* outcome) {
  return outcome->speedup && outcome->speedup->above(1) &&
         !report::is_low(outcome->speedup->interval);
}

/// A case without a speedup is the baseline; with one and no interval, nothing is known.
report::Interval speedup_interval(const CaseOutcome* one) {
  constexpr double unlimited = std::numeric_limits<double>::infinity();
  if (!one->speedup) return {1, 1, 1};
  return one->speedup->interval.value_or(report::Interval{0, unlimited, 0});
}

/// Whether the whole interval of its speedup lies below that of another one.
bool is_outdone(const CaseOutcome* one, const Outcomes& others) {
  const double high = speedup_interval(one).high;
  return std::ranges::any_of(
      others, [&](const CaseOutcome* other) { return speedup_interval(other).low > high; });
}

Outcomes those_that_gain(const Outcomes& cases) {
  Outcomes gaining;
  std::ranges::copy_if(cases, std::back_inserter(gaining), gains);
  return gaining;
}

/// Of the cases beside the baseline: of those whose interval is above 1 if there are any, else of
/// those whose interval is not wholly below 1, so that no answer denies a gain that a row shows or
/// leaves open.
const CaseOutcome* largest_speedup(const Outcomes& cases, const Wording& wording) {
  const auto rank = [](const CaseOutcome* one) {
    return std::tuple(one->speedup->above(1), !one->speedup->below(1), one->speedup->value);
  };
  const CaseOutcome* best = nullptr;
  for (const CaseOutcome* one : cases) {
    if (!one->speedup || wording.is_baseline(one->spec)) continue;
    if (best == nullptr || rank(one) > rank(best)) best = one;
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

const CaseOutcome* find_outcome(const Outcomes& cases, std::string_view name) {
  const auto found =
      std::ranges::find_if(cases, [&](const CaseOutcome* one) { return one->spec.name() == name; });
  return found == cases.end() ? nullptr : *found;
}

double devices_of(const CaseSpec& spec) {
  const Value* devices = spec.parameters.find(devices_parameter);
  return devices == nullptr ? 1 : static_cast<double>(std::get<std::int64_t>(*devices));
}

std::vector<SameWork> same_work(const Outcomes& outcomes,
                                const std::vector<std::string_view>& parameters) {
  std::map<WorkKey, SameWork> groups;
  for (const CaseOutcome* outcome : outcomes) {
    groups[key_of(outcome->spec, parameters)].cases.push_back(outcome);
  }
  std::vector<WorkKey> keys;
  std::ranges::copy(groups | std::views::keys, std::back_inserter(keys));
  const std::vector<std::string_view> names = distinguishing_names(keys, parameters);
  std::vector<SameWork> list;
  for (const auto& [key, group] : groups) list.push_back({setting_of(key, names), group.cases});
  return list;
}

report::Recommendation recommend(SameWork group, const Wording& wording,
                                 const PossiblyFastest& possibly_fastest) {
  const auto is_baseline = [&](const CaseOutcome* one) { return wording.is_baseline(one->spec); };
  std::ranges::stable_sort(group.cases, [&](const CaseOutcome* a, const CaseOutcome* b) {
    return wording.simpler(a->spec, b->spec);
  });
  Outcomes candidates = possibly_fastest(group.cases);
  const auto move_to_front = [&](Outcomes::iterator one) {
    std::rotate(candidates.begin(), one, std::next(one));
  };
  const auto baseline = std::ranges::find_if(group.cases, is_baseline);
  const auto plain_baseline = std::ranges::find_if(
      group.cases, [&](const CaseOutcome* one) { return is_baseline(one) && !one->speedup; });
  const auto fast_baseline = std::ranges::find_if(candidates, is_baseline);
  const Outcomes with_gain = those_that_gain(candidates);
  const auto gaining = std::ranges::find_if(candidates, [&](const CaseOutcome* one) {
    return gains(one) && !is_outdone(one, with_gain);
  });

  report::Recommendation made{.setting = group.setting};
  made.pays = fast_baseline == candidates.end() && gaining != candidates.end();
  if (made.pays) {
    move_to_front(gaining);
  } else if (fast_baseline != candidates.end() &&
             (gains(*fast_baseline) || plain_baseline == group.cases.end() ||
              *fast_baseline == *plain_baseline)) {
    move_to_front(fast_baseline);
  } else if (plain_baseline != group.cases.end()) {  // simpler than a baseline without a gain
    std::erase(candidates, *plain_baseline);
    candidates.insert(candidates.begin(), *plain_baseline);
  } else if (baseline != group.cases.end()) {
    candidates.insert(candidates.begin(), *baseline);
  }
  const CaseOutcome* recommended = candidates.front();
  const Outcomes all = candidates;
  std::erase_if(candidates,
                [&](const CaseOutcome* one) { return one != recommended && is_outdone(one, all); });
  const auto labelled = [&](const CaseOutcome* one) {
    return report::LabelledCase{wording.label(one->spec), one->spec.name()};
  };
  std::ranges::transform(candidates, std::back_inserter(made.candidates), labelled);
  const CaseOutcome* shown = made.pays ? recommended : largest_speedup(group.cases, wording);
  if (shown != nullptr) {
    if (shown != recommended) made.recommended_gain = recommended->speedup;
    made.gaining = labelled(shown);
    made.gain = shown->speedup;
  }
  return made;
}

void Recommended::add(report::Recommendation one) {
  if (one.gain) {
    recommendations.push_back(std::move(one));
  } else {
    not_compared.push_back(std::move(one.setting));
  }
}

Recommended recommend_each(const Outcomes& outcomes,
                           const std::vector<std::string_view>& parameters, const Wording& wording,
                           const PossiblyFastest& possibly_fastest) {
  Recommended made;
  for (SameWork& group : same_work(outcomes, parameters)) {
    made.add(recommend(std::move(group), wording, possibly_fastest));
  }
  return made;
}

}  // namespace parbench
