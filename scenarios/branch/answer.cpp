// Which technique to use at which size, and up to which size that pays.
#include "scenarios/branch/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <tuple>

#include "scenarios/answers/recommend.h"
#include "scenarios/answers/wording.h"
#include "scenarios/branch/branch_layers.h"
#include "scenarios/branch/strategies.h"

namespace parbench {
namespace {

constexpr std::string_view graph_of_one_stream = "graph of one stream";

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
    return fmt::format("{} {}", graph_of_one_stream, ratio_text(*one->speedup));
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

/// Answers for each size, of the branches that satisfy the predicate.
std::vector<SizeAnswer> answers_by_size(const std::vector<CaseOutcome>& outcomes,
                                        const PossiblyFastest& possibly_fastest,
                                        const std::function<bool(const CaseSpec&)>& predicate) {
  const Wording wording{
      .label = label_of,
      .simpler = [](const CaseSpec& a, const CaseSpec& b) { return complexity(a) < complexity(b); },
      .is_baseline = is_one_stream};
  const Outcomes branches = outcomes_where(outcomes, [&](const CaseOutcome& one) {
    return arrangement_of(one.spec.strategy) != "chain" && predicate(one.spec);
  });
  std::vector<SizeAnswer> answers;
  for (SameWork group : same_work(branches, {"batch", "channels", "image", "branches"})) {
    drop_graphs_without_measure(group.cases);
    if (group.cases.empty()) continue;
    const BranchSizes size = branch_sizes_of(group.cases.front()->spec);
    report::Recommendation found = recommend(group, wording, possibly_fastest);
    if (!found.gain) continue;
    found.remark = graph_alone(group);
    answers.push_back({size.flops() / static_cast<double>(size.branches), std::move(found)});
  }
  std::ranges::stable_sort(answers, {}, &SizeAnswer::layer_flops);
  return answers;
}

std::vector<report::Recommendation> recommendations_of(const std::vector<SizeAnswer>& answers) {
  std::vector<report::Recommendation> found;
  std::ranges::transform(answers, std::back_inserter(found), &SizeAnswer::found);
  return found;
}

/// " Streams and threads alone show no gain at any setting.": what runs in parallel, as opposed to
/// what computes all branches as one convolution. Empty where only one of the two was measured.
std::string parallel_text(const std::vector<CaseOutcome>& outcomes,
                          const PossiblyFastest& possibly_fastest) {
  const auto is_one = [](const CaseOutcome& one) { return is_one_convolution(one.spec); };
  if (std::ranges::none_of(outcomes, is_one)) return {};
  const auto parallel = recommendations_of(answers_by_size(
      outcomes, possibly_fastest, [](const CaseSpec& spec) { return !is_one_convolution(spec); }));
  if (parallel.empty()) return {};
  return fmt::format(" Streams and threads alone {}.", where_it_pays(parallel, "pay"));
}

std::string sentence(const report::Recommendation& found) {
  if (found.pays) {
    return fmt::format("Use {}: {} one stream.{}", found.gaining->label, ratio_text(*found.gain),
                       rivals_text(found));
  }
  // Where a graph of one stream may be the fastest, the gain over one stream is that of launching.
  const bool by_launch = found.candidates.front().label == graph_of_one_stream;
  return fmt::format("Running the branches together {}: {} reaches {} one stream.",
                     by_launch ? "shows no gain" : no_gain_text(found), found.gaining->label,
                     ratio_text(*found.gain));
}

std::string sentence(const std::vector<SizeAnswer>& answers) {
  const auto pays = [](const SizeAnswer& one) { return one.found.pays; };
  const auto first_without = std::ranges::find_if_not(answers, pays);
  if (first_without == answers.end()) return "Running the branches together pays at every size.";
  if (std::any_of(first_without, answers.end(), pays)) {
    return fmt::format(
        "Running the branches together pays at {} of {} sizes, without a clear limit.",
        std::ranges::count_if(answers, pays), answers.size());
  }
  if (first_without == answers.begin()) {
    return "Running the branches together shows no gain at any size.";
  }
  return fmt::format(
      "Running the branches together pays from {:.3g} MFLOP a layer down; above that it shows no "
      "gain.",
      std::prev(first_without)->layer_flops / 1e6);
}

}  // namespace

Conclusion branch_answer(const std::vector<CaseOutcome>& outcomes,
                         const PossiblyFastest& possibly_fastest) {
  const std::vector<SizeAnswer> answers =
      answers_by_size(outcomes, possibly_fastest, [](const CaseSpec&) { return true; });
  if (answers.empty()) {
    return {
        "No technique was measured beside one stream that is launched in the same way, so there "
        "is no answer."};
  }
  const std::string text =
      answers.size() == 1 ? sentence(answers.front().found) : sentence(answers);
  return {text + parallel_text(outcomes, possibly_fastest), recommendations_of(answers)};
}

}  // namespace parbench
