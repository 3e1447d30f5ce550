// Optimisers and clipping over several steps, on one stage and on two, against their definitions.
#include "scenarios/training/optimizer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/execution/executor.h"
#include "kernels/machine/machine.h"
#include "scenarios/models/models.h"
#include "scenarios/training/checks/update_checks.h"
#include "scenarios/training/step/training_step.h"
#include "tests/scenarios/plan_checks.h"
#include "tests/support/cpu_devices.h"

namespace parbench {
namespace {

using Numbers = std::map<std::string, std::vector<double>>;

const std::vector<std::int64_t> split_batch = {4, 3};

/// A perceptron in training, in one stage for each device.
struct Training {
  Training(int devices, const Optimizer& optimizer)
      : context(test::cpu_devices(devices), Context::Options{.seed = 5}) {
    context.begin_case();
    StepLayout layout{
        .grid = {.stages = devices}, .schedule = "gpipe", .micro_batches = {split_batch}};
    if (devices == 2) layout.partition = {1};
    parts = prepare_step(context, perceptron(3, 12), {.optimizer = optimizer}, layout);
    parts->data.finish();
    context.commit();
    parts->data.reset();
  }

  void step() { Executor(parts->plan).run(); }

  [[nodiscard]] Numbers parameters() { return read(&Stage::TrainedParameter::master); }
  [[nodiscard]] Numbers gradients() { return read(&Stage::TrainedParameter::gradient); }
  [[nodiscard]] std::vector<float> factors() {
    std::vector<float> all;
    for (const auto& stage : parts->stages)
      all.push_back(parts->data.read(stage->update().factor()).front());
    return all;
  }
  [[nodiscard]] std::size_t bytes() const { return context.case_bytes(0); }
  [[nodiscard]] std::string wrong() const {
    const auto update =
        std::ranges::find(parts->checks, "sampled parameters after the update", &Check::what);
    return update->run().value_or("nothing");
  }
  [[nodiscard]] Numbers read(Tensor Stage::TrainedParameter::*which) {
    Numbers found;
    for (const auto& stage : parts->stages) {
      for (const Stage::TrainedParameter& parameter : stage->parameters()) {
        const std::vector<float> values = parts->data.read(parameter.*which);
        found[parameter.spec.name] = {values.begin(), values.end()};
      }
    }
    return found;
  }

  Context context;
  std::unique_ptr<TrainingStep> parts;
};

double norm_of(const Numbers& gradients) {
  double squares = 0;
  for (const auto& [name, values] : gradients) {
    for (const double value : values) squares += value * value;
  }
  return std::sqrt(squares);
}

/// One parameter's way through the steps, as the papers have it.
struct Element {
  double value = 0;
  double velocity = 0;
  double first = 0;
  double second = 0;

