// Cases and references of scenario data-parallel, and its plans on CPU devices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/execution/verification.h"
#include "kernels/machine/machine.h"
#include "scenarios/framework/built_in.h"
#include "scenarios/framework/requests.h"
#include "tests/scenarios/plan_checks.h"
#include "tests/scenarios/resolving.h"
#include "tests/scenarios/training/step/grid_runs.h"
#include "tests/support/cpu_devices.h"
#include "tests/support/other_device.h"

namespace parbench::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<std::string> divided{"all-reduce", "all-reduce-buckets", "tower",
                                       "replicate",  "parameter-server",   "sharded"};

std::vector<Parameter> with(std::vector<Parameter> values, const std::vector<Parameter>& more) {
  values.insert(values.end(), more.begin(), more.end());
  return values;
}

struct DataParallelTest : Resolving {
  DataParallelTest() : Resolving(make_data_parallel()) {}
};

TEST_F(DataParallelTest, NamesShowDevicesAndBuckets) {
  EXPECT_EQ(name_of(request_of("single", {{"model", "linear"}})),
            "data-parallel/single/model:linear/batch:30");
  EXPECT_EQ(name_of(request_of("all-reduce", {{"model", "linear"}}, {}, 4)),
            "data-parallel/all-reduce/model:linear/batch:30/devices:4");
  EXPECT_EQ(name_of(request_of("all-reduce-buckets",
                               {{"model", "linear"}, {"bucket", 5}, {"clip", 0.5}})),
            "data-parallel/all-reduce-buckets/model:linear/batch:30/clip:0.5/devices:2/bucket:5");
}

TEST_F(DataParallelTest, MoreDevicesThanPartsAreIdle) {
  const auto idle = [&](std::int64_t batch, int devices) {
    const auto spec = requested_case(
        *scenario, request_of("all-reduce", {{"model", "linear"}, {"batch", batch}}, {}, devices));
    const Value* value = spec->parameters.find("idle");
    return value == nullptr ? 0 : std::get<std::int64_t>(*value);
  };
  EXPECT_EQ(idle(30, 4), 0);
  EXPECT_EQ(idle(3, 4), 1);
  EXPECT_EQ(idle(5, 4), 1) << "2, 2, 1";
  EXPECT_EQ(idle(1, 2), 1);
}

TEST_F(DataParallelTest, WeakScalingHasABatchOnEachDevice) {
  const Scenario::Request made =
      request_of("all-reduce", {{"model", "linear"}, {"scaling", "weak"}}, {}, 4);
  EXPECT_EQ(name_of(made), "data-parallel/all-reduce/model:linear/batch:30/devices:4/scaling:weak");
  EXPECT_EQ(reference_of(made), "data-parallel/single/model:linear/batch:120");
  const CaseSpec spec = *requested_case(*scenario, made);
  EXPECT_FALSE(scenario->comparable(spec)) << "it does more work than one device does";
  const std::vector<Metric> metrics = scenario->metrics(spec);
  ASSERT_EQ(metrics.size(), 1);
  EXPECT_EQ(metrics[0].others.at(0).name(), "data-parallel/single/model:linear/batch:30");
  const std::vector<double> seconds{1.25, 1.0};
  EXPECT_DOUBLE_EQ(metrics[0].value(seconds, seconds), 0.8);
}

TEST_F(DataParallelTest, EqualPlansAreNotCompared) {
  for (const std::string& strategy : divided) {
    const CaseSpec alone =
        *requested_case(*scenario, request_of(strategy, {{"model", "linear"},
                                                         {"batch", std::int64_t{1}},
                                                         {"bucket", 1},
                                                         {"zero", std::int64_t{2}}}));
    EXPECT_FALSE(scenario->comparable(alone)) << strategy;
    EXPECT_THAT(scenario->metrics(alone), IsEmpty()) << strategy;
  }
  EXPECT_TRUE(scenario->comparable(*requested_case(
      *scenario, request_of("tower", {{"model", "linear"}, {"batch", std::int64_t{2}}}))));
}

TEST_F(DataParallelTest, ServersComeAfterTheDevicesThatCompute) {
  Scenario::Request made = request_of("parameter-server", {{"model", "linear"}}, {"strategy"}, 3);
  EXPECT_EQ(name_of(made), "data-parallel/parameter-server/model:linear/batch:30/devices:3");
  made.devices_alike = false;
  EXPECT_THAT(refusal(made), HasSubstr("a CPU device after them may be the server"));
  made.last_serves = true;
  EXPECT_EQ(name_of(made),
            "data-parallel/parameter-server/model:linear/batch:30/devices:2/server:cpu");
  made.spec.strategy = "tower";
  EXPECT_THAT(refusal(made), HasSubstr("--strategy tower needs devices of one kind"));
}

