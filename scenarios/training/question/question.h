// Base of scenarios about training steps: how to divide one over devices, or to launch it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/answers/best_strategy.h"
#include "scenarios/framework/requests.h"
#include "scenarios/framework/scenario.h"
#include "scenarios/models/models.h"
#include "scenarios/training/step/layout.h"

namespace parbench {

/// The baseline strategy: the whole step on the first device.
inline constexpr std::string_view single_device = "single";
/// Strategy of references for models whose results depend on how the batch is divided: the same
/// micro-batches one after the other. Users cannot select it.
inline constexpr std::string_view in_turn_strategy = "in-turn";

inline constexpr const char* scaling_efficiency = "scaling efficiency";

/// Base of scenarios about training steps. A derived class defines the axes, the layout of
/// each case, and words of the answer or an answer of its own; cases and references follow from
/// these. Parameters with the same name mean the same in all these scenarios: "model" and its
/// sizes, "batch", "split" or "accumulate", "schedule", "partition", "bucket", and the variants of
/// a step ("optimizer", "recompute", "clip").
class TrainingQuestion : public Scenario {
 public:
  struct Definition {
    std::string_view name;
    std::string_view question;
    std::string whole = {};                 // work of one device: "the whole batch"
    std::vector<Strategy> strategies = {};  // strategies that divide this work
    std::vector<Axis> axes = {};  // "model" is required; its first quick value is the default
    StrategyWords words = {};     // words of the answer
  };
  explicit TrainingQuestion(Definition definition);

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::string_view question() const override { return question_; }
  [[nodiscard]] const std::vector<Strategy>& strategies() const override { return strategies_; }
  [[nodiscard]] const std::vector<Axis>& axes() const override { return axes_; }
  [[nodiscard]] std::string_view baseline() const override { return single_device; }
  [[nodiscard]] int default_devices() const override { return 2; }
  [[nodiscard]] int min_devices() const override { return 2; }
  [[nodiscard]] bool runs_over_ranks() const override { return true; }
  [[nodiscard]] bool plans_show_all() const override { return true; }
  /// Returns notes on ONNX files whose export may have folded normalisations into convolutions.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> model_notes(
      const std::vector<CaseSpec>& specs) const override;

  [[nodiscard]] Resolution resolve(const Request& request) const override;
  [[nodiscard]] std::unique_ptr<Case> prepare(const CaseSpec& spec,
                                              Context& context) const override;
  /// Returns the case of the whole batch on one device without recomputation; nothing for this case
  /// itself. For a divided case for which `compares_parts` returns true, returns the case of its
  /// micro-batches in turn instead.
  [[nodiscard]] std::optional<CaseSpec> reference(const CaseSpec& spec) const override;
  /// Returns the scaling efficiency, which is 1 for linear scaling: the speedup over one device
  /// divided by the number of devices; with weak scaling, the time of one device divided by the
  /// time of all devices, each with a batch. None for the baseline, and if only one of several
  /// replicas has samples.
  [[nodiscard]] std::vector<Metric> metrics(const CaseSpec& spec) const override;
  /// Returns the best strategy, what recomputation and schedules cost or save in time and memory,
  /// and exposed communication, idle time and memory (`with_time_shares`).
  [[nodiscard]] Conclusion answer(const std::vector<CaseOutcome>& outcomes,
                                  const PossiblyFastest& possibly_fastest) const override;

 protected:
  [[nodiscard]] const Axis& axis(std::string_view name) const;

  /// Returns the default number of samples of a step.
  [[nodiscard]] virtual std::int64_t usual_batch(const Request& request, const Model& model) const;
  /// Adds the parameters of a strategy that divides the step; returns why the step cannot be
  /// divided as requested. Throws UsageError for values that are invalid in every request.
  [[nodiscard]] virtual std::optional<Obstacle> divide(const Request& request,
                                                       const Network& network,
                                                       Parameters& parameters) const = 0;
  /// Returns the grid of devices, the exchange (without the bucket size), and `rest` if there are
  /// shards. The base sets the other fields from the parameters.
  [[nodiscard]] virtual StepLayout layout_of(const CaseSpec& spec) const = 0;
  /// Returns how the host submits the step, unless `--graph` captures it.
  [[nodiscard]] virtual SubmitMode submit_of(const CaseSpec& /*spec*/) const {
    return SubmitMode::one_thread;
  }
  /// Returns whether the result of a divided case depends on its micro-batches, so that its
  /// reference must have the same ones.
  [[nodiscard]] virtual bool compares_parts(const CaseSpec& spec) const;

 private:
  [[nodiscard]] Parameters parameters_of_step(const Request& request) const;
  [[nodiscard]] std::optional<Obstacle> obstacle_of_samples(const Request& request,
                                                            const CaseSpec& spec,
                                                            const Network& network) const;
  [[nodiscard]] StepLayout whole_layout(const CaseSpec& spec, const Network& network,
                                        Context& context) const;

  std::string_view name_;
  std::string_view question_;
  std::vector<Strategy> strategies_;
  std::vector<Axis> axes_;
  StrategyWords words_;
};

/// Returns the case of strategy `single_device` with the same model, "batch" and variant of the
/// step.
[[nodiscard]] CaseSpec single_of(const CaseSpec& spec);

}  // namespace parbench
