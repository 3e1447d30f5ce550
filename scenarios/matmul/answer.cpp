// States whether several devices pay, and whether streams on one device do, at each size.
#include "scenarios/matmul/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kernels/base/units/units.h"
#include "scenarios/answers/device_words.h"
#include "scenarios/answers/recommend.h"
#include "scenarios/answers/wording.h"
#include "scenarios/framework/all_cores.h"

namespace parbench {
namespace {

std::string label_of(const CaseSpec& spec) {
  if (spec.strategy == "sequential") return "one device after the other";
  if (spec.strategy == "alone") return "one stream";
  if (spec.strategy == "streams")
    return fmt::format("{} streams", spec.parameters.integer_or("streams", 0));
  return spec.strategy;
}

std::vector<std::int64_t> complexity(const CaseSpec& spec) {
  return {rank_in({"alone", "streams", "sequential", all_cores, "concurrent", "column-sharded",
                   "row-sharded"},
                  spec.strategy),
          spec.parameters.integer_or("streams", 0)};
}

/// A part of the scenario's question (several devices, streams): the cases that it compares, and
/// the wording of its answer.
struct Question {
  std::vector<std::string_view> strategies;  // baseline first
  std::string_view name;                     // added to settings: "streams"
  Subject subject;                           // subject of the sentences
  std::string_view baseline;                 // words for the baseline: "one stream"
};

bool belongs_to(const Question& question, const CaseSpec& spec) {
  // Streams share device 0, so they are compared with strategy alone on device 0 only.
  return std::ranges::find(question.strategies, spec.strategy) != question.strategies.end() &&
         spec.parameters.integer_or("device", 0) == 0;
}

using Recommendations = std::vector<Recommendation>;

Recommended recommendations_of(const Question& question, const Outcomes& outcomes,
                               const PossiblyFastest& possibly_fastest) {
  const Wording wording{.label =
                            [&](const CaseSpec& spec) {
                              return uses_all_cores(spec) ? whole_device_text(outcomes)
                                                          : label_of(spec);
                            },
                        .complexity = complexity,
                        .baseline = question.strategies.front()};
  const Outcomes own =
      outcomes_where(outcomes, [&](const CaseSpec& spec) { return belongs_to(question, spec); });
  return recommend_each(own, {"n", "count"}, wording, possibly_fastest);
}

/// Returns the answers to both questions. If they are too long together, shortens the second; if
/// that does not suffice, the first instead of the second; if neither suffices, both.
std::vector<std::string> fitting(std::vector<std::string> answers,
                                 const std::vector<std::string>& in_short) {
  const auto fits = [](const std::vector<std::string>& both) {
    return joined_sentences(both).ends_with(both.back());
  };
  if (answers.size() < 2 || fits(answers)) return answers;
  if (fits({answers[0], in_short[1]})) return {answers[0], in_short[1]};
  if (fits({in_short[0], answers[1]})) return {in_short[0], answers[1]};
  return in_short;
}

/// Explains a gain larger than the number of devices; empty for other gains. Better use of caches
/// is named for sharded products only, because other products are as large as the baseline's.
std::string superlinear_text_of(const Recommendation& found, const Outcomes& outcomes) {
  const CaseOutcome* gaining = find_outcome(outcomes, found.gaining->name);
  if (gaining == nullptr) return {};
  return superlinear_text(found, devices_in(gaining->spec.parameters),
                          gaining->spec.strategy.ends_with("-sharded")
                              ? "smaller pieces fit the caches, or the baseline was disturbed"
                              : "the baseline was disturbed");
}

/// Ratio of the time of strategy sequential to the sum of the times of strategy alone over all
/// devices: a lower limit, from the ends of the intervals, and the ratio of the medians.
struct Excess {
  double min = 0;
  double median = 0;
};

/// Returns nothing unless sequential, and alone on all of its devices, were measured, all with
/// intervals from enough samples.
std::optional<Excess> excess_of_baseline(const SameWork& group) {
  const CaseOutcome* in_turn = nullptr;
  double alone = 0;
  double alone_high = 0;
  std::int64_t devices = 0;
  for (const CaseOutcome* one : group.cases) {
    if (!one->interval || is_low(one->interval)) return std::nullopt;
    if (one->spec.strategy == "sequential") {
      in_turn = one;
    } else {
      alone += one->median_seconds;
      alone_high += one->interval->high;
      ++devices;
    }
  }
  if (in_turn == nullptr || devices != in_turn->spec.parameters.integer_or("devices", 0))
    return std::nullopt;
  return Excess{.min = in_turn->interval->low / alone_high,
                .median = in_turn->median_seconds / alone};
}

/// Adds a remark to recommendations whose gain is partly due to a slow baseline: sequential is more
/// than 5% slower than its parts alone, and another case pays or may pay. Returns a sentence about
/// the setting with the largest excess; empty if there is none.
std::string slow_baseline_text(Recommendations& found, const Outcomes& outcomes) {
  constexpr double remarkable = 1.05;
  const Outcomes parts = outcomes_where(outcomes, [](const CaseSpec& spec) {
    return spec.strategy == "sequential" || spec.strategy == "alone";
  });
  double largest = 0;
  std::string setting;
  for (const SameWork& group : same_work(parts, {"n", "count"})) {
    const std::optional<Excess> excess = excess_of_baseline(group);
    const auto one = std::ranges::find(found, group.setting, &Recommendation::setting);
    if (!excess || excess->min <= remarkable || one == found.end() || !one->gain) continue;
    if (payoff_of(*one) < Payoff::may_pay || payoff_of(*one) == Payoff::undecided) {
      continue;
    }
    one->remark =
        fmt::format("{} over the products alone", format_ratio(one->gain->value / excess->median));
    if (excess->median <= largest) continue;
    largest = excess->median;
    setting = group.setting.empty() ? "" : " at " + group.setting;
  }
  if (largest == 0) return {};
  return fmt::format(
      " One device after the other takes {:.0f}% longer than the same products alone{}, which "
      "overstates the gain{} by as much.",
      100 * (largest - 1), setting, setting.empty() ? "" : " there");
}

/// Returns which side of the comparison is missing, for a question without an answer. Empty if none
/// of its strategies was measured, or only strategy alone.
std::string missing_text(const Question& question, const Outcomes& outcomes) {
  const std::string_view baseline = question.strategies.front();
  const auto has = [&](bool is_baseline) {
    return has_case(outcomes, [&](const CaseSpec& spec) {
      return belongs_to(question, spec) && (spec.strategy == baseline) == is_baseline;
    });
  };
  if (has(false)) {
    return fmt::format("{}: not decided, as {} was not measured.", question.subject.text,
                       question.baseline);
  }
  return has(true) && baseline != "alone" ? fmt::format("{}: not decided, only {} was measured.",
                                                        question.subject.text, question.baseline)
                                          : "";
}

/// Adds the question to the setting, because a table contains the recommendations of both
/// questions.
void name_question(const Question& question, Recommendation& found) {
  found.setting = found.setting.empty() ? std::string(question.name)
                                        : fmt::format("{}, {}", question.name, found.setting);
}

}  // namespace

Conclusion matmul_answer(const std::vector<CaseOutcome>& outcomes,
                         const PossiblyFastest& possibly_fastest) {
  const Outcomes all = all_outcomes(outcomes);
  const Question devices{
      {"sequential", all_cores, "concurrent", "column-sharded", "row-sharded"},
      "several devices",
      {has_case(all, uses_all_cores) ? "Several devices, or one device of all cores,"
                                     : "Several devices",
       "pay"},
      "one device after the other"};
  const Question streams{
      {"alone", "streams"}, "streams", {"Streams on one device", "pay"}, "one stream"};
  Conclusion made;
  std::vector<std::string> answers;
  std::vector<std::string> in_short;
  std::vector<std::string> details;
  std::vector<std::string> remarks;
  for (const Question* question : {&devices, &streams}) {
    auto [found, not_compared] = recommendations_of(*question, all, possibly_fastest);
    if (found.empty()) {
      remarks.push_back(missing_text(*question, all));
      continue;
    }
    std::vector<std::string> own = verdict_sentences(found, question->subject, question->baseline);
    answers.push_back(std::move(own.front()));
    in_short.push_back(verdict_text(found, question->subject) + ".");  // where space is limited
    details.insert(details.end(), std::next(own.begin()), own.end());
    if (question == &devices) {
      details.insert(details.begin(), slow_baseline_text(found, all));
      remarks = {superlinear_text_of(best_of(found), all)};
    }
    remarks.push_back(not_compared_text(not_compared));
    for (Recommendation& one : found) name_question(*question, one);
    std::ranges::move(found, std::back_inserter(made.recommendations));
  }
  if (answers.empty()) {
    std::string text = joined_sentences(remarks);
    if (text.empty()) text = "Not decided: too little was measured to compare.";
    return {.text = std::move(text), .is_answered = false};
  }
  answers = fitting(std::move(answers), in_short);
  std::ranges::move(details, std::back_inserter(answers));
  std::ranges::move(remarks, std::back_inserter(answers));
  made.text = joined_sentences(answers);
  return made;
}

}  // namespace parbench
