// The fastest pipeline of each model, batch and image, in sentences.
#include "scenarios/pipeline/answer.h"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <tuple>
#include <variant>

#include "scenarios/framework/requests.h"

namespace parbench {
namespace {

/// What was found for one model, batch and image: only such cases compute the same.
struct Finding {
  const CaseOutcome* pipeline = nullptr;  // the fastest
  const CaseOutcome* whole = nullptr;     // model-parallel, the fastest
};

using StepSize = std::tuple<bool, std::int64_t, std::int64_t>;  // toy, batch, image

StepSize size_of_step(const CaseSpec& spec) {
  const Value* image = spec.parameters.find("image");
  return {spec.parameters.text("model") == "toy", spec.parameters.integer("batch"),
          image != nullptr ? std::get<std::int64_t>(*image) : 0};
}

std::string text_of(const StepSize& size) {
  const auto& [toy, batch, image] = size;
  return toy ? fmt::format("toy, batch {}", batch)
             : fmt::format("batch {}, image {}", batch, image);
}

void keep_fastest(const CaseOutcome*& best, const CaseOutcome& outcome) {
  if (best == nullptr || outcome.median_seconds < best->median_seconds) best = &outcome;
}

std::map<StepSize, Finding> findings(const std::vector<CaseOutcome>& outcomes) {
  std::map<StepSize, Finding> sizes;
  for (const CaseOutcome& outcome : outcomes) {
    Finding& found = sizes[size_of_step(outcome.spec)];
    if (outcome.spec.strategy == pipelined) keep_fastest(found.pipeline, outcome);
    if (outcome.spec.strategy == model_parallel) keep_fastest(found.whole, outcome);
  }
  return sizes;
}

std::string sentence(const Finding& found) {
  const CaseOutcome* best = found.pipeline;
  const CaseOutcome* whole = found.whole;
  if (best == nullptr) {
    if (whole == nullptr || !whole->speedup) return "No pipeline was measured, so no split is best";
    return fmt::format("Model-parallel without a pipeline: {} the single device",
                       ratio_text(*whole->speedup));
  }
  std::string split = to_string(*best->spec.parameters.find("split"));
  for (const Parameter& choice : best->spec.parameters.where(
           [](std::string_view name) { return name == "partition" || name == "schedule"; })) {
    if (!choice.implied) split += fmt::format(", {} {}", choice.name, to_string(choice.value));
  }
  const bool pays = !best->speedup || !best->speedup->below(1);
  std::string text = pays ? "Best split " + split
                          : "Splitting does not pay: the best split, " + split + ", reaches";
  if (best->speedup) {
    text += fmt::format("{} {} the single device", pays ? ":" : "", ratio_text(*best->speedup));
  }
  if (best->efficiency > 0) {
    text += fmt::format(", {:.0f}% of what these tasks allow", 100 * best->efficiency);
  }
  if (whole != nullptr && whole->speedup) {
    text += fmt::format("; one batch at a time {}", ratio_text(*whole->speedup));
  }
  return text;
}

}  // namespace

std::string pipeline_answer(const std::vector<CaseOutcome>& outcomes) {
  const std::map<StepSize, Finding> sizes = findings(outcomes);
  if (sizes.empty()) return sentence({}) + ".";
  if (sizes.size() == 1) return sentence(sizes.begin()->second) + ".";
  std::vector<std::string> sentences;
  for (const auto& [size, found] : sizes) {
    sentences.push_back(fmt::format("{}: {}.", text_of(size), sentence(found)));
  }
  return fmt::format("{}", fmt::join(sentences, " "));
}

}  // namespace parbench
