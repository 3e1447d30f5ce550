// Stages between which several tensors cross, some of which only pass a stage on their way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/machine/machine.h"
#include "scenarios/training/step/training_step.h"
#include "tests/scenarios/plan_checks.h"
#include "tests/scenarios/training/skips.h"
#include "tests/support/cpu_devices.h"
#include "tests/support/other_device.h"

namespace parbench {
namespace {

using testing::ElementsAre;

struct SkipSetting {
  std::string name;
  std::vector<int> partition;
  std::vector<std::int64_t> micro_batches = {4, 2};
  std::string schedule = "gpipe";
  bool mixed = false;  // every second device is another backend's
  bool recompute = false;
};
void PrintTo(const SkipSetting& setting, std::ostream* out) { *out << setting.name; }

/// The stages of a step on two devices by turns. A stage more than there are devices shares one, so
/// that tasks run one after the other.
struct SkipStep {
  SkipStep(const SkipSetting& setting, std::vector<std::unique_ptr<Device>> devices)
      : context(std::move(devices), Context::Options{.seed = 9}) {
    context.begin_case();
    parts = prepare_step(context, test::network_with_skips(), {},
                         {.grid = {.stages = context.device_count()},
                          .partition = setting.partition,
                          .schedule = setting.schedule,
                          .micro_batches = {setting.micro_batches},
                          .recompute = setting.recompute});
    parts->data.finish();
    context.commit();
    parts->data.reset();
    test::run_in_order(parts->plan);
  }

  Context context;
  std::unique_ptr<TrainingStep> parts;
};

/// Whether a tensor lies differently on the two sides of a boundary.
bool has_unlike_boundaries(const SkipStep& step) {
  for (std::size_t s = 1; s < step.parts->stages.size(); ++s) {
    const auto from = step.parts->stages[s - 1]->outputs(0);
    if (!std::ranges::equal(from, step.parts->stages[s]->inputs(0), {}, &Stage::Passing::desc,
                            &Stage::Passing::desc)) {
      return true;
    }
  }
  return false;
}

std::vector<std::unique_ptr<Device>> two_devices(const SkipSetting& setting) {
  return setting.mixed ? test::mixed_devices(2) : test::cpu_devices(2);
}

using OutputsByName = std::map<std::string, std::vector<float>>;

OutputsByName values_of(const SkipStep& step) {
  OutputsByName values;
  for (const Output& output : step.parts->outputs) values[output.name] = output.read();
  return values;
}

struct Skips : testing::TestWithParam<SkipSetting> {
  void SetUp() override {
    if (Machine().find("cpu")->device_limit() < 2) GTEST_SKIP() << "needs two cores";
  }
};

TEST_P(Skips, AStepInStagesIsThatInOne) {
  const SkipSetting& setting = GetParam();
  const SkipStep whole({.name = "whole", .partition = {}, .micro_batches = setting.micro_batches},
                       test::cpu_devices(1));
  const SkipStep split(setting, two_devices(setting));
  const OutputsByName want = values_of(whole);
  const OutputsByName got = values_of(split);
  ASSERT_EQ(got.size(), want.size());
  for (const auto& [name, values] : want) {
    float largest = 0;
    for (const float value : values) largest = std::max(largest, std::abs(value));
    ASSERT_GT(largest, 0) << name;
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_NEAR(got.at(name).at(i), values[i], 1e-4 * largest) << name << " " << i;
    }
  }
  for (const Check& check : split.parts->checks) EXPECT_EQ(check.run(), std::nullopt) << check.what;
  EXPECT_EQ(split.parts->checks.size() > 2U, has_unlike_boundaries(split));
  EXPECT_TRUE(setting.mixed || !has_unlike_boundaries(split));
}

TEST_P(Skips, TasksThatShareMemoryAreOrdered) {
  const SkipStep split(GetParam(), two_devices(GetParam()));
  EXPECT_THAT(test::races(split.parts->plan), testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    Partitions, Skips,
    testing::Values(SkipSetting{"TwoTensorsCross", {1}}, SkipSetting{"ThreeTensorsCross", {2}},
                    SkipSetting{"AtTheEnd", {3}}, SkipSetting{"OneOnlyPasses", {1, 2}},
                    SkipSetting{"PassingTwice", {1, 2, 3}},
                    SkipSetting{"InTurn", {1, 2}, {2, 2, 2}, "1f1b"},
                    SkipSetting{"PassingInTurn", {1, 2, 3}, {1, 1, 1, 1, 1, 1}, "1f1b"},
                    SkipSetting{"UnlikeDevices", {2}, {4, 2}, "gpipe", true},
                    SkipSetting{"PassingUnlikeDevices", {1, 2}, {4, 2}, "gpipe", true},
                    SkipSetting{"InTurnOnUnlikeDevices", {1, 2}, {1, 2, 1, 1, 1}, "1f1b", true},
                    SkipSetting{"Recomputed", {2}, {4, 2}, "gpipe", false, true},
                    SkipSetting{"RecomputedInOne", {}, {4, 2}, "gpipe", false, true}),
    [](const auto& one) { return one.param.name; });

TEST(NetworkWithSkips, SeveralTensorsCross) {
  const Network net = test::network_with_skips();
  ASSERT_THAT(net.units, ElementsAre("stem", "left", "right", "head"));
  EXPECT_THAT(net.crossing(0), ElementsAre(network_input));
  const auto first = [&](int unit) {
    return std::ranges::find(net.layers, unit, &Layer::unit) - net.layers.begin();
  };
  EXPECT_EQ(net.crossing(static_cast<int>(first(1))).size(), 2U) << "the input is read again";
  EXPECT_EQ(net.crossing(static_cast<int>(first(2))).size(), 3U);
  EXPECT_EQ(net.crossing(static_cast<int>(first(3))).size(), 2U);
  EXPECT_THAT(net.crossing(static_cast<int>(net.layers.size())), ElementsAre());
}

}  // namespace
}  // namespace parbench