  void step(const Optimizer& optimizer, double gradient, int number) {
    const double rate = optimizer.learning_rate;
    if (!is_adam(optimizer.kind)) {
      velocity = (optimizer.kind == OptimizerKind::momentum ? 0.9 * velocity : 0) + gradient;
      value -= rate * velocity;
      return;
    }
    if (optimizer.kind == OptimizerKind::adamw) value -= rate * 0.01 * value;
    first = 0.9 * first + 0.1 * gradient;
    second = 0.999 * second + 0.001 * gradient * gradient;
    value -= rate * first / (1 - std::pow(0.9, number)) /
             (std::sqrt(second / (1 - std::pow(0.999, number))) + 1e-8);
  }
};

struct Optimizers : testing::TestWithParam<Optimizer> {
  void SetUp() override {
    if (Machine().find("cpu")->device_limit() < 2) GTEST_SKIP() << "needs two cores";
  }
};

TEST_P(Optimizers, FollowTheirDefinitionOverSeveralSteps) {
  for (const int devices : {1, 2}) {
    SCOPED_TRACE(devices);
    Training training(devices, GetParam());
    std::map<std::string, std::vector<Element>> want;
    for (const auto& [name, values] : training.parameters()) {
      for (const double value : values) want[name].push_back({.value = value});
    }
    for (int number = 1; number <= 3; ++number) {
      training.step();
      const Numbers gradients = training.gradients();
      const double norm = norm_of(gradients);
      const float max_norm = GetParam().max_norm;
      const double factor = max_norm > 0 ? std::min(1.0, max_norm / (norm + 1e-6)) : 1;
      for (const auto& [name, got] : training.parameters()) {
        for (std::size_t i = 0; i < got.size(); ++i) {
          want[name][i].step(GetParam(), factor * gradients.at(name)[i], number);
          ASSERT_NEAR(got[i], want[name][i].value, 2e-6 + 2e-3 * GetParam().learning_rate)
              << name << " " << i << " after step " << number;
        }
      }
    }
  }
}

TEST_P(Optimizers, BeginAnewAfterAReset) {
  Training training(2, GetParam());
  training.step();
  const Numbers after = training.parameters();
  training.step();
  EXPECT_NE(training.parameters(), after);
  training.parts->data.reset();
  training.step();
  EXPECT_EQ(training.parameters(), after);
}

TEST_P(Optimizers, OneUpdateIsCheckedAndTwoAreFound) {
  Training training(2, GetParam());
  training.step();
  EXPECT_EQ(training.wrong(), "nothing");
  training.step();
  EXPECT_THAT(training.wrong(), testing::HasSubstr("after the update"));
}

INSTANTIATE_TEST_SUITE_P(
    All, Optimizers,
    testing::Values(
        Optimizer{.learning_rate = 0.1F},
        Optimizer{.kind = OptimizerKind::momentum, .learning_rate = 0.1F},
        Optimizer{.kind = OptimizerKind::adam, .learning_rate = 0.01F},
        Optimizer{.kind = OptimizerKind::adamw, .learning_rate = 0.01F},
        Optimizer{.learning_rate = 0.1F, .max_norm = 0.01F},
        Optimizer{.kind = OptimizerKind::momentum, .learning_rate = 0.1F, .max_norm = 0.01F},
        Optimizer{.kind = OptimizerKind::adamw, .learning_rate = 0.01F, .max_norm = 0.01F}));

struct Clipping : Optimizers {};

TEST_F(Clipping, HasOneFactorForAllStagesWhichIsThatOfOneStage) {
  Training alone(1, {.max_norm = 0.01F});
  Training split(2, {.max_norm = 0.01F});
  alone.step();
  split.step();
  const double want = 0.01 / norm_of(split.gradients());
  ASSERT_LT(want, 0.9);
  ASSERT_EQ(split.factors().size(), 2U);
  EXPECT_EQ(split.factors()[0], split.factors()[1]);
  EXPECT_NEAR(split.factors()[0], want, 1e-4 * want);
  EXPECT_NEAR(alone.factors()[0], want, 1e-4 * want);
}

TEST_F(Clipping, UpdatesWaitForTheNormsOfOtherStages) {
  const Training training(2, {.max_norm = 0.01F});
  const Plan& plan = training.parts->plan;
  EXPECT_THAT(test::races(plan), testing::IsEmpty());
  for (const auto& [from, to] : {std::pair(0, 1), std::pair(1, 0)}) {
    const TaskId sent =
        test::task_named(plan, fmt::format("send squared norm, stage {} to {}", from, to));
    EXPECT_TRUE(
        test::is_ordered(plan, sent, test::task_named(plan, fmt::format("update, stage {}", to))));
  }
}

TEST_F(Clipping, LeavesGradientsBelowTheNormAlone) {
  Training training(2, {.max_norm = 1000});
  training.step();
  EXPECT_EQ(training.factors(), (std::vector<float>{1, 1}));
}

TEST_F(Clipping, AWrongFactorIsFound) {
  Training training(2, {.max_norm = 0.01F});
  training.step();
  ASSERT_EQ(training.wrong(), "nothing");
  const Tensor factor = training.parts->stages[1]->update().factor();
  *reinterpret_cast<float*>(factor.view.data()) *= 1.01F;
  EXPECT_THAT(training.wrong(), testing::HasSubstr("the clip factor on device 1"));
}

TEST(OptimizerMemory, StateIsPartOfTheCase) {
  const std::size_t plain = Training(1, {}).bytes();
  const std::size_t momentum = Training(1, {.kind = OptimizerKind::momentum}).bytes();
  const std::size_t adam = Training(1, {.kind = OptimizerKind::adam}).bytes();
  constexpr std::size_t width = 12;
  constexpr std::size_t weights = 3 * width * width * sizeof(float);
  EXPECT_GE(momentum, plain + weights);
  EXPECT_GE(adam, plain + 2 * weights);
}

TEST(OptimizerNames, AreThoseOfTheFlag) {
  EXPECT_EQ(optimizer_named("momentum"), OptimizerKind::momentum);
  EXPECT_THROW(static_cast<void>(optimizer_named("lion")), std::invalid_argument);
}

}  // namespace
}  // namespace parbench
