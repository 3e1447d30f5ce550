// States whether several devices pay, and whether streams on one device do, at each size.
#include "scenarios/matmul/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/base/units/units.h"
#include "scenarios/answers/device_words.h"
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
  constexpr std::array<std::string_view, 7> strategies{
      "alone", "streams", "sequential", all_cores, "concurrent", "column-sharded", "row-sharded"};
  return std::tuple(std::ranges::find(strategies, spec.strategy) - strategies.begin(),
                    integer_of(spec, "streams"));
}

/// One of the two questions: the cases that it compares, and the wording of its answer.
struct Question {
  std::vector<std::string_view> strategies;  // baseline first
  std::string_view name;                     // name of the question in settings
  std::string_view subject;                  // subject of the sentence
  std::string_view baseline;                 // "one device after the other"
};

bool belongs_to(const Question& question, const CaseSpec& spec) {
  // Streams are compared with the device that they share.
  return std::ranges::find(question.strategies, spec.strategy) != question.strategies.end() &&
         integer_of(spec, "device") == 0;
}

using Recommendations = std::vector<Recommendation>;

Recommended recommendations_of(const Question& question, const std::vector<CaseOutcome>& outcomes,
                               const PossiblyFastest& possibly_fastest) {
  const Wording wording{
      .label =
          [&](const CaseSpec& spec) {
            return uses_all_cores(spec) ? whole_device_text(outcomes) : label_of(spec);
          },
      .simpler = [](const CaseSpec& a, const CaseSpec& b) { return complexity(a) < complexity(b); },
      .is_baseline =
          [&](const CaseSpec& spec) { return spec.strategy == question.strategies.front(); }};
  const Outcomes own = outcomes_where(
      outcomes, [&](const CaseOutcome& one) { return belongs_to(question, one.spec); });
  return recommend_each(own, {"n", "count"}, wording, possibly_fastest);
}

/// Returns the sentences about one question, the most important first.
std::vector<std::string> sentences(const Question& question, const Recommendations& found) {
  if (found.size() == 1) {
    const Recommendation& one = found.front();
    if (payoff_of(one) < Payoff::may_pay) {
      return {at_setting(
          one, keep_text(one, payoff_clause(one, with_small_letter(question.subject), "pay")))};
    }
    return {at_setting(one, use_text(one, question.baseline)), tie_text(one), open_text(one)};
  }
  if (const Recommendation* only = only_one_that_pays(found)) {
    return {at_setting(*only, use_text(*only, question.baseline)),
            elsewhere_text(found, question.subject, "pay")};
  }
  return {fmt::format("{}{}.", verdict_text(found, question.subject, "pay"),
                      best_text(found, question.baseline))};
}

/// Returns only the verdict, for limited space.
std::string short_sentence(const Question& question, const Recommendations& found) {
  return verdict_text(found, question.subject, "pay") + ".";
}

/// Returns the answers to both questions; if they are too long, the second or the first is
/// shortened.
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

/// Explains a gain larger than the number of devices; empty for other gains. Only sharded products
/// have smaller pieces than the baseline.
std::string superlinear_text_of(const Recommendation& found, const Outcomes& outcomes) {
  const CaseOutcome* gaining = find_outcome(outcomes, found.gaining->name);
  if (gaining == nullptr) return {};
  return superlinear_text(found, devices_of(gaining->spec),
                          gaining->spec.strategy.ends_with("-sharded")
                              ? "smaller pieces fit the caches, or the baseline was disturbed"
                              : "the baseline was disturbed");
}

/// Ratio of the time of one device after the other to that of the same products alone on each
/// device: lower limit, and ratio of the medians.
struct Excess {
  double min = 0;
  double median = 0;
};

/// Returns nothing unless all of the cases were measured with an interval.
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
  if (in_turn == nullptr || devices != integer_of(in_turn->spec, "devices")) return std::nullopt;
  return Excess{.min = in_turn->interval->low / alone_high,
                .median = in_turn->median_seconds / alone};
}

/// If the baseline is slower than its parts, a gain over it is not only due to concurrent devices.
/// Adds a remark to such recommendations that have a verdict, and returns the sentence on the
/// largest excess; empty without any.
std::string slow_baseline_text(Recommendations& found, const std::vector<CaseOutcome>& outcomes) {
  constexpr double remarkable = 1.05;
  const Outcomes parts = outcomes_where(outcomes, [](const CaseOutcome& one) {
    return one.spec.strategy == "sequential" || one.spec.strategy == "alone";
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
      " One device after the other takes {:.0f}% longer than the same products alone{}, so that "
      "the gain{} is that much too large.",
      100 * (largest - 1), setting, setting.empty() ? "" : " there");
}

/// Returns which side of a question's comparisons is missing, for questions without an answer.
/// Empty if only the single device was measured, which belongs to other questions as well.
std::string missing_text(const Question& question, const std::vector<CaseOutcome>& outcomes) {
  const auto has = [&](auto&& is_wanted) {
    return std::ranges::any_of(outcomes, [&](const CaseOutcome& one) {
      return belongs_to(question, one.spec) && is_wanted(one.spec.strategy);
    });
  };
  const std::string_view baseline = question.strategies.front();
  const auto is_baseline = [&](const std::string& strategy) { return strategy == baseline; };
  if (has(std::not_fn(is_baseline))) {
    return fmt::format("{}: not decided, as {} was not measured.", question.subject,
                       question.baseline);
  }
  return has(is_baseline) && baseline != "alone"
             ? fmt::format("{}: not decided, only {} was measured.", question.subject,
                           question.baseline)
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
  const bool has_whole = std::ranges::any_of(
      outcomes, [](const CaseOutcome& one) { return uses_all_cores(one.spec); });
  const Question devices{
      {"sequential", all_cores, "concurrent", "column-sharded", "row-sharded"},
      "several devices",
      has_whole ? "Several devices, or one device of all cores," : "Several devices",
      "one device after the other"};
  const Question streams{{"alone", "streams"}, "streams", "Streams on one device", "one stream"};
  Conclusion made;
  std::vector<std::string> answers;
  std::vector<std::string> in_short;
  std::vector<std::string> details;
  std::vector<std::string> remarks;
  const Outcomes all = outcomes_where(outcomes, [](const CaseOutcome&) { return true; });
  for (const Question* question : {&devices, &streams}) {
    auto [found, not_compared] = recommendations_of(*question, outcomes, possibly_fastest);
    if (found.empty()) {
      remarks.push_back(missing_text(*question, outcomes));
      continue;
    }
    std::vector<std::string> own = sentences(*question, found);
    answers.push_back(std::move(own.front()));
    in_short.push_back(short_sentence(*question, found));
    details.insert(details.end(), std::next(own.begin()), own.end());
    if (question == &devices) {
      details.insert(details.begin(), slow_baseline_text(found, outcomes));
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