TEST_F(DataParallelTest, NeedsAlikeDevicesAndASampleForEachNormalisation) {
  EXPECT_EQ(name_of(request_of("tower", {{"model", "linear"}}, {}, 1)), "no case");
  EXPECT_THAT(refusal(request_of("tower", {{"model", "linear"}}, {"strategy"}, 1)),
              HasSubstr("tower needs at least two devices"));
  Scenario::Request unlike = request_of("tower", {{"model", "linear"}}, {"strategy"});
  unlike.devices_alike = false;
  EXPECT_THAT(refusal(unlike), HasSubstr("those of this run are of several"));
  const std::vector<Parameter> resnet{{"model", "resnet18"}, {"batch", 3}, {"image", 32}};
  EXPECT_THAT(refusal(request_of("tower", resnet, {"batch"})),
              HasSubstr("a micro-batch of 1 sample gives batch normalisations"));
  EXPECT_EQ(name_of(request_of("tower", resnet)), "no case");
}

TEST_F(DataParallelTest, ReferencesAreTheWholeBatchUnlessPartsComputeSomethingElse) {
  EXPECT_EQ(reference_of(request_of("single", {{"model", "linear"}})), "none");
  for (const std::string& strategy : divided) {
    const std::vector<Parameter> choices{{"bucket", 1}, {"zero", 1}};
    EXPECT_EQ(reference_of(request_of(strategy, with({{"model", "linear"}}, choices))),
              "data-parallel/single/model:linear/batch:30");
    EXPECT_EQ(
        reference_of(request_of(strategy, with({{"model", "resnet18"}, {"image", 64}}, choices))),
        "data-parallel/in-turn/model:resnet18/batch:24/image:64/devices:2");
  }
  EXPECT_THAT(reference_of(request_of("tower", {})), HasSubstr("in-turn"))
      << "dropouts of rnn-lm draw by the position in a part";
}

TEST_F(DataParallelTest, ScalingEfficiencyIsTheShareOfLinearSpeedup) {
  const CaseSpec spec =
      *requested_case(*scenario, request_of("tower", {{"model", "linear"}}, {}, 4));
  const std::vector<Metric> metrics = scenario->metrics(spec);
  ASSERT_EQ(metrics.size(), 1);
  EXPECT_EQ(metrics[0].others.at(0),
            *requested_case(*scenario, request_of("single", {{"model", "linear"}})));
  const std::vector<double> seconds{0.5, 1.0};
  EXPECT_DOUBLE_EQ(metrics[0].value(seconds, seconds), 0.5);
}

TEST_F(DataParallelTest, WithoutWorkForASecondDeviceThePlanIsThatOfOne) {
  const auto context = context_with_shared_cores(2);
  const auto plan_of = [&](const std::string& strategy, std::int64_t batch) {
    return ready_case(*scenario,
                      spec_of(*scenario, strategy, {{"model", "linear"}, {"batch", batch}}, 2),
                      *context);
  };
  EXPECT_TRUE(are_equal(plan_of("single", 1)->plan(), plan_of("all-reduce", 1)->plan()));
  EXPECT_FALSE(are_equal(plan_of("single", 2)->plan(), plan_of("all-reduce", 2)->plan()));
  EXPECT_TRUE(scenario->plans_show_all());
}

struct Division {
  std::string name;
  std::vector<Parameter> values;
  int devices = 2;
  std::vector<std::string> strategies = divided;
};

void PrintTo(const Division& one, std::ostream* out) { *out << one.name; }

struct DataParallelPlans : testing::TestWithParam<Division> {
  std::unique_ptr<Scenario> scenario = make_data_parallel();
  [[nodiscard]] CaseSpec spec(const std::string& strategy) const {
    return spec_of(*scenario, strategy, GetParam().values, GetParam().devices);
  }
};

TEST_P(DataParallelPlans, HaveNoRaces) {
  const auto context = context_with_shared_cores(GetParam().devices);
  for (const std::string& strategy : GetParam().strategies) {
    EXPECT_THAT(races(ready_case(*scenario, spec(strategy), *context)->plan()), IsEmpty())
        << strategy;
  }
}

TEST_P(DataParallelPlans, NeedEveryTask) {
  const int devices = GetParam().devices;
  const std::size_t every = devices > 2 ? 5 : 1;  // a ring of four has dozens of tasks
  for (const std::string& strategy : GetParam().strategies) {
    expect_every_task_needed(*scenario, spec(strategy), devices, every);
  }
}

/// Models whose parameters make several buckets on as many devices.
Division sharded_division(std::string name, std::vector<Parameter> values, int devices = 2) {
  values.push_back({"bucket", std::int64_t{1}});
  return {.name = std::move(name),
          .values = std::move(values),
          .devices = devices,
          .strategies = {"sharded"}};
}

