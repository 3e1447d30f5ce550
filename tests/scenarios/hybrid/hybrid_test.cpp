// Cases and references of scenario hybrid, and its plans on CPU devices that share cores.
#include "scenarios/framework/requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/base/error.h"
#include "scenarios/framework/all_cores.h"
#include "scenarios/framework/built_in.h"
#include "scenarios/framework/op_set.h"
#include "tests/scenarios/answers/rivals.h"
#include "tests/scenarios/plan_checks.h"
#include "tests/scenarios/resolving.h"
#include "tests/scenarios/training/step/grid_runs.h"
#include "tests/support/joined_device.h"

namespace parbench::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

struct HybridTest : Resolving {
  HybridTest() : Resolving(make_hybrid()) {}

  [[nodiscard]] Scenario::Request request(const std::vector<Parameter>& values,
                                          std::vector<std::string> given = {},
                                          int devices = 4) const {
    return request_of("divided", values, std::move(given), devices);
  }
};

TEST_F(HybridTest, LayoutsAreThoseOfTheDevices) {
  const auto axis = std::ranges::find(scenario->axes(), "layout", &Axis::name);
  const auto names = [&](int devices) {
    std::vector<std::string> all;
    for (const Value& value : axis->by_devices(devices)) all.push_back(to_string(value));
    return all;
  };
  EXPECT_THAT(names(2), ElementsAre("dp2", "pp2", "tp2"));
  EXPECT_THAT(names(4), ElementsAre("dp4", "pp4", "tp4", "dp2xpp2", "dp2xtp2", "pp2xtp2"));
}

TEST_F(HybridTest, NamesHaveTheLayoutWithoutFactorsOfOne) {
  EXPECT_EQ(name_of(request({{"model", "mlp"}, {"layout", "dp2xpp2xtp1"}})),
            "hybrid/divided/model:mlp/batch:120/hidden:1024/layers:4/layout:dp2xpp2/split:15");
  EXPECT_EQ(name_of(request({{"model", "toy"}, {"layout", "dp4"}})),
            "hybrid/divided/model:toy/batch:20/layout:dp4");
}

TEST_F(HybridTest, ChoicesBelongToTheLayoutsThatHaveThem) {
  const auto named = [&](const std::string& layout) {
    return name_of(request({{"model", "gpt"},
                            {"layout", layout},
                            {"bucket", 5},
                            {"partition", "h.2"},
                            {"recompute", "block"}}));
  };
  const std::string step =
      "hybrid/divided/batch:8/heads:4/hidden:256/layers:4/sequence:128/vocabulary:8192/recompute:"
      "block/layout:";
  EXPECT_EQ(named("dp4"), step + "dp4/bucket:5");
  EXPECT_EQ(named("pp2xtp2"), step + "pp2xtp2/split:2/partition:h.2");
  EXPECT_EQ(named("dp2xpp2"), step + "dp2xpp2/split:1/partition:h.2/bucket:5");
}

TEST_F(HybridTest, RefusesWhatDevicesAndModelsDoNotAllow) {
  EXPECT_THAT(refusal(request({{"layout", "dp2"}}, {"layout"})),
              HasSubstr("takes 2 devices, and this run has 4; give --devices 2"));
  EXPECT_THAT(refusal(request({{"layout", "dp2xx2"}})), HasSubstr("is not a layout"));
  EXPECT_THAT(refusal(request({{"model", "toy"}, {"layout", "pp4"}}, {"layout"})),
              HasSubstr("2 units, too few for the stages of pp4"));
  EXPECT_THAT(
      refusal(request({{"model", "resnet18"}, {"image", 32}, {"layout", "tp4"}}, {"layout"})),
      HasSubstr("parbench divides only pairs of linear layers"));
  EXPECT_THAT(refusal(request({{"layout", "dp2xpp2"}, {"partition", "h.9"}}, {"partition"})),
              HasSubstr("'h.9' is not a unit of gpt"));
  EXPECT_THAT(refusal(request({{"layout", "pp4"}, {"partition", "h.2"}}, {"partition"})),
              HasSubstr("'h.2' makes 2 stages, but there are 4"));
  EXPECT_THAT(refusal(request({{"layout", "dp4"}, {"batch", 3}}, {"batch"})),
              HasSubstr("3 cannot be divided over 4 replicas"));
  EXPECT_THAT(refusal(request({{"layout", "pp4"}, {"split", "2+6"}}, {"split"})),
              HasSubstr("use a number"));
  EXPECT_EQ(name_of(request({{"model", "toy"}, {"layout", "tp4"}})), "no case")
      << "the user has not asked for it";
}

