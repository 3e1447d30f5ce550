// A scenario, its cases and a clock that tests script: no device, no waiting.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/execution/plan_runner.h"
#include "bench/output/progress.h"
#include "reports/model/report.h"
#include "scenarios/framework/scenario.h"

namespace parbench::fake {

/// What a case of one strategy does.
struct Behaviour {
  /// Seconds of the n-th execution (0 is the verification run); may throw.
  std::function<double(int execution)> seconds = [](int) { return 1.0; };
  std::function<void()> on_prepare = [] {};
  SubmitMode submit = SubmitMode::one_thread;  // of its plan
  std::function<void()> on_capture = [] {};    // may throw
  std::vector<float> output = {1.0F, 2.0F};
  std::vector<float> perturbed_output = {};  // where Context::perturbation is 1; empty: the same
  std::optional<std::string> verdict = {};   // of Case::check
  std::vector<std::pair<std::string, std::string>> notes = {{"partition", "middle"}};
  std::vector<int> devices = {0};                    // of the context, on which its plan has lanes
  std::vector<double> task_seconds = {};             // of each task alone
  double cost_seconds = 0;                           // that a round of measuring them takes
  std::function<void()> on_check_recording = [] {};  // may throw
  /// Seconds of the executions of the n-th recording; may throw.
  std::function<double(int recording)> recorded_seconds = [](int) { return 1.0; };
};

/// Everything the session does to the fakes, in order: "prepare a", "reset a", "run a", "record a".
using Log = std::vector<std::string>;

class FakeScenario : public Scenario {
 public:
  std::map<std::string, Behaviour> behaviours;
  /// Strategy whose outputs the others must equal; empty: none.
  std::string reference_strategy;
  std::string baseline_strategy = "base";
  /// Whether the first is the baseline of the second; not set: the scenario's default.
  std::function<bool(const CaseSpec&, const CaseSpec&)> baseline_rule;
  Sampling published = {};
  std::function<std::vector<Metric>(const CaseSpec&)> metric_rule;  // not set: none
  std::function<void()> on_answer = [] {};
  bool has_answer = true;
  bool shows_all = false;                     // Scenario::plans_show_all
  bool checks_time = false;                   // within `prepare`, and logs "prepared a" after that
  mutable std::vector<CaseOutcome> answered;  // what the latest answer was drawn from
  mutable std::vector<std::string> fastest;   // strategies of those that may be
  Log log;
  std::vector<SubmitMode> submit_modes;  // with which the runners were made
  double clock = 0;

  [[nodiscard]] std::string_view name() const override { return "fake"; }
  [[nodiscard]] std::string_view question() const override { return "which?"; }
  [[nodiscard]] const std::vector<Strategy>& strategies() const override { return strategies_; }
  [[nodiscard]] const std::vector<Axis>& axes() const override { return axes_; }
  [[nodiscard]] std::string_view baseline() const override { return baseline_strategy; }
  [[nodiscard]] bool is_baseline_of(const CaseSpec& candidate,
                                    const CaseSpec& spec) const override {
    return baseline_rule ? baseline_rule(candidate, spec)
                         : Scenario::is_baseline_of(candidate, spec);
  }
  [[nodiscard]] Sampling published_sampling() const override { return published; }
  [[nodiscard]] bool plans_show_all() const override { return shows_all; }
  [[nodiscard]] std::unique_ptr<Case> prepare(const CaseSpec& spec,
                                              Context& context) const override;
  [[nodiscard]] std::optional<CaseSpec> reference(const CaseSpec& spec) const override;
  [[nodiscard]] std::vector<Metric> metrics(const CaseSpec& spec) const override {
    return metric_rule ? metric_rule(spec) : std::vector<Metric>{};
  }
  [[nodiscard]] Conclusion answer(const std::vector<CaseOutcome>& outcomes,
                                  const PossiblyFastest& possibly_fastest) const override;

  /// A spec of this scenario with one parameter, n.
  [[nodiscard]] static CaseSpec spec(const std::string& strategy, std::int64_t n = 1);

  /// Runs plans of this scenario's cases and moves the clock.
  [[nodiscard]] MakePlanRunner runners();
  [[nodiscard]] std::function<double()> now() {
    return [this] { return clock; };
  }
  [[nodiscard]] std::size_t count(const std::string& event) const;
  /// Whether a case of that name has been prepared and not been destroyed.
  [[nodiscard]] bool is_alive(const std::string& name) const;

 private:
  friend class FakeCase;
  friend class FakeRunner;
  struct Prepared {
    std::string name;
    Behaviour behaviour;
  };

  std::vector<Strategy> strategies_;
  std::vector<Axis> axes_;
  mutable std::map<const Plan*, Prepared> prepared_;
};

/// Names of the rows that there are so far.
[[nodiscard]] std::vector<std::string> row_names(const std::vector<report::CaseResult>& cases);

/// A fake device of each of these backends.
[[nodiscard]] std::vector<std::unique_ptr<Device>> make_devices(
    const std::vector<std::string>& backends);

[[nodiscard]] std::unique_ptr<Context> make_context(std::vector<std::unique_ptr<Device>> devices);

/// Keeps all updates and notes.
class RecordingProgress : public Progress {
 public:
  void update(const ProgressState& state) override {
    states.push_back(state);
    if (now) times.push_back(now());
  }
  void note(const std::string& line) override { notes.push_back(line); }
  void finish() override { finished = true; }

  std::vector<ProgressState> states;
  std::function<double()> now;  // not set: times are not kept
  std::vector<double> times;    // of the states
  std::vector<std::string> notes;
  bool finished = false;
};

}  // namespace parbench::fake
