// Groups cases by the values of parameters, and recommends one per group.
#include "scenarios/answers/recommend.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <ranges>
#include <tuple>
#include <utility>

namespace parbench {
namespace {

constexpr const char* format_name = "dtype";
constexpr const char* graph_name = "graph";

/// Names and values of the parameters in which the cases of a group are equal.
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

/// Returns "n 128" or "recompute block". Number formats and graphs are named by their value alone,
/// files by their file names.
std::string item_text(const std::string& name, const Value& value) {
  std::string text = to_string(value);
  if (name == format_name || name == graph_name) return text;
  return name + ' ' + text.substr(text.rfind('/') + 1);
}

const Value* value_in(const WorkKey& key, std::string_view name) {
  const auto found = std::ranges::find(key, name, &WorkKey::value_type::first);
  return found == key.end() ? nullptr : &found->second;
}

/// Returns the part of a key with these names, as far as the key has them.
WorkKey part_of(const WorkKey& key, const std::vector<std::string_view>& names) {
  WorkKey part;
  for (const std::string_view name : names) {
    if (const Value* value = value_in(key, name)) part.emplace_back(std::string(name), *value);
  }
  return part;
}

/// Returns whether keys with equal values of all names in `from` have equal values of `name`, too.
bool follows(const std::vector<WorkKey>& keys, std::string_view name,
             const std::vector<std::string_view>& from) {
  std::map<WorkKey, WorkKey> known;
  return std::ranges::all_of(keys, [&](const WorkKey& key) {
    const WorkKey own = part_of(key, {name});
    return known.try_emplace(part_of(key, from), own).first->second == own;
  });
}

/// Returns the names whose values distinguish keys. Names whose values follow from earlier names
/// are omitted, such as the sizes of a model.
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

/// Returns whether the samples show that a case is faster than its baseline: the whole interval is
/// above 1, and there were enough samples for its confidence.
bool gains(const CaseOutcome* outcome) {
  return outcome->speedup && outcome->speedup->above(1) && !is_low(outcome->speedup->interval);
}

/// Returns the cases that can be compared: the baseline and cases with a speedup over it; all cases
/// if none has a speedup.
Outcomes compared_cases(const Outcomes& cases, const CaseOutcome* baseline) {
  Outcomes compared;
  std::ranges::copy_if(cases, std::back_inserter(compared),
                       [&](const CaseOutcome* one) { return one == baseline || one->speedup; });
  const bool has_speedup = std::ranges::any_of(
      compared, [](const CaseOutcome* one) { return one->speedup.has_value(); });
  return has_speedup ? compared : cases;
}

/// Returns the speed by which cases are ranked: the median of the paired ratios to the baseline.
/// For a case without ratios, the ratio of the medians; without a baseline, the inverse of its
/// time.
double expected_speed(const CaseOutcome* one, const CaseOutcome* baseline) {
  if (one->speedup) return one->speedup->value;
  return (baseline != nullptr ? baseline->median_seconds : 1) / one->median_seconds;
}

/// Returns whether the intervals of the speedups show that `one` is slower than `other`.
bool is_outdone(const CaseOutcome* one, const CaseOutcome* other) {
  if (!one->speedup) return other->speedup && other->speedup->above(1);
  if (!one->speedup->interval) return false;
  const double high = one->speedup->interval->high;
  return other->speedup ? other->speedup->above(high) : high < 1;
}

/// Returns the case other than the baseline with the largest speedup; null without speedups.
/// Prefers cases whose interval is above 1, then cases whose interval includes 1: an answer that
/// recommends the baseline must not deny a gain that the table shows or leaves open.
const CaseOutcome* largest_speedup(const Outcomes& cases, const CaseOutcome* baseline) {
  const auto rank = [](const CaseOutcome* one) {
    return std::tuple(one->speedup->above(1), !one->speedup->below(1), one->speedup->value);
  };
  const CaseOutcome* best = nullptr;
  for (const CaseOutcome* one : cases) {
    if (!one->speedup || one == baseline) continue;
    if (best == nullptr || rank(one) > rank(best)) best = one;
  }
  return best;
}

/// Comparison of the cases of a group.
struct Ranking {
  const CaseOutcome* baseline = nullptr;  // null if it was not measured
  Outcomes by_speed;                      // cases by decreasing expected speed
  Outcomes tied;                          // the fastest case and cases tied with it, simplest first
};

Ranking rank_cases(Outcomes cases, const Wording& wording) {
  Ranking made;
  std::ranges::stable_sort(cases, [&](const CaseOutcome* a, const CaseOutcome* b) {
    const bool is_baseline = a->spec.strategy == wording.baseline;
    if (is_baseline != (b->spec.strategy == wording.baseline)) return is_baseline;
    return wording.complexity(a->spec) < wording.complexity(b->spec);
  });
  if (cases.front()->spec.strategy == wording.baseline) made.baseline = cases.front();
  made.by_speed = compared_cases(cases, made.baseline);
  made.tied = made.by_speed;
  const auto speed = [&](const CaseOutcome* one) { return expected_speed(one, made.baseline); };
  std::ranges::stable_sort(made.by_speed, std::ranges::greater(), speed);
  const double enough = speed(made.by_speed.front()) / (1 + largest_tie);
  std::erase_if(made.tied, [&](const CaseOutcome* one) { return speed(one) < enough; });
  return made;
}

/// Returns the share of core time that other programs had, if it can explain the gain of a case:
/// without other programs, the case might not be faster than its baseline. Otherwise 0.
double explaining_load(const CaseOutcome* recommended) {
  const bool is_explained = recommended->min_speedup && !recommended->min_speedup->above(1);
  return is_explained ? recommended->load : 0;
}

/// Returns the share of core time that other programs had, if their load can hide which case is the
/// fastest; otherwise 0. The load can hide it in two cases: without the load, a case of another
/// strategy, which the load may affect differently, might be 10% faster than the recommended one;
/// or `is_open` (the samples do not distinguish the recommended case from others) and the share is
/// at least `min_cores_taken`.
double hiding_load(const Ranking& ranking, const CaseOutcome* recommended, bool is_open) {
  constexpr double hidden_gain = 1.1;
  double load = is_open && recommended->load >= min_cores_taken ? recommended->load : 0;
  const double enough = hidden_gain * expected_speed(recommended, ranking.baseline);
  for (const CaseOutcome* one : ranking.by_speed) {
    if (one->spec.strategy == recommended->spec.strategy || !one->max_speedup) continue;
    if (one->max_speedup->value >= enough) load = std::max(load, one->load);
  }
  return load;
}

/// Returns the simplest of the tied cases. If that is not the baseline, and the gain of the fastest
/// case is shown, returns the simplest tied case whose gain is shown.
const CaseOutcome* recommended_of(const Ranking& ranking) {
  const CaseOutcome* simplest = ranking.tied.front();
  if (simplest == ranking.baseline || !gains(ranking.by_speed.front())) return simplest;
  return *std::ranges::find_if(ranking.tied, gains);
}

}  // namespace

Outcomes all_outcomes(const std::vector<CaseOutcome>& outcomes) {
  Outcomes all;
  for (const CaseOutcome& outcome : outcomes) all.push_back(&outcome);
  return all;
}

Outcomes outcomes_where(const Outcomes& outcomes, const SpecPredicate& predicate) {
  Outcomes chosen;
  std::ranges::copy_if(outcomes, std::back_inserter(chosen),
                       [&](const CaseOutcome* one) { return predicate(one->spec); });
  return chosen;
}

bool has_case(const Outcomes& outcomes, const SpecPredicate& predicate) {
  return std::ranges::any_of(outcomes,
                             [&](const CaseOutcome* one) { return predicate(one->spec); });
}

const CaseOutcome* fastest_where(const Outcomes& outcomes, const SpecPredicate& predicate) {
  const CaseOutcome* fastest = nullptr;
  for (const CaseOutcome* one : outcomes) {
    if (!one->speedup || !predicate(one->spec)) continue;
    if (fastest == nullptr || one->speedup->value > fastest->speedup->value) fastest = one;
  }
  return fastest;
}

std::int64_t rank_in(std::initializer_list<std::string_view> simplest_first,
                     std::string_view strategy) {
  return std::ranges::find(simplest_first, strategy) - simplest_first.begin();
}

const CaseOutcome* find_outcome(const Outcomes& cases, std::string_view name) {
  const auto found =
      std::ranges::find_if(cases, [&](const CaseOutcome* one) { return one->spec.name() == name; });
  return found == cases.end() ? nullptr : *found;
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

Recommendation recommend(const SameWork& group, const Wording& wording,
                         const PossiblyFastest& possibly_fastest) {
  const Ranking ranking = rank_cases(group.cases, wording);
  const CaseOutcome* fastest = ranking.by_speed.front();
  const CaseOutcome* recommended = recommended_of(ranking);
  const bool is_baseline = recommended == ranking.baseline;
  const auto labelled = [&](const CaseOutcome* one) {
    return LabelledCase{wording.label(one->spec), one->spec.name()};
  };
  Recommendation made{.setting = group.setting, .candidates = {labelled(recommended)}};
  Outcomes others;
  std::ranges::copy_if(ranking.by_speed, std::back_inserter(others),
                       [&](const CaseOutcome* one) { return one != recommended; });
  const auto is_tied = [&](const CaseOutcome* one) {
    return std::ranges::find(ranking.tied, one) != ranking.tied.end();
  };
  std::ranges::transform(others | std::views::filter(is_tied), std::back_inserter(made.tied),
                         labelled);
  std::ranges::copy(made.tied, std::back_inserter(made.candidates));
  const Outcomes not_excluded = possibly_fastest(ranking.by_speed);
  for (const CaseOutcome* one : others) {
    const bool is_open = std::ranges::find(not_excluded, one) != not_excluded.end();
    if (is_open && !is_tied(one) && !is_outdone(one, fastest)) {
      made.candidates.push_back(labelled(one));
    }
  }
  made.load = explaining_load(recommended);
  made.pays = !is_baseline && gains(recommended) && made.load == 0;
  const bool is_open = made.pays && made.candidates.size() > 1 + made.tied.size();
  const double hiding = hiding_load(ranking, recommended, is_open);
  (made.pays ? made.hiding_load : made.load) = std::max(made.load, hiding);
  const CaseOutcome* shown =
      is_baseline ? largest_speedup(ranking.by_speed, recommended) : recommended;
  if (shown != nullptr && shown->speedup) {
    made.gaining = labelled(shown);
    made.gain = shown->speedup;
    made.processes = shown->processes;
    if (!is_baseline && fastest != recommended) made.fastest_gain = fastest->speedup;
  }
  return made;
}

void Recommended::add(Recommendation one) {
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
  for (const SameWork& group : same_work(outcomes, parameters)) {
    made.add(recommend(group, wording, possibly_fastest));
  }
  return made;
}

}  // namespace parbench