TEST_F(HybridTest, ANumberOfMicroBatchesIsThatOfEachReplica) {
  const auto made = [&](const std::string& layout, std::int64_t batch, std::int64_t count) {
    return request(
        {{"model", "toy"}, {"layout", layout}, {"batch", batch}, {"micro-batches", count}},
        {"micro-batches"});
  };
  const std::string step = "hybrid/divided/model:toy/batch:";
  EXPECT_EQ(name_of(made("dp2xpp2", 16, 4)), step + "16/layout:dp2xpp2/split:2");
  EXPECT_EQ(name_of(made("dp4", 16, 2)), step + "16/layout:dp4/split:2");
  EXPECT_EQ(name_of(made("dp2xpp2", 20, 4)), step + "20/layout:dp2xpp2/split:3")
      << "3 + 3 + 3 + 1 for each";
  EXPECT_THAT(refusal(made("dp2xpp2", 6, 4)),
              HasSubstr("--micro-batches: 4 are more than the 3 samples of a replica (dp2xpp2)"));
  EXPECT_THAT(refusal(made("dp2xpp2", 18, 4)),
              HasSubstr("no size divides the 9 samples of a replica (dp2xpp2) into 4"));
  EXPECT_THAT(refusal(request({{"layout", "dp4"}, {"split", 2}, {"micro-batches", 1}},
                              {"split", "micro-batches"})),
              HasSubstr("give one of the two"));
}

TEST_F(HybridTest, AnswersNameTheFastestLayoutBesideOneDeviceOfAllCores) {
  const auto outcome = [&](const std::string& strategy, const std::vector<Parameter>& values,
                           double seconds) {
    CaseOutcome one;
    Scenario::Request made = request_of(strategy, values, {}, 2);
    made.has_all_cores = true;
    one.spec = *requested_case(*scenario, made);
    one.median_seconds = seconds;
    const double speedup = 2 / seconds;
    if (strategy != "single") {
      one.speedup = {speedup, Interval{speedup - 0.01, speedup + 0.01, 0.97}};
    }
    return one;
  };
  const std::vector<Parameter> toy{{"model", "toy"}};
  EXPECT_THAT(
      scenario
          ->answer({outcome("single", toy, 2), outcome("all-cores", toy, 1.0),
                    outcome("divided", {{"model", "toy"}, {"layout", "dp2"}}, 1.25),
                    outcome("divided", {{"model", "toy"}, {"layout", "pp2"}}, 1.6)},
                   within(0.01))
          .text,
      HasSubstr("Use the whole GPU: 2.00× as fast as one device (1.99–2.01). The fastest that "
                "divides the work: dp2, 1.60× (1.59–1.61)."));
}

TEST_F(HybridTest, ReferencesAreOneDeviceUnlessPartsComputeSomethingElse) {
  EXPECT_EQ(reference_of(request({{"model", "toy"}, {"layout", "dp2xpp2"}})),
            "hybrid/single/model:toy/batch:20");
  EXPECT_EQ(reference_of(request({{"model", "resnet18"}, {"image", 64}, {"layout", "dp2xpp2"}})),
            "hybrid/in-turn/model:resnet18/batch:24/image:64/layout:dp2/split:3");
  EXPECT_EQ(reference_of(request({{"model", "toy"},
                                  {"layout", "dp2xpp2"},
                                  {"bucket", 1},
                                  {"partition", "balanced"},
                                  {"recompute", "block"}})),
            "hybrid/single/model:toy/batch:20")
      << "with all activations kept";
}

struct GridCase {
  std::string name;
  int devices = 4;
  std::vector<Parameter> values;
  std::size_t every = 1;  // task that is left out
  DType dtype = DType::f32;
};

void PrintTo(const GridCase& one, std::ostream* out) { *out << one.name; }

