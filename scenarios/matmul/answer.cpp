// Whether several devices pay, and whether streams on one device do, at each size.
#include "scenarios/matmul/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>

#include "scenarios/answers/recommend.h"
#include "scenarios/answers/wording.h"

namespace parbench {
namespace {

std::int64_t integer_of(const CaseSpec& spec, std::string_view name) {
  const Value* value = spec.parameters.find(name);
  return value == nullptr ? 0 : std::get<std::int64_t>(*value);
}

std::string label_of(const CaseSpec& spec) {
  if (spec.strategy == "sequential") return "one device after the other";
  if (spec.strategy == "alone") return "one stream";
  if (spec.strategy == "streams") return fmt::format("{} streams", integer_of(spec, "streams"));
  return spec.strategy;
}

auto complexity(const CaseSpec& spec) {
  constexpr std::array<std::string_view, 6> strategies{
      "alone", "streams", "sequential", "concurrent", "column-sharded", "row-sharded"};
  return std::tuple(std::ranges::find(strategies, spec.strategy) - strategies.begin(),
                    integer_of(spec, "streams"));
}

/// One of the two questions: what it compares, and how its answer is worded.
struct Question {
  std::vector<std::string_view> strategies;  // the baseline first
  std::string_view subject;                  // "Several devices at once"
  std::string_view over;                     // "the same work in turn"
};

bool belongs_to(const Question& question, const CaseSpec& spec) {
  // Streams are compared with the device that they share.
  return std::ranges::find(question.strategies, spec.strategy) != question.strategies.end() &&
         integer_of(spec, "device") == 0;
}

using Recommendations = std::vector<report::Recommendation>;

Recommendations recommendations_of(const Question& question,
                                   const std::vector<CaseOutcome>& outcomes,
                                   const PossiblyFastest& possibly_fastest) {
  const Wording wording{
      .label = label_of,
      .simpler = [](const CaseSpec& a, const CaseSpec& b) { return complexity(a) < complexity(b); },
      .is_baseline =
          [&](const CaseSpec& spec) { return spec.strategy == question.strategies.front(); }};
  const Outcomes own = outcomes_where(
      outcomes, [&](const CaseOutcome& one) { return belongs_to(question, one.spec); });
  Recommendations found;
  for (const SameWork& group : same_work(own, {"n", "count"})) {
    report::Recommendation one = recommend(group, wording, possibly_fastest);
    if (one.gain) found.push_back(std::move(one));
  }
  return found;
}

/// The recommendation with the largest gain, of those that pay if any does.
const report::Recommendation& best_of(const Recommendations& found) {
  return *std::ranges::max_element(found, {}, [](const report::Recommendation& one) {
    return std::pair(one.pays, one.gain->value);
  });
}

std::string sentence(const Question& question, const Recommendations& found) {
  const report::Recommendation& best = best_of(found);
  return fmt::format("{} {}: {} {} {}{}{}.", question.subject, where_it_pays(found, "pay"),
                     best.gaining->label, ratio_text(*best.gain), question.over,
                     found.size() > 1 ? " at " : "", best.setting);
}

/// The number of devices of a case that gains; 1 where it is unknown.
double devices_of(const report::Recommendation& found, const std::vector<CaseOutcome>& outcomes) {
  const auto place = std::ranges::find_if(
      outcomes, [&](const CaseOutcome& one) { return one.spec.name() == found.gaining->name; });
  const std::int64_t devices = place == outcomes.end() ? 0 : integer_of(place->spec, "devices");
  return static_cast<double>(std::max<std::int64_t>(1, devices));
}

}  // namespace

Conclusion matmul_answer(const std::vector<CaseOutcome>& outcomes,
                         const PossiblyFastest& possibly_fastest) {
  const Question devices{{"sequential", "concurrent", "column-sharded", "row-sharded"},
                         "Several devices",
                         "the same work in turn"};
  const Question streams{{"alone", "streams"}, "Streams on one device", "one stream"};
  Conclusion made;
  for (const Question* question : {&devices, &streams}) {
    Recommendations found = recommendations_of(*question, outcomes, possibly_fastest);
    if (found.empty()) continue;
    made.text += made.text.empty() ? "" : " ";
    made.text += sentence(*question, found);
    if (question == &devices) {
      const report::Recommendation& best = best_of(found);
      made.text += superlinear_text(best, devices_of(best, outcomes),
                                    "smaller pieces fit the caches, or the baseline was disturbed");
    }
    std::ranges::move(found, std::back_inserter(made.recommendations));
  }
  if (made.text.empty()) made.text = "Too little was measured to compare: there is no answer.";
  return made;
}

}  // namespace parbench
