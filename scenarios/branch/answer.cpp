// Which technique to use at which size, and up to which size that pays.
#include "scenarios/branch/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include "reports/units/units.h"
#include "scenarios/answers/recommend.h"
#include "scenarios/answers/wording.h"
#include "scenarios/branch/branch_layers.h"
#include "scenarios/branch/strategies.h"

namespace parbench {
namespace {

/// "2 streams", "graph of 2 streams", "merged".
std::string label_of(const CaseSpec& spec) {
  const std::string_view arrangement = arrangement_of(spec.strategy);
  std::string label = spec.strategy;
  if (arrangement == "one-stream") label = "one stream";
  if (arrangement == "streams") {
    label = fmt::format("{} streams", spec.parameters.integer("streams"));
  }
  return is_graph(spec.strategy) ? "graph of " + label : label;
}

/// Ways that need less of the program and of the device come first.
auto complexity(const CaseSpec& spec) {
  constexpr std::array<std::string_view, 5> arrangements{"one-stream", "merged", "grouped",
                                                         "streams", "threads"};
  const Value* streams = spec.parameters.find("streams");
  return std::tuple(
      is_graph(spec.strategy),
      std::ranges::find(arrangements, arrangement_of(spec.strategy)) - arrangements.begin(),
      streams == nullptr ? Value() : *streams);
}

bool is_one_stream(const CaseSpec& spec) { return arrangement_of(spec.strategy) == "one-stream"; }

/// Without a graph of one stream, nothing says what the streams of a graph gain.
void drop_graphs_without_measure(Outcomes& cases) {
  const bool known = std::ranges::any_of(
      cases, [](const CaseOutcome* one) { return one->spec.strategy == "graph-one-stream"; });
  if (known) return;
  std::erase_if(cases, [](const CaseOutcome* one) { return is_graph(one->spec.strategy); });
}

/// "graph of one stream 1.25× (1.20–1.30)"
std::string graph_alone(const SameWork& group) {
  for (const CaseOutcome* one : group.cases) {
    if (one->spec.strategy != "graph-one-stream" || !one->speedup) continue;
    return fmt::format("{} {}", label_of(one->spec), report::format_ratio(*one->speedup));
  }
  return {};
}

/// One size of layer.
struct SizeAnswer {
  double layer_flops = 0;
  report::Recommendation found;
};

bool is_one_convolution(const CaseSpec& spec) {
  return arrangement_of(spec.strategy) == "merged" || arrangement_of(spec.strategy) == "grouped";
}

/// Answers for each size, by size, and the settings without one.
struct SizeAnswers {
  std::vector<SizeAnswer> answers;
  std::vector<std::string> not_compared;
};

/// Of the branches that satisfy the predicate.
SizeAnswers answers_by_size(const std::vector<CaseOutcome>& outcomes,
                            const PossiblyFastest& possibly_fastest,
                            const std::function<bool(const CaseSpec&)>& predicate) {
  const Wording wording{
      .label = label_of,
      .simpler = [](const CaseSpec& a, const CaseSpec& b) { return complexity(a) < complexity(b); },
      .is_baseline = is_one_stream};
  const Outcomes branches = outcomes_where(outcomes, [&](const CaseOutcome& one) {
    return arrangement_of(one.spec.strategy) != "chain" && predicate(one.spec);
  });
  SizeAnswers made;
  for (SameWork group : same_work(branches, {"batch", "channels", "image", "branches"})) {
    drop_graphs_without_measure(group.cases);
    if (group.cases.empty()) continue;
    const BranchSizes size = branch_sizes_of(group.cases.front()->spec);
    report::Recommendation found = recommend(group, wording, possibly_fastest);
    if (!found.gain) {
      made.not_compared.push_back(found.setting);
      continue;
    }
    found.remark = graph_alone(group);
    made.answers.push_back({size.flops() / static_cast<double>(size.branches), std::move(found)});
  }
  std::ranges::stable_sort(made.answers, {}, &SizeAnswer::layer_flops);
  return made;
}

std::vector<report::Recommendation> recommendations_of(const std::vector<SizeAnswer>& answers) {
  std::vector<report::Recommendation> found;
  std::ranges::transform(answers, std::back_inserter(found), &SizeAnswer::found);
  return found;
}

/// "Streams", "Threads", "Streams and threads": those that were measured.
std::string parallel_subject(const std::vector<CaseOutcome>& outcomes) {
  const auto has = [&](std::string_view arrangement) {
    return std::ranges::any_of(outcomes, [&](const CaseOutcome& one) {
      return arrangement_of(one.spec.strategy) == arrangement;
    });
  };
  if (!has("threads")) return "Streams";
  return has("streams") ? "Streams and threads" : "Threads";
}

/// What a sentence speaks of, and whether it takes a verb in the plural.
struct Subject {
  std::string text;
  std::string_view verb;
};

/// Without those that compute all branches as one convolution, only what runs in parallel.
Subject subject_of(const std::vector<CaseOutcome>& outcomes) {
  const bool has_one = std::ranges::any_of(
      outcomes, [](const CaseOutcome& one) { return is_one_convolution(one.spec); });
  if (has_one) return {"Running the branches together", "pays"};
  return {parallel_subject(outcomes), "pay"};
}

/// `answers` are by the size of a layer.
bool are_of_different_sizes(const std::vector<SizeAnswer>& answers) {
  return std::ranges::adjacent_find(answers, {}, &SizeAnswer::layer_flops) == answers.end();
}

/// " Streams and threads alone show no gain at any size.": what runs in parallel, as opposed to
/// what computes all branches as one convolution; of a single size with the figure that shows it.
/// Empty where only one of the two was measured.
std::string parallel_text(const std::vector<CaseOutcome>& outcomes,
                          const PossiblyFastest& possibly_fastest) {
  const auto is_one = [](const CaseOutcome& one) { return is_one_convolution(one.spec); };
  if (std::ranges::none_of(outcomes, is_one)) return {};
  const SizeAnswers of_parallel = answers_by_size(
      outcomes, possibly_fastest, [](const CaseSpec& spec) { return !is_one_convolution(spec); });
  const auto parallel = recommendations_of(of_parallel.answers);
  if (parallel.empty()) return {};
  const bool are_sizes = are_of_different_sizes(of_parallel.answers);
  const std::string figure =
      parallel.size() > 1
          ? std::string()
          : fmt::format(": {} with {}", report::format_ratio(*parallel.front().gain),
                        parallel.front().gaining->label);
  return fmt::format(" {} alone {}{}.", parallel_subject(outcomes),
                     where_it_pays(parallel, "pay", are_sizes ? "size" : "setting"), figure);
}

/// For a sentence within another one.
std::string with_small_letter(std::string text) {
  text.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(text.front())));
  return text;
}