struct HybridPlans : testing::TestWithParam<GridCase> {
  std::unique_ptr<Scenario> scenario = make_hybrid();
  [[nodiscard]] CaseSpec spec() const {
    CaseSpec made = spec_of(*scenario, "divided", GetParam().values, GetParam().devices);
    made.dtype = GetParam().dtype;
    return made;
  }
  void SetUp() override {
    const auto context = context_with_shared_cores(1);
    try {
      static_cast<void>(OpSet().prepare(context->stream(0, StreamKind::compute),
                                        LinearForward{.shape = {}, .dtype = GetParam().dtype}));
    } catch (const Unsupported&) {
      GTEST_SKIP() << "this machine has no native " << to_string(GetParam().dtype);
    }
  }
};

TEST_P(HybridPlans, HaveNoRaces) {
  const auto context = context_with_shared_cores(GetParam().devices);
  EXPECT_THAT(races(ready_case(*scenario, spec(), *context)->plan()), IsEmpty());
}

TEST_P(HybridPlans, NeedEveryTask) {
  expect_every_task_needed(*scenario, spec(), GetParam().devices, GetParam().every);
}

std::vector<Parameter> tiny_gpt(const std::string& layout, std::vector<Parameter> further = {}) {
  std::vector<Parameter> values{{"model", "gpt-tiny"}, {"batch", 4},      {"layers", 2},
                                {"hidden", 32},        {"heads", 4},      {"sequence", 6},
                                {"vocabulary", 32},    {"layout", layout}};
  values.insert(values.end(), further.begin(), further.end());
  return values;
}

/// A table of 1 MiB that two stages have, and blocks of nearly as much.
std::vector<Parameter> shared_table(const std::string& layout) {
  return {{"model", "gpt-tiny"}, {"batch", 4},         {"layers", 4},     {"hidden", 128},
          {"heads", 4},          {"sequence", 6},      {"split", 1},      {"head", "tied"},
          {"bucket", 1},         {"vocabulary", 2100}, {"layout", layout}};
}

/// Layers of 1 MiB, and so many samples that each part of a gradient has contributions.
std::vector<Parameter> large_perceptron(const std::string& layout,
                                        std::vector<Parameter> further = {}) {
  std::vector<Parameter> values{{"model", "mlp"}, {"batch", 64},      {"layers", 4},
                                {"hidden", 512},  {"layout", layout}, {"bucket", 1}};
  values.insert(values.end(), further.begin(), further.end());
  return values;
}

INSTANTIATE_TEST_SUITE_P(
    Grids, HybridPlans,
    testing::Values(
        GridCase{"Replicas", 3, {{"model", "toy"}, {"batch", 7}, {"layout", "dp3"}}},
        GridCase{
            "ReplicasOfStages",
            4,
            {{"model", "toy"}, {"batch", 7}, {"split", 2}, {"layout", "dp2xpp2"}, {"clip", 0.01}}},
        GridCase{"OneForwardOneBackward",
                 4,
                 {{"model", "toy"},
                  {"batch", 9},
                  {"split", 2},
                  {"layout", "dp2xpp2"},
                  {"schedule", "1f1b"}},
                 3},
        GridCase{"FourStages",
                 4,
                 {{"model", "mlp"},
                  {"layers", 4},
                  {"hidden", 32},
                  {"batch", 7},
                  {"split", 1},
                  {"layout", "pp4"},
                  {"schedule", "1f1b"}},
                 5},
        GridCase{"FourStagesRecomputed", 4,
                 tiny_gpt("pp4", {{"split", 1},
                                  {"partition", "h.0+h.1+head"},
                                  {"schedule", "1f1b"},
                                  {"recompute", "block"}}),
                 9},
        GridCase{
            "ShardsOfAPerceptron",
            2,
            {{"model", "mlp"}, {"layers", 3}, {"hidden", 32}, {"batch", 4}, {"layout", "tp2"}}},
        GridCase{"ShardsOfStages", 4, tiny_gpt("pp2xtp2", {{"split", 2}, {"schedule", "1f1b"}}), 9},
        GridCase{"ShardsOfReplicas", 4, tiny_gpt("dp2xtp2", {{"head", "tied"}}), 7},
        GridCase{"AllThree", 8, tiny_gpt("dp2xpp2xtp2", {{"split", 1}, {"head", "tied"}}), 23},
        GridCase{"Buckets", 2, large_perceptron("dp2"), 3},
        GridCase{"BucketsOfStages", 4,
                 large_perceptron("dp2xpp2", {{"split", 8}, {"schedule", "1f1b"}, {"clip", 0.01}}),
                 11},
        GridCase{"BucketsOfShards", 4, large_perceptron("dp2xtp2"), 7},
        GridCase{"BucketOfASharedParameter", 4,
                 tiny_gpt("dp2xpp2", {{"split", 1}, {"head", "tied"}, {"bucket", 1}}), 7},
        GridCase{"BucketsBesideASharedParameter", 4, shared_table("dp2xpp2"), 17},
        GridCase{"ClippedShards", 2, tiny_gpt("tp2", {{"clip", 0.01}}), 3},
        GridCase{"ClippedShardsOfStages", 4,
                 tiny_gpt("pp2xtp2", {{"split", 2}, {"head", "tied"}, {"clip", 0.01}}), 7},
        GridCase{"Recomputed", 2,
                 tiny_gpt("pp2", {{"split", 2}, {"recompute", "block"}, {"partition", "h.1"}}), 3},
        GridCase{"RecomputedShards", 2, tiny_gpt("tp2", {{"recompute", "block"}}), 3},
        GridCase{"Bf16Shards", 2, tiny_gpt("tp2"), 3, DType::bf16},
        GridCase{"Bf16ShardsOfReplicas", 4,
                 tiny_gpt("dp2xtp2", {{"recompute", "block"}, {"clip", 0.01}}), 9, DType::bf16}),
    [](const auto& one) { return one.param.name; });

