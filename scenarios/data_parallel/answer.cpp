// Sentences about the fastest strategy, about memory, and about weak scaling.
#include "scenarios/data_parallel/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <vector>

#include "kernels/base/units/units.h"
#include "scenarios/answers/best_strategy.h"
#include "scenarios/answers/device_words.h"
#include "scenarios/answers/recommend.h"
#include "scenarios/answers/wording.h"
#include "scenarios/data_parallel/strategies.h"
#include "scenarios/training/question/question.h"
#include "scenarios/training/question/step_choice.h"

namespace parbench {
namespace {

double fullest_device(const CaseOutcome& one) {
  return one.memory.empty() ? 0 : std::ranges::max(one.memory);
}

std::string memory_of(const CaseOutcome& one) { return format_bytes(fullest_device(one)); }

/// Returns "sharded with zero 2 and bucket 5".
std::string label_of(const CaseSpec& spec) {
  std::string label = spec.strategy;
  std::string_view separator = " with ";
  for (const Parameter& one : spec.parameters) {
    if (one.implied || std::ranges::find(tuning_parameters, one.name) == tuning_parameters.end()) {
      continue;
    }
    label += fmt::format("{}{} {}", separator, one.name, to_string(one.value));
    separator = " and ";
  }
  return label;
}

/// Returns the single-device case with which a case was compared, and all cases with the same
/// baseline.
std::vector<const CaseOutcome*> same_step(const std::vector<CaseOutcome>& outcomes,
                                          const CaseSpec& spec) {
  std::vector<const CaseOutcome*> same;
  for (const CaseOutcome& one : outcomes) {
    if (single_of(one.spec) == single_of(spec)) same.push_back(&one);
  }
  return same;
}

/// Returns "all-reduce holds 404 MiB on its fullest device, one device 380 MiB; least memory:
/// sharded with zero 3, 315 MiB a device in 1.20× the time." Savings below 10% are not mentioned.
std::string memory_text(const std::vector<CaseOutcome>& outcomes, const Recommendation& best) {
  const std::string& name = best.candidates.front().name;
  const auto found =
      std::ranges::find(outcomes, name, [](const auto& one) { return one.spec.name(); });
  if (found == outcomes.end() || fullest_device(*found) <= 0) return {};
  if (uses_all_cores(found->spec)) return {};  // its memory is that of one device
  const auto same = same_step(outcomes, found->spec);
  const CaseOutcome* single = nullptr;
  const CaseOutcome* least = nullptr;
  for (const CaseOutcome* one : same) {
    if (one->spec.strategy == single_device) {
      single = one;
    } else if (!uses_all_cores(one->spec) && fullest_device(*one) > 0 &&
               (least == nullptr || fullest_device(*one) < fullest_device(*least))) {
      least = one;
    }
  }
  std::string text = fmt::format("{} holds {}{}", best.candidates.front().label, memory_of(*found),
                                 single == &*found ? "" : " on its fullest device");
  if (single == &*found) text = with_capital(text);
  if (single != nullptr && single != &*found)
    text += fmt::format(", {} {}", one_device_text(outcomes, single_device), memory_of(*single));
  constexpr double noteworthy = 0.9;
  if (least != nullptr && fullest_device(*least) <= noteworthy * fullest_device(*found)) {
    text +=
        fmt::format("; least memory: {}, {} a device in {} the time", label_of(least->spec),
                    memory_of(*least), format_ratio(least->median_seconds / found->median_seconds));
  }
  return text + ".";
}

const Ratio* scaling_efficiency_of(const CaseOutcome& one) {
  const auto found = one.metrics.find(scaling_efficiency_metric);
  return found == one.metrics.end() ? nullptr : &found->second;
}

std::string model_of(const CaseOutcome& one) {
  const Value* model = one.spec.parameters.find("model");
  return model == nullptr ? std::string() : to_string(*model);
}

/// Returns the case with the best scaling for each model; omits models without an efficiency.
std::vector<const CaseOutcome*> best_scaling(const std::vector<CaseOutcome>& outcomes) {
  std::vector<const CaseOutcome*> best;
  for (const CaseOutcome& one : outcomes) {
    const Ratio* efficiency = scaling_efficiency_of(one);
    if (efficiency == nullptr) continue;
    const auto known = std::ranges::find(best, model_of(one),
                                         [](const CaseOutcome* other) { return model_of(*other); });
    if (known == best.end()) {
      best.push_back(&one);
    } else if (efficiency->value > scaling_efficiency_of(**known)->value) {
      *known = &one;
    }
  }
  return best;
}

/// Returns a sentence for each model: "With 20 samples on each of 2 devices, all-reduce reaches 93%
/// of linear scaling."; with several models it begins with "With model vgg16 and 20 samples …".
std::vector<std::string> weak_scaling_texts(const std::vector<CaseOutcome>& outcomes) {
  const std::vector<const CaseOutcome*> best = best_scaling(outcomes);
  std::vector<std::string> texts;
  for (const CaseOutcome* one : best) {
    const Parameters& parameters = one->spec.parameters;
    texts.push_back(
        fmt::format("With {}{} on each of {}, {} reaches {} of linear scaling.",
                    best.size() > 1 ? fmt::format("model {} and ", model_of(*one)) : "",
                    format_count(static_cast<std::size_t>(parameters.integer("batch")), "sample"),
                    format_count(static_cast<std::size_t>(parameters.integer("devices")), "device"),
                    label_of(one->spec), format_percent(*scaling_efficiency_of(*one))));
  }
  return texts;
}

bool divides(const CaseSpec& spec) {
  return spec.strategy != single_device && !uses_all_cores(spec);
}

/// A subset of the outcomes to which `PossiblyFastest` can still be applied.
class ChosenOutcomes {
 public:
  ChosenOutcomes(const std::vector<CaseOutcome>& outcomes, const auto& predicate) {
    for (const CaseOutcome& one : outcomes) {
      if (!predicate(one.spec)) continue;
      originals_.push_back(&one);
      chosen_.push_back(one);
    }
  }

