// Recommends a technique for each size, and states up to which size it pays.
#include "scenarios/branch/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include "kernels/base/units/units.h"
#include "scenarios/answers/recommend.h"
#include "scenarios/answers/wording.h"
#include "scenarios/branch/branch_layers.h"
#include "scenarios/branch/strategies.h"

namespace parbench {
namespace {

constexpr std::string_view baseline_strategy = "one-stream";
constexpr std::string_view baseline_words = "one stream";
constexpr std::string_view graph_alone = "graph-one-stream";  // gains only by its launch

/// Returns "2 streams", "graph of 2 streams" or "merged".
std::string label_of(const CaseSpec& spec) {
  const std::string_view arrangement = arrangement_of(spec.strategy);
  std::string label = spec.strategy;
  if (arrangement == baseline_strategy) label = baseline_words;
  if (arrangement == "streams") {
    label = fmt::format("{} streams", spec.parameters.integer("streams"));
  }
  return is_graph(spec.strategy) ? "graph of " + label : label;
}

/// Returns a key that sorts techniques by their requirements of the program and of the device,
/// simple ones first.
auto complexity(const CaseSpec& spec) {
  constexpr std::array<std::string_view, 5> arrangements{"one-stream", "merged", "grouped",
                                                         "streams", "threads"};
  const Value* streams = spec.parameters.find("streams");
  return std::tuple(
      is_graph(spec.strategy),
      std::ranges::find(arrangements, arrangement_of(spec.strategy)) - arrangements.begin(),
      streams == nullptr ? Value() : *streams);
}

/// Removes graphs if no graph of one stream was measured, because the gain of their streams is then
/// unknown.
void drop_graphs_without_measure(Outcomes& cases) {
  const bool known = std::ranges::any_of(
      cases, [](const CaseOutcome* one) { return one->spec.strategy == graph_alone; });
  if (known) return;
  std::erase_if(cases, [](const CaseOutcome* one) { return is_graph(one->spec.strategy); });
}

/// Returns a group's graph of one stream; null if it is missing or has no speedup.
const CaseOutcome* graph_alone_in(const SameWork& group) {
  const auto found = std::ranges::find_if(group.cases, [](const CaseOutcome* one) {
    return one->spec.strategy == graph_alone && one->speedup;
  });
  return found == group.cases.end() ? nullptr : *found;
}

/// Answer for one size of layer.
struct SizeAnswer {
  double layer_flops = 0;
  Recommendation found;
  Recommendation together;  // gain of running the branches together, without the gain of the launch
};

/// Returns the fastest case of a group that runs branches together; null if there is none.
const CaseOutcome* fastest_together(const SameWork& group) {
  const CaseOutcome* fastest = nullptr;
  for (const CaseOutcome* one : group.cases) {
    if (arrangement_of(one->spec.strategy) == baseline_strategy || !one->speedup) continue;
    if (fastest == nullptr || one->speedup->value > fastest->speedup->value) fastest = one;
  }
  return fastest;
}

/// Returns the gain of running branches together without the gain of launching as a graph. If a
/// graph of one stream is recommended, this is the gain of `fastest` over it; if such a graph has
/// the largest gain over the baseline, it is the gain of `fastest` over the baseline.
Recommendation together_of(const SameWork& group, Recommendation found,
                           const CaseOutcome& fastest) {
  const CaseOutcome* alone = graph_alone_in(group);
  if (alone == nullptr) return found;
  if (found.gaining->name == alone->spec.name() &&
      found.candidates.front().name != alone->spec.name()) {
    found.gaining = {label_of(fastest.spec), fastest.spec.name()};
    found.gain = fastest.speedup;
    return found;
  }
  if (found.candidates.front().name != alone->spec.name()) {
    found.pays = found.pays && found.gain->above(alone->speedup->value);
    return found;
  }
  found.pays = false;
  found.gaining = {label_of(fastest.spec), fastest.spec.name()};
  found.gain = {.value = fastest.speedup->value / alone->speedup->value};
  return found;
}

bool is_one_convolution(const CaseSpec& spec) {
  return arrangement_of(spec.strategy) == "merged" || arrangement_of(spec.strategy) == "grouped";
}

/// Answers by size, and settings without an answer.
struct SizeAnswers {
  std::vector<SizeAnswer> answers;
  std::vector<std::string> not_compared;
};

/// Returns the answers for branches that satisfy the predicate.
SizeAnswers answers_by_size(const std::vector<CaseOutcome>& outcomes,
                            const PossiblyFastest& possibly_fastest,
                            const std::function<bool(const CaseSpec&)>& predicate) {
  const Wording wording{
      .label = label_of,
      .simpler = [](const CaseSpec& a, const CaseSpec& b) { return complexity(a) < complexity(b); },
      .is_baseline = [](const CaseSpec& spec) { return spec.strategy == baseline_strategy; }};
  const Outcomes branches = outcomes_where(outcomes, [&](const CaseOutcome& one) {
    return arrangement_of(one.spec.strategy) != "chain" && predicate(one.spec);
  });
  SizeAnswers made;
  for (SameWork group : same_work(branches, {"batch", "channels", "image", "branches"})) {
    drop_graphs_without_measure(group.cases);
    if (group.cases.empty()) continue;
    const BranchSizes size = branch_sizes_of(group.cases.front()->spec);
    Recommendation found = recommend(group, wording, possibly_fastest);
    const CaseOutcome* fastest = fastest_together(group);
    if (!found.gain || fastest == nullptr) {
      made.not_compared.push_back(found.setting);
      continue;
    }
    if (const CaseOutcome* alone = graph_alone_in(group)) {
      found.remark = fmt::format("{} {}", label_of(alone->spec), format_ratio(*alone->speedup));
    }
    made.answers.push_back({.layer_flops = size.flops() / static_cast<double>(size.branches),
                            .found = found,
                            .together = together_of(group, found, *fastest)});
  }
  std::ranges::stable_sort(made.answers, {}, &SizeAnswer::layer_flops);
  return made;
}

using Recommendations = std::vector<Recommendation>;

Recommendations list_of(const std::vector<SizeAnswer>& answers,
                        Recommendation SizeAnswer::*member) {
  Recommendations list;
  std::ranges::transform(answers, std::back_inserter(list), member);
  return list;
}

/// Returns "Streams", "Threads" or "Streams and threads", depending on what was measured.
std::string parallel_subject(const std::vector<CaseOutcome>& outcomes) {
  const auto has = [&](std::string_view arrangement) {
    return std::ranges::any_of(outcomes, [&](const CaseOutcome& one) {
      return arrangement_of(one.spec.strategy) == arrangement;
    });
  };
  if (!has("threads")) return "Streams";
  return has("streams") ? "Streams and threads" : "Threads";
}

/// Subject of a sentence, and whether it is plural.
struct Subject {
  std::string text;
  std::string_view verb;
};

/// Returns the subject of a sentence. It names only parallel techniques if no case computes all
/// branches as one convolution.
Subject subject_of(const std::vector<CaseOutcome>& outcomes) {
  const bool has_one = std::ranges::any_of(
      outcomes, [](const CaseOutcome& one) { return is_one_convolution(one.spec); });
  if (has_one) return {"Running the branches together", "pays"};
  return {parallel_subject(outcomes), "pay"};
}

/// `answers`: sorted by size of layer.
bool are_of_different_sizes(const std::vector<SizeAnswer>& answers) {
  return std::ranges::adjacent_find(answers, {}, &SizeAnswer::layer_flops) == answers.end();
}

/// Returns " Streams and threads alone show no gain at any size.", the result of parallel
/// techniques without those that compute all branches as one convolution; for a single size, with
/// its figure. Empty if only one of the two kinds was measured.
std::string parallel_text(const std::vector<CaseOutcome>& outcomes,
                          const PossiblyFastest& possibly_fastest) {
  const auto is_one = [](const CaseOutcome& one) { return is_one_convolution(one.spec); };
  if (std::ranges::none_of(outcomes, is_one)) return {};
  const SizeAnswers of_parallel = answers_by_size(
      outcomes, possibly_fastest, [](const CaseSpec& spec) { return !is_one_convolution(spec); });
  const Recommendations parallel = list_of(of_parallel.answers, &SizeAnswer::together);
  if (parallel.empty()) return {};
  const bool are_sizes = are_of_different_sizes(of_parallel.answers);
  const std::string figure = parallel.size() > 1
                                 ? std::string()
                                 : fmt::format(": {} {}", parallel.front().gaining->label,
                                               format_ratio(*parallel.front().gain));
  return fmt::format(" {} alone {}{}.", parallel_subject(outcomes),
                     where_it_pays(parallel, "pay", are_sizes ? "size" : "setting"), figure);
}

/// Returns the sentences about one size, the most important first.
std::vector<std::string> sentences(const Subject& subject, const SizeAnswer& answer) {
  const auto& [flops, found, together] = answer;
  if (payoff_of(found) < Payoff::may_pay) {
    return {at_setting(found, keep_text(found, payoff_clause(found, with_small_letter(subject.text),
                                                             subject.verb)))};
  }
  const std::string& used = found.candidates.front().label;
  const bool names_graph = found.remark.empty() || found.remark.starts_with(used);
  std::vector<std::string> texts{
      at_setting(found, use_text(found, baseline_words, names_graph ? "" : "; " + found.remark)),
      tie_text(found), open_text(found)};
  if (together.gain != found.gain && together.gain) {
    texts.insert(std::next(texts.begin()),
                 fmt::format("{} {} beside it: {}, {} as {}.", subject.text,
                             payoff_text(payoff_of(together), subject.verb),
                             together.gaining->label, speed_text(*together.gain, ""), used));
  }
  return texts;
}

/// `answers`: sorted by size of layer. Settings of equal size, such as numbers of branches, have no
/// order, so no limit is stated for them.
std::vector<std::string> sentences(const Subject& subject, const std::vector<SizeAnswer>& answers) {
  if (answers.size() == 1) return sentences(subject, answers.front());
  const Recommendations together = list_of(answers, &SizeAnswer::together);
  const bool are_sizes = are_of_different_sizes(answers);
  const std::string_view noun = are_sizes ? "size" : "setting";
  const auto first_without = std::ranges::find_if_not(together, &Recommendation::pays);
  const std::span<const Recommendation> above(first_without, together.end());
  const bool are_mixed = !above.empty() && std::ranges::any_of(together, &Recommendation::pays);
  if (are_sizes && are_mixed && std::ranges::none_of(above, &Recommendation::pays)) {
    return {fmt::format("{} {} from {:.3g} MFLOP a layer down; above that {} {}.", subject.text,
                        subject.verb, answers[together.size() - above.size() - 1].layer_flops / 1e6,
                        subject.verb == "pay" ? "they" : "it",
                        where_it_pays(above, subject.verb, noun))};
  }
  if (const Recommendation* only = only_one_that_pays(together)) {
    return {at_setting(*only, use_text(*only, baseline_words)),
            elsewhere_text(together, subject.text, subject.verb, noun)};
  }
  return {fmt::format("{}{}{}.", verdict_text(together, subject.text, subject.verb, noun),
                      are_sizes && are_mixed ? ", without a clear limit" : "",
                      best_text(together, baseline_words))};
}

}  // namespace

Conclusion branch_answer(const std::vector<CaseOutcome>& outcomes,
                         const PossiblyFastest& possibly_fastest) {
  const auto [answers, not_compared] =
      answers_by_size(outcomes, possibly_fastest, [](const CaseSpec&) { return true; });
  if (answers.empty()) {
    return {.text =
                "Not decided: one stream and another technique, launched in the same way, were "
                "not both measured.",
            .is_answered = false};
  }
  std::vector<std::string> text = sentences(subject_of(outcomes), answers);
  text.insert(std::next(text.begin()), parallel_text(outcomes, possibly_fastest));
  text.push_back(not_compared_text(not_compared));
  return {joined_sentences(text), list_of(answers, &SizeAnswer::found)};
}

}  // namespace parbench