/// Expects that a task neither waits for another one nor is waited for.
void expect_beside(const Plan& plan, const std::string& one, const std::string& prefix) {
  const TaskId task = task_named(plan, one);
  int found = 0;
  for (TaskId other = 0; other < static_cast<TaskId>(plan.graph().tasks.size()); ++other) {
    const std::string& name = plan.graph().task(other).name;
    if (!name.starts_with(prefix)) continue;
    ++found;
    EXPECT_FALSE(is_ordered(plan, task, other)) << name;
    EXPECT_FALSE(is_ordered(plan, other, task)) << name;
  }
  EXPECT_GT(found, 0) << prefix;
}

TEST_F(HybridTest, BucketsAreAddedUpBesideTheRestOfTheBackwardPass) {
  const auto context = context_with_shared_cores(2);
  const auto of_replicas =
      ready_case(*scenario, spec_of(*scenario, "divided", large_perceptron("dp2"), 2), *context);
  expect_beside(of_replicas->plan(), "backward, micro-batch 0, stage 0, bucket 2, replica 0",
                "all-reduce gradients, bucket 0");
}

/// Otherwise layouts of fewer replicas would be at a disadvantage.
TEST_F(HybridTest, EveryLayoutUsesTheLibraryThatJoinsItsReplicas) {
  for (const std::string layout : {"dp4", "dp2xpp2", "dp2xtp2"}) {
    Context context(joined(devices_with_shared_cores(4)), Context::Options{.seed = 5});
    const auto subject =
        ready_case(*scenario, spec_of(*scenario, "divided", tiny_gpt(layout), 4), context);
    EXPECT_THAT(subject->notes(), Contains(Pair("all-reduce", "copies of a test"))) << layout;
    EXPECT_THAT(races(subject->plan()), IsEmpty()) << layout;
    run_in_order(subject->plan());
    EXPECT_EQ(subject->check(), std::nullopt) << layout;
  }
}

TEST_F(HybridTest, OneAllReduceFollowsTheBackwardPassWithoutBuckets) {
  const auto context = context_with_shared_cores(2);
  std::vector<Parameter> values = large_perceptron("dp2");
  values.back() = {"bucket", 0};
  const auto subject = ready_case(*scenario, spec_of(*scenario, "divided", values, 2), *context);
  const Plan& plan = subject->plan();
  const TaskId backward = task_named(plan, "backward, micro-batch 0, stage 0, replica 0");
  for (TaskId task = 0; task < static_cast<TaskId>(plan.graph().tasks.size()); ++task) {
    const std::string& name = plan.graph().task(task).name;
    if (!name.starts_with("all-reduce")) continue;
    EXPECT_TRUE(is_ordered(plan, backward, task)) << name;
  }
}

}  // namespace
}  // namespace parbench::test