std::string sentence(const Subject& subject, const report::Recommendation& found) {
  const std::string gain = report::format_ratio(*found.gain);
  if (found.pays) {
    return fmt::format("Use {}: {} one stream.{}", found.gaining->label, gain, rivals_text(found));
  }
  const report::LabelledCase& used = found.candidates.front();
  const std::string verdict =
      fmt::format("{} {}", subject.text, payoff_text(payoff_of(found), subject.verb));
  const bool is_graph_as_fast = used.name != found.gain->baseline;
  if (is_graph_as_fast) {
    return fmt::format("{}: {} one stream with {}, and {} may be as fast.", verdict, gain,
                       found.gaining->label, used.label);
  }
  return fmt::format("Use {}: {}, nearest to paying: {} with {}.", used.label,
                     with_small_letter(verdict), gain, found.gaining->label);
}

/// `answers` are by the size of a layer. Settings of one size, such as numbers of branches, have no
/// order, so that there is no limit between them.
std::string sentence(const Subject& subject, const std::vector<SizeAnswer>& answers) {
  const std::vector<report::Recommendation> found = recommendations_of(answers);
  const bool are_sizes = are_of_different_sizes(answers);
  const auto first_without = std::ranges::find_if_not(found, &report::Recommendation::pays);
  const std::span<const report::Recommendation> above(first_without, found.end());
  const bool are_mixed =
      !above.empty() && std::ranges::any_of(found, &report::Recommendation::pays);
  const bool is_limit =
      are_sizes && are_mixed && std::ranges::none_of(above, &report::Recommendation::pays);
  if (is_limit) {
    return fmt::format("{} {} from {:.3g} MFLOP a layer down; above that {} {}.", subject.text,
                       subject.verb, answers[found.size() - above.size() - 1].layer_flops / 1e6,
                       subject.verb == "pay" ? "they" : "it",
                       where_it_pays(above, subject.verb, "size"));
  }
  if (const report::Recommendation* only = only_one_that_pays(found)) {
    return at_setting(*only, sentence(subject, *only)) +
           elsewhere_text(found, subject.text, subject.verb, are_sizes ? "size" : "setting");
  }
  return fmt::format("{} {}{}{}.", subject.text,
                     where_it_pays(found, subject.verb, are_sizes ? "size" : "setting"),
                     are_sizes && are_mixed ? ", without a clear limit" : "",
                     instead_text(best_of(found)));
}

}  // namespace

Conclusion branch_answer(const std::vector<CaseOutcome>& outcomes,
                         const PossiblyFastest& possibly_fastest) {
  const auto [answers, not_compared] =
      answers_by_size(outcomes, possibly_fastest, [](const CaseSpec&) { return true; });
  if (answers.empty()) {
    return {.text =
                "No technique was measured beside one stream that is launched in the same way, so "
                "there is no answer.",
            .is_answered = false};
  }
  const Subject subject = subject_of(outcomes);
  const std::string text =
      answers.size() == 1
          ? at_setting(answers.front().found, sentence(subject, answers.front().found))
          : sentence(subject, answers);
  return {joined_sentences(
              {text, parallel_text(outcomes, possibly_fastest), not_compared_text(not_compared)}),
          recommendations_of(answers)};
}

}  // namespace parbench
