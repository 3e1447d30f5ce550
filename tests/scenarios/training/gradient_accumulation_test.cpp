// The reference of a pipelined step, on one device and shared out between two.
#include <gtest/gtest.h>

#include <algorithm>

#include "bench/execution/executor.h"
#include "bench/execution/verification.h"
#include "kernels/machine/machine.h"
#include "scenarios/models/models.h"
#include "scenarios/training/question/in_turn.h"
#include "scenarios/training/step/training_step.h"
#include "tests/support/cpu_devices.h"

namespace parbench {
namespace {

struct Step {
  explicit Step(int devices) : context(test::cpu_devices(devices), Context::Options{.seed = 5}) {}

  OutputValues run(const Network& network, const std::vector<std::int64_t>& micro_batches) {
    context.begin_case();
    parts = prepare_step(context, network, {}, in_turn(context, {micro_batches}));
    parts->data.finish();
    context.commit();
    parts->data.reset();
    Executor(parts->plan).run();
    OutputValues values;
    for (const Output& output : parts->outputs) values[output.name] = output.read();
    return values;
  }

  Context context;
  std::unique_ptr<TrainingStep> parts;
};

struct GradientAccumulation : testing::Test {
  void SetUp() override {
    if (Machine().find("cpu")->device_limit() < 2) GTEST_SKIP() << "needs two cores";
  }
};

TEST_F(GradientAccumulation, HaveTheSameSumsOnOneDeviceAndOnTwo) {
  const Network network = resnet(50, 32);
  const std::vector<std::int64_t> micro_batches = {2, 2, 3};
  Step alone(1);
  const OutputValues want = alone.run(network, micro_batches);
  EXPECT_EQ(alone.parts->stages.size(), 1U);
  Step shared(2);
  const OutputValues got = shared.run(network, micro_batches);
  ASSERT_EQ(shared.parts->stages.size(), 2U);
  EXPECT_EQ(shared.parts->stages[1]->device(), 1);
  EXPECT_EQ(shared.parts->plan.graph().lanes.size(), 2U);
  const report::Verification verdict = compare(as_outputs(got), want, tolerance_of({DType::f32}));
  EXPECT_TRUE(verdict.passed) << verdict.detail;
  for (const Check& check : shared.parts->checks) EXPECT_EQ(check.run(), std::nullopt);
}

TEST_F(GradientAccumulation, OfAPerceptronAreCheckedByTheSum) {
  const Network network = toy_model();
  Step shared(2);
  (void)shared.run(network, {3, 3, 1});
  ASSERT_EQ(shared.parts->stages.size(), 2U);
  ASSERT_EQ(shared.parts->checks.size(), 1U);
  EXPECT_EQ(shared.parts->checks.front().run(), std::nullopt);
  const auto loss = std::ranges::find(shared.parts->outputs, loss_output, &Output::name);
  ASSERT_NE(loss, shared.parts->outputs.end());
  loss->read = [] { return std::vector<float>{1000.0F}; };
  EXPECT_NE(shared.parts->checks.front().run(), std::nullopt) << "a part of the loss passes";
}

TEST_F(GradientAccumulation, LeaveADeviceOutThatNoMicroBatchBeginsOn) {
  const Network network = toy_model();
  Step shared(2);
  (void)shared.run(network, {6, 1});
  EXPECT_EQ(shared.parts->stages.size(), 2U);
  Step whole(2);
  (void)whole.run(network, {7});
  EXPECT_EQ(whole.parts->stages.size(), 1U);
}

}  // namespace
}  // namespace parbench