  [[nodiscard]] const std::vector<CaseOutcome>& list() const { return chosen_; }
  /// Returns `possibly_fastest` for the subset.
  [[nodiscard]] PossiblyFastest among(const PossiblyFastest& possibly_fastest) const {
    return [this, &possibly_fastest](const std::vector<const CaseOutcome*>& some) {
      std::vector<const CaseOutcome*> known;
      for (const CaseOutcome* one : some) {
        known.push_back(originals_[static_cast<std::size_t>(one - chosen_.data())]);
      }
      std::vector<const CaseOutcome*> fastest;
      for (const CaseOutcome* one : possibly_fastest(known)) {
        const auto found = std::ranges::find(originals_, one);
        fastest.push_back(&chosen_[static_cast<std::size_t>(found - originals_.begin())]);
      }
      return fastest;
    };
  }

 private:
  std::vector<const CaseOutcome*> originals_;
  std::vector<CaseOutcome> chosen_;
};

}  // namespace

bool is_undivided(const CaseSpec& spec) {
  if (!divides(spec)) return false;
  const auto devices = static_cast<int>(spec.parameters.integer("devices"));
  return micro_batches_of_replicas(spec.parameters, devices).size() == 1;
}

Conclusion answer_of_data_parallel(const Scenario& scenario,
                                   const std::vector<CaseOutcome>& outcomes,
                                   const PossiblyFastest& possibly_fastest) {
  const ChosenOutcomes weak_cases(
      outcomes, [](const CaseSpec& spec) { return scales_weakly(spec.parameters); });
  const bool divides_one_batch = std::ranges::any_of(outcomes, [](const CaseOutcome& one) {
    return divides(one.spec) && !scales_weakly(one.spec.parameters);
  });
  const ChosenOutcomes strong(outcomes, [&](const CaseSpec& spec) {
    if (uses_all_cores(spec) && !weak_cases.list().empty() && !divides_one_batch) return false;
    return !scales_weakly(spec.parameters) && !is_undivided(spec);
  });
  const std::vector<std::string> weak = weak_scaling_texts(weak_cases.list());
  Conclusion made = best_strategy(scenario, strong.list(), strong.among(possibly_fastest));
  if (!made.recommendations.empty()) {
    std::vector<std::string> texts{made.text,
                                   memory_text(strong.list(), best_of(made.recommendations))};
    std::ranges::copy(weak, std::back_inserter(texts));
    made.text = joined_sentences(texts);
  } else if (!weak.empty()) {
    made.text = joined_sentences(weak);
    made.is_answered = true;
  } else if (std::ranges::any_of(outcomes,
                                 [](const CaseOutcome& one) { return is_undivided(one.spec); })) {
    made.text = "The batch is a single sample: one device has it, and there is nothing to combine.";
  }
  return made;
}

}  // namespace parbench
