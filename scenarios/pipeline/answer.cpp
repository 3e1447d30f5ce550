// Recommends a split for each model, batch and image size.
#include "scenarios/pipeline/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/base/units/units.h"
#include "scenarios/answers/device_words.h"
#include "scenarios/answers/memory_trade.h"
#include "scenarios/answers/recommend.h"
#include "scenarios/answers/wording.h"
#include "scenarios/models/models.h"
#include "scenarios/training/question/question.h"

namespace parbench {
namespace {

Parameters choices_of(const CaseSpec& spec) {
  return spec.parameters.where(
      [](std::string_view name) { return name == "partition" || name == "schedule"; });
}

/// Returns whether a case of the same strategy and split has another value of a choice.
bool is_varied(const Parameter& choice, const CaseSpec& spec,
               const std::vector<CaseOutcome>& outcomes) {
  return std::ranges::any_of(outcomes, [&](const CaseOutcome& one) {
    const Parameters& others = one.spec.parameters;
    const Value* split = spec.parameters.find("split");
    const Value* other_split = others.find("split");
    const Value* value = others.find(choice.name);
    return one.spec.strategy == spec.strategy && value != nullptr && *value != choice.value &&
           (split == nullptr || (other_split != nullptr && *split == *other_split));
  });
}

using AllOutcomes = std::vector<CaseOutcome>;

/// Returns "split 5", "model-parallel" or "one device".
std::string short_label(const CaseSpec& spec, const AllOutcomes& outcomes) {
  if (spec.strategy == single_device) return one_device_text(outcomes, single_device);
  if (uses_all_cores(spec)) return whole_device_text(outcomes);
  if (spec.strategy != pipelined_model) return spec.strategy;
  return "split " + to_string(*spec.parameters.find("split"));
}

/// Returns "with split 5" or "on one device".
std::string place_of(const CaseSpec& spec, const AllOutcomes& outcomes) {
  const bool is_whole = spec.strategy == single_device || uses_all_cores(spec);
  return (is_whole ? "on " : "with ") + short_label(spec, outcomes);
}

/// Returns the short label with the choices that are not the default, or in which several cases
/// differ.
std::string label_of(const CaseSpec& spec, const AllOutcomes& outcomes) {
  std::string label = short_label(spec, outcomes);
  for (const Parameter& choice : choices_of(spec)) {
    if (!choice.implied || is_varied(choice, spec, outcomes))
      label += fmt::format(", {} {}", choice.name, to_string(choice.value));
  }
  return label;
}

/// Returns a key that sorts by strategy, then by number of choices, then by number of
/// micro-batches.
auto complexity(const CaseSpec& spec) {
  constexpr std::array<std::string_view, 4> strategies{single_device, all_cores, model_parallel,
                                                       pipelined_model};
  const auto strategy = std::ranges::find(strategies, spec.strategy) - strategies.begin();
  const auto choices =
      std::ranges::count_if(spec.parameters, [](const Parameter& one) { return !one.implied; });
  const Value* split = spec.parameters.find("split");
  const auto* samples = split == nullptr ? nullptr : std::get_if<std::int64_t>(split);
  return std::tuple(strategy, choices,
                    samples == nullptr ? std::numeric_limits<std::int64_t>::max() : -*samples);
}

/// Returns "; without micro-batches: 1.02× (0.99–1.04)", unless that case is recommended.
std::string model_parallel_text(const SameWork& group) {
  for (const CaseOutcome* one : group.cases) {
    if (one->spec.strategy != model_parallel || !one->speedup) continue;
    return fmt::format("; without micro-batches: {}", format_ratio(*one->speedup));
  }
  return {};
}

/// Returns the sentences about one setting, the most important first.
std::vector<std::string> sentences(const SameWork& group, const Recommendation& found,
                                   const AllOutcomes& outcomes) {
  const CaseOutcome* gaining = find_outcome(group.cases, found.gaining->name);
  const bool is_split = gaining->spec.strategy == pipelined_model;
  const bool is_whole = uses_all_cores(gaining->spec);
  const std::string whole_device = whole_device_comparison(
      group.cases, found, outcomes, [&](const CaseSpec& spec) { return label_of(spec, outcomes); });
  std::string details;
  if (gaining->efficiency > 0) {
    details = fmt::format(", {:.0f}% of what its tasks and their dependencies allow",
                          100 * gaining->efficiency);
  }
  if (payoff_of(found) < Payoff::may_pay) {
    const std::string_view subject = is_whole   ? "using all cores"
                                     : is_split ? "splitting"
                                                : "using several devices";
    return {at_setting(found, keep_text(found, payoff_clause(found, subject, "pays"), details)),
            whole_device};
  }
  const bool has_verdict = payoff_of(found) != Payoff::undecided;
  if (is_split && has_verdict) details += model_parallel_text(group);
  const std::string superlinear =
      is_split   ? superlinear_text(found, devices_of(gaining->spec),
                                    "micro-batches fit the caches better than the whole batch")
      : is_whole ? superlinear_text(found, devices_of(gaining->spec),
                                    "more caches hold the model, or the baseline was disturbed")
                 : superlinear_text(found, 1,
                                    "each device's part of the model fits its caches better, or "
                                    "the baseline was disturbed");
  return {at_setting(found, use_text(found, one_device_text(outcomes, single_device), details)),
          whole_device, tie_text(found), open_text(found), superlinear};
}

/// Returns "At batch 24, use split 5: 1.60× as fast as one device. Splitting does not pay at batch
/// 8.", or a list of settings in which it pays, with the largest gain.
std::vector<std::string> summary(const std::vector<Recommendation>& found,
                                 const AllOutcomes& outcomes) {
  const std::string baseline = one_device_text(outcomes, single_device);
  const std::string whole = whole_device_text(outcomes);
  const bool has_whole = std::ranges::any_of(
      found, [&](const Recommendation& one) { return one.gaining->label == whole; });
  const bool are_splits = std::ranges::all_of(
      found, [](const Recommendation& one) { return one.gaining->label.starts_with("split"); });
  const std::string_view subject = are_splits  ? "Splitting"
                                   : has_whole ? "Using all cores"
                                               : "Using several devices";
  if (const Recommendation* only = only_one_that_pays(found)) {
    return {at_setting(*only, use_text(*only, baseline)), elsewhere_text(found, subject, "pays")};
  }
  return {fmt::format("{}{}.", verdict_text(found, subject, "pays"), best_text(found, baseline))};
}

}  // namespace

Conclusion pipeline_answer(const std::vector<CaseOutcome>& outcomes,
                           const PossiblyFastest& possibly_fastest) {
  const Wording wording{
      .label = [&](const CaseSpec& spec) { return label_of(spec, outcomes); },
      .simpler = [](const CaseSpec& a, const CaseSpec& b) { return complexity(a) < complexity(b); },
      .is_baseline = [](const CaseSpec& spec) { return spec.strategy == single_device; }};
  std::vector<std::string_view> same{"model", "batch", "optimizer", "clip", "recompute"};
  same.insert(same.end(), model_size_names.begin(), model_size_names.end());
  const std::vector<SameWork> groups =
      same_work(outcomes_where(outcomes, [](const CaseOutcome&) { return true; }), same);
  std::vector<std::string> of_one;
  Recommended all;
  for (const SameWork& group : groups) {
    Recommendation found = recommend(group, wording, possibly_fastest);
    if (found.gain) of_one = sentences(group, found, outcomes);
    all.add(std::move(found));
  }
  const std::string baseline = one_device_text(outcomes, single_device);
  if (all.recommendations.empty()) {
    const bool has_single = std::ranges::any_of(
        outcomes, [](const CaseOutcome& one) { return one.spec.strategy == single_device; });
    return {.text = no_comparison_text(baseline, "pipeline", has_single), .is_answered = false};
  }
  std::vector<std::string> text =
      all.recommendations.size() > 1 ? summary(all.recommendations, outcomes) : of_one;
  const auto place = [&](const CaseSpec& spec) { return place_of(spec, outcomes); };
  text.push_back(
      memory_trade_text(outcomes, {.name = "recompute", .usual = "none", .work = same}, place));
  text.push_back(
      memory_trade_text(outcomes, {.name = "schedule", .usual = "gpipe", .work = same}, place));
  text.push_back(not_compared_text(all.not_compared));
  return {joined_sentences(text), std::move(all.recommendations)};
}

}  // namespace parbench
