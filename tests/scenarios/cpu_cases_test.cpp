// All strategies on the devices of this machine, CPU devices and parts of a GPU: real kernels, real
// streams, verified results.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "bench/execution/executor.h"
#include "bench/execution/submit_mode.h"
#include "bench/execution/verification.h"
#include "kernels/base/error.h"
#include "scenarios/framework/all_cores.h"
#include "tests/scenarios/device_cases.h"
#include "tests/scenarios/plan_checks.h"
#include "tests/support/cpu_devices.h"
#include "tests/support/machine.h"
#include "tests/support/other_device.h"
#include "tests/support/required_devices.h"

namespace parbench::test {
namespace {

/// Opens the devices of a case; none, with the reason in `why`, where this machine lacks them.
std::vector<std::unique_ptr<Device>> devices_of(const DeviceCase& one, const Scenario& scenario,
                                                std::string& why) {
  if (one.on_gpu) {
    const char* both = one.mixed ? "cpu:0,cuda:0" : "cuda:0/0,cuda:0/1";
    try {
      return machine().open(one.devices == 1 ? "cuda:0" : both);
    } catch (const Error& error) {
      why = error.what();
      return {};
    }
  }
  if (machine().find("cpu")->device_limit() < one.devices) {
    why = fmt::format("needs {} CPU devices", one.devices);
    return {};
  }
  if (one.mixed) return mixed_devices(one.devices);
  return cpu_devices(one.devices, machine(), scenario.wants_copy_core());
}

/// The device of strategy all-cores; null: the devices of the case have none.
std::unique_ptr<Device> whole_of(const DeviceCase& one) {
  if (one.mixed || one.devices == 1) return nullptr;
  return machine().open_whole(one.on_gpu ? "cuda:0/0,cuda:0/1" : "cpu:0,cpu:1");
}

/// A part of a GPU is used by one host thread at a time.
bool can_submit(const Plan& plan) {
  const auto takes_one = [](const Stream* stream) {
    return stream->device().one_launching_thread();
  };
  return plan.graph().submit != SubmitMode::thread_per_lane ||
         std::ranges::none_of(plan.streams(), takes_one);
}

/// A scenario on the devices of its case.
class DeviceCases : public testing::TestWithParam<DeviceCase> {
 protected:
  void SetUp() override {
    const DeviceCase& one = GetParam();
    scenario_ = one.make();
    std::string why;
    auto devices = devices_of(one, *scenario_, why);
    if (devices.empty()) SKIP_WITHOUT_DEVICES(one.on_gpu ? "cuda:0" : "cpu:0", why);
    context_ =
        std::make_unique<Context>(std::move(devices), Context::Options{.seed = 3}, whole_of(one));
  }

  [[nodiscard]] CaseSpec spec(const Strategy& strategy) const {
    const DeviceCase& one = GetParam();
    CaseSpec spec = spec_of(*scenario_, strategy.name, one.values, one.devices, !one.mixed);
    spec.dtype = one.dtype;
    return spec;
  }

  [[nodiscard]] std::unique_ptr<Case> ready(const CaseSpec& spec) const {
    return ready_case(*scenario_, spec, *context_);
  }

  [[nodiscard]] const Scenario& scenario() const { return *scenario_; }

  /// How much roundings change the outputs of a case.
  [[nodiscard]] Sensitivities sensitivities_of(const CaseSpec& spec,
                                               const OutputValues& outputs) const {
    Sensitivities found;
    if (!is_perturbed(spec)) return found;
    Context& context = context_of(spec, *context_);
    for (const int perturbation : {1, -1, 2, -2}) {
      context.set_perturbation(perturbation);
      const auto changed = ready(spec);
      Executor(changed->plan()).run();
      add_changes(found, *changed, outputs);
    }
    context.set_perturbation(0);
    return found;
  }

  [[nodiscard]] std::vector<Strategy> strategies() const {
    std::vector<Strategy> chosen = scenario_->strategies();
    const std::vector<std::string>& only = GetParam().strategies;
    std::erase_if(chosen, [&](const Strategy& one) {
      if (one.name == all_cores && context_->whole() == nullptr) return true;
      return !only.empty() && std::ranges::find(only, one.name) == only.end();
    });
    return chosen;
  }

