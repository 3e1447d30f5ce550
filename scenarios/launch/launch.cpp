// Axes, strategies and answer of scenario launch.
#include "scenarios/framework/built_in.h"
#include "scenarios/framework/requests.h"
#include "scenarios/models/model_choice.h"
#include "scenarios/training/question/question.h"
#include "scenarios/training/question/step_choice.h"

namespace parbench {
namespace {

constexpr const char* by_calls = "calls";
constexpr const char* as_graph = "graph";

constexpr const char* small_model = "gpt-tiny";

const std::vector<Strategy> launch_strategies = {
    {by_calls, "the host launches every call of the step"},
    {as_graph, "all calls captured once, and launched as one graph"}};

class Launch final : public TrainingQuestion {
 public:
  Launch()
      : TrainingQuestion({.name = "launch",
                          .question = "What does launching the calls of a training step cost, and "
                                      "does one graph of them all gain it back?",
                          .axes = axes_of_launch()}) {}

  [[nodiscard]] const std::vector<Strategy>& strategies() const override {
    return launch_strategies;
  }
  [[nodiscard]] std::string_view baseline() const override { return by_calls; }
  [[nodiscard]] int default_devices() const override { return 1; }
  [[nodiscard]] int min_devices() const override { return 1; }
  [[nodiscard]] bool runs_over_ranks() const override { return false; }

  [[nodiscard]] std::optional<CaseSpec> reference(const CaseSpec& spec) const override {
    if (spec.strategy == by_calls) return std::nullopt;
    return with_strategy(spec, by_calls);
  }
  [[nodiscard]] std::vector<Metric> metrics(const CaseSpec& /*spec*/) const override { return {}; }

 private:
  static std::vector<Axis> axes_of_launch() {
    Axis model = model_axis(small_model, {small_model, "resnet18"});
    model.quick = model.published;
    return training_axes(std::move(model), Role::batch,
                         {step_axis("optimizer"), step_axis("clip")});
  }

  [[nodiscard]] std::optional<Obstacle> divide(const Request& request, const Network& /*network*/,
                                               Parameters& /*parameters*/) const override {
    const bool is_fixed = request.spec.graph && request.spec.strategy == as_graph;
    return is_fixed ? std::optional(launch_is_fixed(request.spec)) : std::nullopt;
  }
  [[nodiscard]] StepLayout layout_of(const CaseSpec& /*spec*/) const override { return {}; }
  [[nodiscard]] SubmitMode submit_of(const CaseSpec& spec) const override {
    return spec.strategy == as_graph ? SubmitMode::graph : SubmitMode::one_thread;
  }
};

}  // namespace

std::unique_ptr<Scenario> make_launch() { return std::make_unique<Launch>(); }

}  // namespace parbench
