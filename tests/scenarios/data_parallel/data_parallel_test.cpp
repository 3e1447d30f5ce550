// Cases and references of scenario data-parallel, and its plans on CPU devices.
#include "scenarios/data_parallel/data_parallel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>

#include "bench/execution/verification.h"
#include "kernels/base/error.h"
#include "kernels/machine/machine.h"
#include "tests/scenarios/plan_checks.h"
#include "tests/support/cpu_devices.h"

namespace parbench::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<std::string> divided{"all-reduce", "all-reduce-buckets", "tower", "replicate"};

struct DataParallelTest : testing::Test {
  std::unique_ptr<Scenario> scenario = make_data_parallel();

  static Scenario::Request request(const std::string& strategy,
                                   const std::vector<Parameter>& values,
                                   std::vector<std::string> given = {}, int devices = 2) {
    Scenario::Request made;
    made.spec = {.scenario = "data-parallel", .strategy = strategy, .parameters = {}, .hidden = {}};
    for (const Parameter& value : values) made.spec.parameters.set(value.name, value.value);
    made.given = std::move(given);
    made.device_count = devices;
    return made;
  }

  std::string name_of(const Scenario::Request& made) const {
    const auto spec = scenario->resolve(made);
    return spec ? spec->name() : "no case";
  }

  std::string refusal(const Scenario::Request& made) const {
    try {
      return "not refused: " + name_of(made);
    } catch (const UsageError& error) {
      return error.what();
    }
  }

  std::string reference_of(const Scenario::Request& made) const {
    const auto reference = scenario->reference(*scenario->resolve(made));
    return reference ? reference->name() : "none";
  }
};

TEST_F(DataParallelTest, NamesShowDevicesAndBuckets) {
  EXPECT_EQ(name_of(request("single", {{"model", "linear"}})),
            "data-parallel/single/model:linear/batch:30");
  EXPECT_EQ(name_of(request("all-reduce", {{"model", "linear"}}, {}, 4)),
            "data-parallel/all-reduce/model:linear/batch:30/devices:4");
  EXPECT_EQ(
      name_of(request("all-reduce-buckets", {{"model", "linear"}, {"bucket", 5}, {"clip", 0.5}})),
      "data-parallel/all-reduce-buckets/model:linear/batch:30/clip:0.5/devices:2/bucket:5");
}

TEST_F(DataParallelTest, MoreDevicesThanPartsAreIdle) {
  const auto idle = [&](std::int64_t batch, int devices) {
    const auto spec = scenario->resolve(
        request("all-reduce", {{"model", "linear"}, {"batch", batch}}, {}, devices));
    const Value* value = spec->parameters.find("idle");
    return value == nullptr ? 0 : std::get<std::int64_t>(*value);
  };
  EXPECT_EQ(idle(30, 4), 0);
  EXPECT_EQ(idle(3, 4), 1);
  EXPECT_EQ(idle(5, 4), 1) << "2, 2, 1";
  EXPECT_EQ(idle(1, 2), 1);
}

TEST_F(DataParallelTest, NeedsAlikeDevicesAndASampleForEachNormalisation) {
  EXPECT_EQ(name_of(request("tower", {{"model", "linear"}}, {}, 1)), "no case");
  EXPECT_THAT(refusal(request("tower", {{"model", "linear"}}, {"strategy"}, 1)),
              HasSubstr("tower needs at least two devices"));
  Scenario::Request unlike = request("tower", {{"model", "linear"}}, {"strategy"});
  unlike.devices_alike = false;
  EXPECT_THAT(refusal(unlike), HasSubstr("of several kinds"));
  const std::vector<Parameter> resnet{{"model", "resnet18"}, {"batch", 3}, {"image", 32}};
  EXPECT_THAT(refusal(request("tower", resnet, {"batch"})), HasSubstr("each part has at least 2"));
  EXPECT_EQ(name_of(request("tower", resnet)), "no case");
}

TEST_F(DataParallelTest, ReferencesAreTheWholeBatchUnlessPartsComputeSomethingElse) {
  EXPECT_EQ(reference_of(request("single", {{"model", "linear"}})), "none");
  for (const std::string& strategy : divided) {
    EXPECT_EQ(reference_of(request(strategy, {{"model", "linear"}, {"bucket", 1}})),
              "data-parallel/single/model:linear/batch:30");
    EXPECT_EQ(
        reference_of(request(strategy, {{"model", "resnet18"}, {"image", 64}, {"bucket", 1}})),
        "data-parallel/parts-in-turn/model:resnet18/batch:24/image:64/devices:2");
  }
  EXPECT_THAT(reference_of(request("tower", {})), HasSubstr("parts-in-turn"))
      << "dropouts of rnn-lm draw by the position in a part";
}

TEST_F(DataParallelTest, ScalingEfficiencyIsTheShareOfLinearSpeedup) {
  const CaseSpec spec = *scenario->resolve(request("tower", {{"model", "linear"}}, {}, 4));
  const std::vector<Metric> metrics = scenario->metrics(spec);
  ASSERT_EQ(metrics.size(), 1);
  EXPECT_EQ(metrics[0].others.at(0), *scenario->resolve(request("single", {{"model", "linear"}})));
  const std::vector<double> seconds{0.5, 1.0};
  EXPECT_DOUBLE_EQ(metrics[0].value(seconds, seconds), 0.5);
}

