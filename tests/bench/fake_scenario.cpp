// The scripted scenario and its runner.
#include "tests/bench/fake_scenario.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "bench/execution/interrupt.h"
#include "bench/run/benchmark_rows.h"
#include "tests/scenarios/fake_device.h"

namespace parbench::fake {

class FakeCase : public Case {
 public:
  FakeCase(FakeScenario& scenario, std::string name, Behaviour behaviour, Context& context)
      : scenario_(scenario), name_(std::move(name)), behaviour_(std::move(behaviour)) {
    if (context.perturbation() == 1 && !behaviour_.perturbed_output.empty()) {
      behaviour_.output = behaviour_.perturbed_output;
    }
    scenario_.prepared_[&plan_] = {name_, behaviour_};
    for (const int device : behaviour_.devices) {
      plan_.add_lane("compute", context.stream(device, StreamKind::compute));
    }
    for (std::size_t i = 0; i < behaviour_.task_seconds.size(); ++i) {
      plan_.add({.name = "task", .lanes = {0}}, {});
    }
    plan_.submit_as(behaviour_.submit);
  }
  ~FakeCase() override { scenario_.prepared_.erase(&plan_); }
  FakeCase(const FakeCase&) = delete;
  FakeCase& operator=(const FakeCase&) = delete;

  [[nodiscard]] const Plan& plan() const override { return plan_; }
  void reset() override { scenario_.log.push_back("reset " + name_); }
  void forget() override { scenario_.log.push_back("forget " + name_); }
  std::vector<Output> outputs() override {
    return {{"y", [this] { return behaviour_.output; }}};
  }
  std::optional<std::string> check() override { return behaviour_.verdict; }
  [[nodiscard]] std::string checked() const override { return "naive computation"; }
  [[nodiscard]] Amount amount() const override { return {10, "images"}; }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> notes() const override {
    return behaviour_.notes;
  }

 private:
  FakeScenario& scenario_;
  std::string name_;
  Behaviour behaviour_;
  Plan plan_;  // a task for each of the costs
};

class FakeRunner : public PlanRunner {
 public:
  FakeRunner(FakeScenario& scenario, const Plan& plan)
      : scenario_(scenario), prepared_(scenario.prepared_.at(&plan)) {}

  void prepare_graph() override {
    scenario_.log.push_back("capture " + prepared_.name);
    prepared_.behaviour.on_capture();
  }

  Timing run() override {
    scenario_.log.push_back("run " + prepared_.name);
    const double seconds = prepared_.behaviour.seconds(executions_++);
    scenario_.clock += seconds;
    return {seconds, seconds};
  }

  std::vector<double> measure_tasks(const std::function<bool()>& interrupted) override {
    scenario_.log.push_back("costs " + prepared_.name);
    scenario_.clock += prepared_.behaviour.cost_seconds;
    if (interrupted()) throw Interrupted();
    return prepared_.behaviour.task_seconds;
  }

  void check_recording() const override { prepared_.behaviour.on_check_recording(); }

  /// A single call that takes all the time.
  Recording record(int executions, double /*typical_seconds*/) override {
    scenario_.log.push_back("record " + prepared_.name);
    const double seconds = prepared_.behaviour.recorded_seconds(recordings_++);
    scenario_.clock += executions * seconds;
    const auto end = std::llround(seconds * 1e9);
    Recording recording;
    recording.timeline.graph.add_lane({.name = "lane", .device = "fake:0"});
    recording.timeline.graph.add_task({.name = "task", .lanes = {0}});
    recording.timeline.calls.push_back({.name = "call", .enqueued = {0, 0}, .ran = {0, end}});
    recording.timeline.end = end;
    recording.seconds.assign(static_cast<std::size_t>(executions), seconds);
    return recording;
  }

 private:
  FakeScenario& scenario_;
  FakeScenario::Prepared prepared_;
  int executions_ = 0;
  int recordings_ = 0;
};

std::unique_ptr<Case> FakeScenario::prepare(const CaseSpec& spec, Context& context) const {
  // The scenario is const to the session; the log and the clock are the test's.
  auto& self = const_cast<FakeScenario&>(*this);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  self.log.push_back("prepare " + spec.name());
  const Behaviour& behaviour = behaviours.at(spec.strategy);
  behaviour.on_prepare();
  if (checks_time) {
    context.check_time();
    self.log.push_back("prepared " + spec.name());
  }
  return std::make_unique<FakeCase>(self, spec.name(), behaviour, context);
}

std::optional<CaseSpec> FakeScenario::reference(const CaseSpec& spec) const {
  if (reference_strategy.empty()) return std::nullopt;
  CaseSpec reference = spec;
  reference.strategy = reference_strategy;
  return reference;
}

Conclusion FakeScenario::answer(const std::vector<CaseOutcome>& outcomes,
                                const PossiblyFastest& possibly_fastest) const {
  on_answer();
  answered = outcomes;
  std::vector<const CaseOutcome*> all;
  for (const CaseOutcome& outcome : outcomes) all.push_back(&outcome);
  fastest.clear();
  for (const CaseOutcome* one : possibly_fastest(all)) fastest.push_back(one->spec.strategy);
  std::string text;
  for (const CaseOutcome& outcome : outcomes) text += outcome.spec.strategy + " ";
  return {.text = text, .is_answered = has_answer};
}

CaseSpec FakeScenario::spec(const std::string& strategy, std::int64_t n) {
  CaseSpec spec;
  spec.scenario = "fake";
  spec.strategy = strategy;
  spec.parameters.set("n", n);
  return spec;
}

MakePlanRunner FakeScenario::runners() {
  return [this](const Plan& plan, SubmitMode mode) {
    submit_modes.push_back(mode);
    return std::make_unique<FakeRunner>(*this, plan);
  };
}

std::size_t FakeScenario::count(const std::string& event) const {
  return static_cast<std::size_t>(std::ranges::count(log, event));
}

bool FakeScenario::is_alive(const std::string& name) const {
  return std::ranges::any_of(prepared_,
                             [&](const auto& entry) { return entry.second.name == name; });
}

std::vector<std::string> row_names(const std::vector<report::CaseResult>& cases) {
  std::stringstream text;
  write_rows(text, cases, RowFormat::json);
  std::vector<std::string> names;
  const auto file = nlohmann::json::parse(text);
  for (const auto& row : file.at("benchmarks")) {
    if (row.at("run_type") == "iteration") names.push_back(row.at("name").get<std::string>());
  }
  return names;
}

std::vector<std::unique_ptr<Device>> make_devices(const std::vector<std::string>& backends) {
  std::vector<std::unique_ptr<Device>> devices;
  for (const std::string& backend : backends) {
    devices.push_back(std::make_unique<test::FakeDevice>(0, 1, std::vector<int>{}, backend));
  }
  return devices;
}

std::unique_ptr<Context> make_context(std::vector<std::unique_ptr<Device>> devices) {
  return std::make_unique<Context>(std::move(devices), Context::Options{});
}

}  // namespace parbench::fake
