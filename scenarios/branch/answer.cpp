// Recommends a technique for each size, and states up to which size it pays.
#include "scenarios/branch/strategies.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include "kernels/base/units/units.h"
#include "scenarios/answers/recommend.h"
#include "scenarios/answers/wording.h"
#include "scenarios/branch/branch_layers.h"

namespace parbench {
namespace {

constexpr std::string_view baseline_strategy = "one-stream";
constexpr std::string_view baseline_words = "one stream";
constexpr std::string_view graph_alone = "graph-one-stream";  // gains by graph launch only

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

/// Returns a key that sorts techniques by how much they require of the program and of the device.
std::vector<std::int64_t> technique_key(const CaseSpec& spec) {
  return {is_graph(spec.strategy) ? 1 : 0,
          rank_in({"one-stream", "merged", "grouped", "streams", "threads"},
                  arrangement_of(spec.strategy)),
          spec.parameters.integer_or("streams", 0)};
}

bool is_graph_alone(const CaseSpec& spec) { return spec.strategy == graph_alone; }

/// Removes the cases launched as graphs if graph-one-stream was not measured: without that case,
/// the gain of streams in a graph cannot be separated from the gain of graph launch.
void drop_graphs_without_measure(Outcomes& cases) {
  if (has_case(cases, is_graph_alone)) return;
  std::erase_if(cases, [](const CaseOutcome* one) { return is_graph(one->spec.strategy); });
}

/// Answer for one size of layer.
struct SizeAnswer {
  double layer_flops = 0;
  Recommendation found;
  Recommendation together;  // gain of running branches together, without the gain of graph launch
};

/// Returns `found` with the gain of running branches together, without the gain of graph launch.
/// `fastest`: the fastest case that runs branches together.
/// - A graph of one stream is recommended: gain of `fastest` over this graph.
/// - The baseline is recommended, and this graph has the largest gain: gain of `fastest` over the
///   baseline.
/// - Otherwise: the gain of `found`, which pays only if it exceeds the gain of this graph.
/// Without a measured graph of one stream, returns `found` unchanged.
Recommendation together_of(const SameWork& group, Recommendation found,
                           const CaseOutcome& fastest) {
  const CaseOutcome* alone = fastest_where(group.cases, is_graph_alone);
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

/// Returns the answers about the cases that satisfy the predicate and are not chains.
SizeAnswers answers_by_size(const Outcomes& outcomes, const PossiblyFastest& possibly_fastest,
                            const SpecPredicate& predicate) {
  const Wording wording{label_of, technique_key, baseline_strategy};
  const Outcomes branches = outcomes_where(outcomes, [&](const CaseSpec& spec) {
    return arrangement_of(spec.strategy) != "chain" && predicate(spec);
  });
  SizeAnswers made;
  for (SameWork group : same_work(branches, {"batch", "channels", "image", "branches"})) {
    drop_graphs_without_measure(group.cases);
    if (group.cases.empty()) continue;
    const BranchSizes size = branch_sizes_of(group.cases.front()->spec);
    Recommendation found = recommend(group, wording, possibly_fastest);
    const CaseOutcome* fastest = fastest_where(group.cases, [](const CaseSpec& spec) {
      return arrangement_of(spec.strategy) != baseline_strategy;
    });
    if (!found.gain || fastest == nullptr) {
      made.not_compared.push_back(found.setting);
      continue;
    }
    if (const CaseOutcome* alone = fastest_where(group.cases, is_graph_alone)) {
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
std::string parallel_subject(const Outcomes& outcomes) {
  const auto has = [&](std::string_view arrangement) {
    return has_case(outcomes, [&](const CaseSpec& spec) {
      return arrangement_of(spec.strategy) == arrangement;
    });
  };
  if (!has("threads")) return "Streams";
  return has("streams") ? "Streams and threads" : "Threads";
}

/// Returns the subject of the answer: the parallel techniques, if no measured case computes all
/// branches as one convolution; otherwise "Running the branches together".
Subject subject_of(const Outcomes& outcomes) {
  if (has_case(outcomes, is_one_convolution)) return {"Running the branches together"};
  return {parallel_subject(outcomes), "pay"};
}

/// `answers`: sorted by size of layer.
bool are_of_different_sizes(const std::vector<SizeAnswer>& answers) {
  return std::ranges::adjacent_find(answers, {}, &SizeAnswer::layer_flops) == answers.end();
}

/// Returns " Streams and threads alone show no gain at any size.": the result without the cases
/// that compute all branches as one convolution, with the ratio if there is a single size. Empty if
/// no such case or no parallel technique was measured.
std::string parallel_text(const Outcomes& outcomes, const PossiblyFastest& possibly_fastest) {
  if (!has_case(outcomes, is_one_convolution)) return {};
  const SizeAnswers of_parallel =
      answers_by_size(outcomes, possibly_fastest, std::not_fn(is_one_convolution));
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
  const std::string& used = found.candidates.front().label;
  const bool is_used = payoff_of(found) >= Payoff::may_pay;
  const bool names_graph = !is_used || found.remark.empty() || found.remark.starts_with(used);
  std::string details = names_graph ? "" : "; " + found.remark;
  std::vector<std::string> texts = verdict_sentences(std::span(&found, 1), subject, baseline_words,
                                                     [&](const auto&) { return details; });
  if (is_used && together.gain != found.gain && together.gain) {
    texts.insert(std::next(texts.begin()),
                 fmt::format("{} {} beside it: {}, {} as {}.", subject.text,
                             payoff_text(payoff_of(together), subject.verb),
                             together.gaining->label, speed_text(*together.gain, ""), used));
  }
  return texts;
}

/// `answers`: sorted by size of layer. Sizes may be equal if settings differ in another parameter,
/// such as the number of branches; then no limit of size is stated.
std::vector<std::string> sentences(Subject subject, const std::vector<SizeAnswer>& answers) {
  if (answers.size() == 1) return sentences(subject, answers.front());
  const Recommendations together = list_of(answers, &SizeAnswer::together);
  const bool are_sizes = are_of_different_sizes(answers);
  if (are_sizes) subject.noun = "size";
  const auto first_without = std::ranges::find_if_not(together, &Recommendation::pays);
  const std::span<const Recommendation> above(first_without, together.end());
  const bool are_mixed = !above.empty() && std::ranges::any_of(together, &Recommendation::pays);
  if (are_sizes && are_mixed && std::ranges::none_of(above, &Recommendation::pays)) {
    return {fmt::format("{} {} from {:.3g} MFLOP a layer down; above that {} {}.", subject.text,
                        subject.verb, answers[together.size() - above.size() - 1].layer_flops / 1e6,
                        subject.verb == "pay" ? "they" : "it",
                        where_it_pays(above, subject.verb, subject.noun))};
  }
  std::vector<std::string> texts = verdict_sentences(together, subject, baseline_words);
  if (are_sizes && are_mixed && only_one_that_pays(together) == nullptr) {
    texts.emplace_back("There is no clear limit of size.");
  }
  return texts;
}

}  // namespace

Conclusion branch_answer(const std::vector<CaseOutcome>& measured,
                         const PossiblyFastest& possibly_fastest) {
  const Outcomes outcomes = all_outcomes(measured);
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