const std::vector<Parameter> small_mlp{
    {"model", "mlp"}, {"layers", 3}, {"hidden", 520}, {"batch", 4}};

INSTANTIATE_TEST_SUITE_P(
    Levels, DataParallelPlans,
    testing::Values(
        sharded_division("First", with(small_mlp, {{"zero", 1}, {"optimizer", "momentum"}})),
        sharded_division("Second", with(small_mlp, {{"zero", 2}, {"clip", 0.01}})),
        sharded_division("Third", with(small_mlp, {{"zero", 3}, {"optimizer", "adam"}})),
        sharded_division("ThirdWithoutPrefetching",
                         with(small_mlp, {{"zero", 3}, {"prefetch", 0}, {"clip", 0.01}})),
        sharded_division("ThirdWithAllPrefetched", with(small_mlp, {{"zero", 3}, {"prefetch", 9}})),
        sharded_division("SecondAccumulated",
                         with(small_mlp, {{"zero", 2}, {"accumulate", 2}, {"clip", 0.01}})),
        sharded_division("ThirdAccumulated",
                         with(small_mlp, {{"zero", 3}, {"accumulate", 2}, {"optimizer", "adam"}})),
        sharded_division("SecondOnFour",
                         {{"model", "toy"}, {"batch", 30}, {"zero", 2}, {"clip", 0.01}}, 4),
        sharded_division("ThirdOnFour", {{"model", "toy"}, {"batch", 5}, {"zero", 3}}, 4)),
    [](const auto& one) { return one.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Models, DataParallelPlans,
    testing::Values(Division{"Linear", {{"model", "linear"}, {"bucket", 1}}},
                    Division{"UnevenOnFour", {{"model", "toy"}, {"batch", 30}, {"clip", 0.01}}, 4},
                    Division{"Accumulated",
                             {{"model", "toy"}, {"batch", 13}, {"accumulate", 3}, {"clip", 0.01}}},
                    Division{"IdleDevices", {{"model", "toy"}, {"batch", 5}}, 4},
                    Division{"WeaklyScaled", {{"model", "toy"}, {"batch", 3}, {"scaling", "weak"}}},
                    Division{"WithMoments",
                             {{"model", "toy"}, {"batch", 6}, {"optimizer", "adam"}}},
                    Division{"OneSample", {{"model", "toy"}, {"batch", 1}}, 2}),
    [](const auto& one) { return one.param.name; });

/// The memory that the first device needs for a case.
std::size_t memory_of(const Scenario& scenario, const std::string& strategy,
                      const std::vector<Parameter>& values) {
  const auto context = context_with_shared_cores(2);
  context->begin_case();
  const auto subject = scenario.prepare(spec_of(scenario, strategy, values, 2), *context);
  return context->case_bytes(0);
}

TEST_F(DataParallelTest, EachLevelOfShardingNeedsLessMemory) {
  const std::vector<Parameter> values{{"model", "mlp"}, {"layers", 8}, {"hidden", 600},
                                      {"batch", 4},     {"bucket", 1}, {"optimizer", "adam"}};
  std::size_t before = memory_of(*scenario, "all-reduce", values);
  for (const std::int64_t stage : {1, 2, 3}) {
    const std::size_t memory = memory_of(*scenario, "sharded", with(values, {{"zero", stage}}));
    EXPECT_LT(memory, before) << "stage " << stage;
    before = memory;
  }
}

TEST_F(DataParallelTest, PrefetchingTakesNoMoreThanHalfOfTheParameters) {
  // The head and its gradient have a third of all parameters each, and follow each other.
  const std::vector<Parameter> values{{"model", "rnn-lm"}, {"batch", 2},         {"embedding", 128},
                                      {"hidden", 128},     {"vocabulary", 4000}, {"sequence", 4},
                                      {"zero", 3},         {"bucket", 1}};
  const std::size_t without = memory_of(*scenario, "sharded", with(values, {{"prefetch", 0}}));
  const std::size_t prefetching = memory_of(*scenario, "sharded", with(values, {{"prefetch", 9}}));
  const std::size_t parameters = sizeof(float) * (2 * 4000 * 128 + 2 * 4 * 128 * (2 * 128 + 2));
  EXPECT_GE(prefetching, without);
  EXPECT_LT(prefetching, without + parameters / 2 - sizeof(float) * 4000 * 128);
}

TEST_F(DataParallelTest, DividedGradientsNeedAsManyMicroBatchesOnEachDevice) {
  const auto sharded = [&](std::int64_t stage, std::int64_t batch) {
    return request_of(
        "sharded",
        {{"model", "toy"}, {"batch", batch}, {"zero", stage}, {"bucket", 5}, {"accumulate", 4}},
        {"accumulate"}, 4);
  };
  EXPECT_THAT(name_of(sharded(1, 30)), HasSubstr("accumulate:4"));  // 8 = 4·2, 6 = 3·2
  EXPECT_THAT(refusal(sharded(2, 30)), HasSubstr("use another --batch, or --zero 1"));
  EXPECT_THAT(name_of(sharded(2, 32)), HasSubstr("accumulate:4"));
}

TEST_F(DataParallelTest, OnlyTheLastLevelPrefetches) {
  const auto sharded = [&](std::int64_t stage) {
    return request_of("sharded",
                      {{"model", "linear"}, {"zero", stage}, {"bucket", 5}, {"prefetch", 2}});
  };
  EXPECT_EQ(name_of(sharded(2)),
            "data-parallel/sharded/model:linear/batch:30/devices:2/zero:2/bucket:5");
  EXPECT_EQ(name_of(sharded(3)),
            "data-parallel/sharded/model:linear/batch:30/devices:2/zero:3/prefetch:2/bucket:5");
}

/// What is wrong with a run that leaves out a task; empty: nothing.
std::string wrong_without(const Scenario& scenario, const CaseSpec& spec, Context& context,
                          std::optional<std::size_t> left_out, const OutputValues& reference) {
  const auto subject = ready_case(scenario, spec, context);
  if (left_out) {
    run_in_order(without_calls_of(subject->plan(), *left_out));
  } else {
    run_in_order(subject->plan());
  }
  if (const auto wrong = subject->check()) return *wrong;
  const auto verdict = compare(subject->outputs(), reference, subject->tolerance());
  return verdict.passed ? "" : verdict.detail;
}

/// Two devices whose memory is their own, and one whose memory is the host's.
std::unique_ptr<Context> context_with_server() {
  const Machine machine;
  std::vector<std::unique_ptr<Device>> devices;
  for (const std::string name : {"other:0", "other:1"}) {
    devices.push_back(
        std::make_unique<OtherDevice>(std::move(cpu_devices(1, machine).front()), name));
  }
  devices.push_back(std::move(cpu_devices(1, machine).front()));
  return std::make_unique<Context>(std::move(devices), Context::Options{.seed = 5});
}

TEST_F(DataParallelTest, ServersUpdateForDevicesOfAnotherKind) {
  Scenario::Request made = request_of(
      "parameter-server",
      {{"model", "toy"}, {"batch", std::int64_t{7}}, {"clip", 0.01}, {"optimizer", "momentum"}}, {},
      3);
  made.devices_alike = false;
  made.last_serves = true;
  const CaseSpec spec = *requested_case(*scenario, made);
  const auto context = context_with_server();
  const OutputValues reference = [&] {
    const auto subject = ready_case(*scenario, *scenario->reference(spec), *context);
    run_in_order(subject->plan());
    return read_outputs(*subject);
  }();
  const auto subject = ready_case(*scenario, spec, *context);
  EXPECT_THAT(races(subject->plan()), IsEmpty());
  const PlanGraph& graph = subject->plan().graph();
  EXPECT_EQ(
      graph.lane(graph.task(task_named(subject->plan(), "update, server")).lanes.front()).device,
      "cpu:0");
  EXPECT_EQ(wrong_without(*scenario, spec, *context_with_server(), std::nullopt, reference), "");
  for (std::size_t task = 0; task < graph.tasks.size(); ++task) {
    EXPECT_NE(wrong_without(*scenario, spec, *context_with_server(), task, reference), "")
        << graph.tasks[task].name;
  }
}

TEST_F(DataParallelTest, BucketsAreReducedBesideTheBackwardPass) {
  const auto context = context_with_shared_cores(2);
  const CaseSpec spec =
      spec_of(*scenario, "all-reduce-buckets",
              {{"model", "mlp"}, {"layers", 3}, {"hidden", 520}, {"batch", 4}, {"bucket", 1}}, 2);
  const auto subject = ready_case(*scenario, spec, *context);
  const Plan& plan = subject->plan();
  EXPECT_THAT(races(plan), IsEmpty());
  const TaskId last = task_named(plan, "backward, micro-batch 0, stage 0, bucket 2, replica 0");
  int found = 0;
  for (TaskId task = 0; task < static_cast<TaskId>(plan.graph().tasks.size()); ++task) {
    const std::string& name = plan.graph().task(task).name;
    if (!name.starts_with("all-reduce gradients, bucket 0")) continue;
    EXPECT_FALSE(is_ordered(plan, last, task)) << name;
    EXPECT_FALSE(is_ordered(plan, task, last)) << name;
    EXPECT_LT(task, last) << "the host submits the all-reduce first";
    ++found;
  }
  EXPECT_GT(found, 0);
  run_in_order(plan);
  EXPECT_EQ(subject->check(), std::nullopt);
}

}  // namespace
}  // namespace parbench::test
