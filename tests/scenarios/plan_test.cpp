// Plans and the bounds that follow from them, on hand-made schedules.
#include "scenarios/plan.h"

#include <gtest/gtest.h>

#include "tests/scenarios/fake_device.h"

namespace parbench {
namespace {

class PlanTest : public ::testing::Test {
 protected:
  TaskId add(LaneId lane, std::vector<TaskId> after = {}) {
    return plan_.add({.name = "task", .lane = lane, .calls = {}, .after = std::move(after)});
  }

  test::FakeDevice device_{0};
  std::unique_ptr<Stream> stream_ = device_.make_stream(StreamKind::compute, 0, 1);
  Plan plan_;
  LaneId a_ = plan_.add_lane("a", *stream_);
  LaneId b_ = plan_.add_lane("b", *stream_);
};

TEST_F(PlanTest, RefusesLanesAndDependenciesThatDoNotExist) {
  EXPECT_THROW(add(2), std::invalid_argument);
  EXPECT_THROW(add(-1), std::invalid_argument);
  EXPECT_THROW(add(a_, {0}), std::invalid_argument);  // would be itself
  add(a_);
  EXPECT_THROW(add(a_, {-1}), std::invalid_argument);
}

TEST_F(PlanTest, IndependentTasksAreBoundByTheBusiestLane) {
  add(a_);
  add(a_);
  add(b_);
  const Bound bound = bound_of(plan_, {1.0, 2.0, 2.5});
  EXPECT_DOUBLE_EQ(bound.busiest_lane, 3.0);
  EXPECT_EQ(bound.busiest_lane_name, "a");
  EXPECT_DOUBLE_EQ(bound.critical_path, 2.5);
  EXPECT_DOUBLE_EQ(bound.seconds(), 3.0);
}

TEST_F(PlanTest, ChainAcrossLanesIsBoundByItsLength) {
  const TaskId first = add(a_);
  const TaskId second = add(b_, {first});
  add(a_, {second});
  const Bound bound = bound_of(plan_, {1.0, 2.0, 4.0});
  EXPECT_DOUBLE_EQ(bound.critical_path, 7.0);
  EXPECT_DOUBLE_EQ(bound.seconds(), 7.0);
}

TEST_F(PlanTest, PipelineIsBoundByItsSlowStageWithFillingAndDraining) {
  // Two chunks through two stages and back: a-b-b-a. Lane b works 2·(3+3); before its first task a
  // works 1, after its last at least 1.
  std::vector<TaskId> sent;
  for (int chunk = 0; chunk < 2; ++chunk) sent.push_back(add(b_, {add(a_)}));
  for (const TaskId forward : sent) add(a_, {add(b_, {forward})});
  std::vector<double> seconds;
  for (const Task& task : plan_.tasks()) seconds.push_back(task.lane == a_ ? 1.0 : 3.0);
  const Bound bound = bound_of(plan_, seconds);
  EXPECT_DOUBLE_EQ(bound.busiest_lane, 12.0);
  EXPECT_DOUBLE_EQ(bound.lane_with_ends, 14.0);
  EXPECT_DOUBLE_EQ(bound.critical_path, 8.0);
  EXPECT_DOUBLE_EQ(bound.seconds(), 14.0);
}

TEST_F(PlanTest, BoundNeedsOneTimePerTask) {
  add(a_);
  EXPECT_THROW(static_cast<void>(bound_of(plan_, {})), std::invalid_argument);
}

}  // namespace
}  // namespace parbench