 private:
  std::unique_ptr<Scenario> scenario_;
  std::unique_ptr<Context> context_;
};

OutputValues run_and_read(Case& subject) {
  Executor executor(subject.plan());
  executor.run();
  return read_outputs(subject);
}

/// The same of the second replay of a graph, with nothing left over from before it.
OutputValues replay_and_read(Case& subject, SubmitMode mode) {
  Executor executor(subject.plan(), mode);
  executor.prepare_graph();
  executor.run();
  subject.forget();
  subject.reset();
  EXPECT_TRUE(subject.check()) << "what has not run passes for right";
  executor.run();
  return read_outputs(subject);
}

TEST_P(DeviceCases, AreRight) {
  for (const Strategy& strategy : strategies()) {
    SCOPED_TRACE(strategy.name);
    const CaseSpec wanted = spec(strategy);
    std::unique_ptr<Case> subject;
    try {
      subject = ready(wanted);
    } catch (const Unsupported& reason) {
      ASSERT_NE(wanted.dtype, DType::f32) << reason.what();
      continue;
    }
    if (!can_submit(subject->plan())) continue;
    EXPECT_TRUE(subject->check()) << "what has not run passes for right";
    const OutputValues got = run_and_read(*subject);
    EXPECT_EQ(subject->check(), std::nullopt);
    EXPECT_NE(subject->checked(), "");
    if (const auto reference = reference_of(scenario(), wanted)) {
      const auto other = ready(*reference);
      const OutputValues want = run_and_read(*other);
      const Tolerance tolerance = tolerance_of_case(wanted, *subject);
      report::Verification verdict = compare(as_outputs(got), want, tolerance);
      if (!verdict.passed)
        verdict = compare(as_outputs(got), want, tolerance, sensitivities_of(*reference, want));
      EXPECT_TRUE(verdict.passed) << verdict.detail;
    }
  }
}

TEST_P(DeviceCases, GiveTheSameBitsAsGraphs) {
  for (const Strategy& strategy : strategies()) {
    SCOPED_TRACE(strategy.name);
    CaseSpec wanted = spec(strategy);
    try {
      const auto subject = ready(wanted);
      if (subject->plan().graph().submit == SubmitMode::thread_per_lane) continue;  // not captured
      wanted.graph = true;
      const OutputValues replayed =
          replay_and_read(*subject, submit_mode_of(wanted, subject->plan()));
      EXPECT_EQ(subject->check(), std::nullopt);
      subject->forget();
      subject->reset();
      EXPECT_EQ(replayed, run_and_read(*subject));
    } catch (const Unsupported& reason) {
      EXPECT_TRUE(GetParam().mixed || wanted.dtype != DType::f32) << reason.what();
    }
  }
}

/// A case's outputs from inputs that are changed as roundings change values.
OutputValues outputs_of(const DeviceCase& one, int perturbation) {
  const auto scenario = one.make();
  Context context(cpu_devices(one.devices), Context::Options{.seed = 3});
  context.set_perturbation(perturbation);
  const CaseSpec spec =
      spec_of(*scenario, std::string(scenario->baseline()), one.values, one.devices, true);
  return run_and_read(*ready_case(*scenario, spec, context));
}

TEST(ForwardPasses, ShowHowFarTheirLayersSpreadRoundings) {
  for (const DeviceCase& one : device_cases()) {
    if (one.name != "graph_network" && one.name != "inter_op") continue;
    if (machine().find("cpu")->device_limit() < one.devices) continue;
    SCOPED_TRACE(one.name);
    const OutputValues unchanged = outputs_of(one, 0);
    const OutputValues changed = outputs_of(one, 1);
    EXPECT_NE(changed, unchanged);
    EXPECT_NE(changed, outputs_of(one, -1));
    EXPECT_TRUE(compare(as_outputs(changed), unchanged, {.relative = 0.1}).passed);
  }
}

/// The same on a GPU, where this build has a backend for GPUs.
std::vector<DeviceCase> gpu_cases() {
  if (machine().find("cuda") == nullptr) return {};
  std::vector<DeviceCase> cases = device_cases();
  for (DeviceCase& one : cases) one.on_gpu = true;
  return cases;
}

std::string name_of(const testing::TestParamInfo<DeviceCase>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Scenarios, DeviceCases, testing::ValuesIn(device_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Partitions, DeviceCases, testing::ValuesIn(gpu_cases()), name_of);

}  // namespace
}  // namespace parbench::test