/// Devices, several of which may share cores.
std::unique_ptr<Context> context_of(int devices) {
  const Machine machine;
  std::vector<std::unique_ptr<Device>> all;
  while (static_cast<int>(all.size()) < devices) {
    std::vector<std::unique_ptr<Device>> one = cpu_devices(1, machine);
    std::ranges::move(one, std::back_inserter(all));
  }
  return std::make_unique<Context>(std::move(all), Context::Options{.seed = 5});
}

/// What is wrong with a run that leaves out a task; empty: nothing.
std::string wrong_without(const Scenario& scenario, const CaseSpec& spec, int devices,
                          std::optional<std::size_t> left_out, const OutputValues& reference) {
  const auto context = context_of(devices);
  const auto subject = ready_case(scenario, spec, *context);
  if (left_out) {
    run_in_order(without_calls_of(subject->plan(), *left_out));
  } else {
    run_in_order(subject->plan());
  }
  if (const auto wrong = subject->check()) return *wrong;
  const auto verdict = compare(subject->outputs(), reference, subject->tolerance());
  return verdict.passed ? "" : verdict.detail;
}

OutputValues outputs_of(const Scenario& scenario, const CaseSpec& spec, int devices) {
  const auto context = context_of(devices);
  const auto subject = ready_case(scenario, spec, *context);
  run_in_order(subject->plan());
  return read_outputs(*subject);
}

struct Division {
  std::string name;
  std::vector<Parameter> values;
  int devices = 2;
};

void PrintTo(const Division& one, std::ostream* out) { *out << one.name; }

struct DataParallelPlans : testing::TestWithParam<Division> {
  std::unique_ptr<Scenario> scenario = make_data_parallel();
  [[nodiscard]] CaseSpec spec(const std::string& strategy) const {
    return spec_of(*scenario, strategy, GetParam().values, GetParam().devices);
  }
};

TEST_P(DataParallelPlans, HaveNoRaces) {
  const auto context = context_of(GetParam().devices);
  for (const std::string& strategy : divided) {
    EXPECT_THAT(races(ready_case(*scenario, spec(strategy), *context)->plan()), IsEmpty())
        << strategy;
  }
}

TEST_P(DataParallelPlans, NeedEveryTask) {
  const int devices = GetParam().devices;
  for (const std::string& strategy : divided) {
    const CaseSpec wanted = spec(strategy);
    const OutputValues reference = outputs_of(*scenario, *scenario->reference(wanted), devices);
    EXPECT_EQ(wrong_without(*scenario, wanted, devices, std::nullopt, reference), "") << strategy;
    const auto context = context_of(devices);
    const auto subject = ready_case(*scenario, wanted, *context);
    const PlanGraph& graph = subject->plan().graph();
    const std::size_t step = devices > 2 ? 5 : 1;  // a ring of four has dozens of tasks
    for (std::size_t task = 0; task < graph.tasks.size(); task += step) {
      if (subject->plan().calls()[task].empty()) continue;
      EXPECT_NE(wrong_without(*scenario, wanted, devices, task, reference), "")
          << strategy << " without " << graph.tasks[task].name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, DataParallelPlans,
    testing::Values(Division{"Linear", {{"model", "linear"}, {"bucket", 1}}},
                    Division{"UnevenOnFour", {{"model", "toy"}, {"batch", 30}, {"clip", 0.01}}, 4},
                    Division{"Accumulated",
                             {{"model", "toy"}, {"batch", 13}, {"accumulate", 3}, {"clip", 0.01}}},
                    Division{"IdleDevices", {{"model", "toy"}, {"batch", 5}}, 4},
                    Division{"OneSample", {{"model", "toy"}, {"batch", 1}}, 2}),
    [](const auto& one) { return one.param.name; });

TEST_F(DataParallelTest, BucketsAreReducedBesideTheBackwardPass) {
  const auto context = context_of(2);
  const CaseSpec spec =
      spec_of(*scenario, "all-reduce-buckets",
              {{"model", "mlp"}, {"layers", 3}, {"hidden", 520}, {"batch", 4}, {"bucket", 1}}, 2);
  const auto subject = ready_case(*scenario, spec, *context);
  const Plan& plan = subject->plan();
  EXPECT_THAT(races(plan), IsEmpty());
  const TaskId last = task_named(plan, "backward, replica 0, bucket 2");
  for (TaskId task = 0; task < static_cast<TaskId>(plan.graph().tasks.size()); ++task) {
    const std::string& name = plan.graph().task(task).name;
    if (!name.starts_with("all-reduce 0")) continue;
    EXPECT_FALSE(is_ordered(plan, last, task)) << name;
    EXPECT_FALSE(is_ordered(plan, task, last)) << name;
  }
  run_in_order(plan);
  EXPECT_EQ(subject->check(), std::nullopt);
}

}  // namespace
}  // namespace parbench::test
