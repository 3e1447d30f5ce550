// Cases and references of scenario hybrid, and its plans on CPU devices that share cores.
#include "scenarios/hybrid/hybrid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/scenarios/plan_checks.h"
#include "tests/scenarios/resolving.h"
#include "tests/scenarios/training/grid/grid_runs.h"

namespace parbench::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

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

TEST_F(HybridTest, RefusesWhatDevicesAndModelsDoNotAllow) {
  EXPECT_THAT(refusal(request({{"layout", "dp2"}}, {"layout"})),
              HasSubstr("takes 2 devices, and this run has 4; give --devices 2"));
  EXPECT_THAT(refusal(request({{"layout", "dp2xx2"}})), HasSubstr("is no layout"));
  EXPECT_THAT(refusal(request({{"model", "toy"}, {"layout", "pp4"}}, {"layout"})),
              HasSubstr("2 units, too few for the stages of pp4"));
  EXPECT_THAT(
      refusal(request({{"model", "resnet18"}, {"image", 32}, {"layout", "tp4"}}, {"layout"})),
      HasSubstr("no two linear layers"));
  EXPECT_THAT(refusal(request({{"layout", "tp4"}, {"clip", 1.0}}, {"layout"})),
              HasSubstr("leave --clip out"));
  EXPECT_THAT(refusal(request({{"layout", "dp4"}, {"batch", 3}}, {"batch"})),
              HasSubstr("3 cannot be divided over 4 replicas"));
  EXPECT_THAT(refusal(request({{"layout", "pp4"}, {"split", "2+6"}}, {"split"})),
              HasSubstr("use a number"));
  Scenario::Request bf16 = request({{"layout", "tp4"}}, {"layout"});
  bf16.spec.dtype = DType::bf16;
  EXPECT_THAT(refusal(bf16), HasSubstr("use --dtype f32"));
  EXPECT_EQ(name_of(request({{"model", "toy"}, {"layout", "tp4"}})), "no case")
      << "the user has not asked for it";
}

TEST_F(HybridTest, ReferencesAreOneDeviceUnlessPartsComputeSomethingElse) {
  EXPECT_EQ(reference_of(request({{"model", "toy"}, {"layout", "dp2xpp2"}})),
            "hybrid/single/model:toy/batch:20");
  EXPECT_EQ(reference_of(request({{"model", "resnet18"}, {"image", 64}, {"layout", "dp2xpp2"}})),
            "hybrid/parts-in-turn/model:resnet18/batch:24/image:64/layout:dp2/split:3");
}

struct GridCase {
  std::string name;
  int devices = 4;
  std::vector<Parameter> values;
  std::size_t every = 1;  // task that is left out
};

void PrintTo(const GridCase& one, std::ostream* out) { *out << one.name; }

struct HybridPlans : testing::TestWithParam<GridCase> {
  std::unique_ptr<Scenario> scenario = make_hybrid();
  [[nodiscard]] CaseSpec spec() const {
    return spec_of(*scenario, "divided", GetParam().values, GetParam().devices);
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
        GridCase{
            "RanksOfAPerceptron",
            2,
            {{"model", "mlp"}, {"layers", 3}, {"hidden", 32}, {"batch", 4}, {"layout", "tp2"}}},
        GridCase{"RanksOfStages", 4, tiny_gpt("pp2xtp2", {{"split", 2}, {"schedule", "1f1b"}}), 9},
        GridCase{"RanksOfReplicas", 4, tiny_gpt("dp2xtp2", {{"head", "tied"}}), 7},
        GridCase{"AllThree", 8, tiny_gpt("dp2xpp2xtp2", {{"split", 1}, {"head", "tied"}}), 23}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace parbench::test
