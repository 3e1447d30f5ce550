// Graphs and the bounds that follow from them, on hand-made schedules.
#include "scenarios/plan/bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <stdexcept>

namespace parbench {
namespace {

class Bounds : public ::testing::Test {
 protected:
  TaskId add(LaneId lane, std::vector<TaskId> after = {}) {
    return graph_.add_task({.name = "task", .lanes = {lane}, .after = std::move(after)});
  }

  PlanGraph graph_;
  LaneId a_ = graph_.add_lane({.name = "a", .device = "a"});
  LaneId b_ = graph_.add_lane({.name = "b", .device = "b"});
};

TEST_F(Bounds, GraphsRefuseLanesAndDependenciesThatDoNotExist) {
  EXPECT_THROW(add(2), std::invalid_argument);
  EXPECT_THROW(add(-1), std::invalid_argument);
  EXPECT_THROW(add(a_, {0}), std::invalid_argument);  // would be itself
  add(a_);
  EXPECT_THROW(add(a_, {-1}), std::invalid_argument);
  EXPECT_THROW(graph_.add_task({.name = "task", .lanes = {}}), std::invalid_argument);
  EXPECT_THROW(graph_.add_task({.name = "task", .lanes = {a_, a_}}), std::invalid_argument);
}

TEST_F(Bounds, IndependentTasksAreBoundByTheBusiestLane) {
  add(a_);
  add(a_);
  add(b_);
  const Bound bound = bound_of(graph_, {1.0, 2.0, 2.5});
  EXPECT_DOUBLE_EQ(bound.busiest_lane, 3.0);
  EXPECT_EQ(bound.busiest_lane_name, "a");
  EXPECT_DOUBLE_EQ(bound.critical_path, 2.5);
  EXPECT_DOUBLE_EQ(bound.seconds, 3.0);
}

TEST_F(Bounds, ChainAcrossLanesIsBoundByItsLength) {
  const TaskId first = add(a_);
  const TaskId second = add(b_, {first});
  add(a_, {second});
  const Bound bound = bound_of(graph_, {1.0, 2.0, 4.0});
  EXPECT_DOUBLE_EQ(bound.critical_path, 7.0);
  EXPECT_DOUBLE_EQ(bound.seconds, 7.0);
}

TEST_F(Bounds, PipelineIsBoundByItsSlowStageWithFillingAndDraining) {
  // Two micro-batches through two stages and back: a-b-b-a. Lane b works 2·(3+3); before its first
  // task a works 1, after its last at least 1.
  std::vector<TaskId> sent;
  for (int micro_batch = 0; micro_batch < 2; ++micro_batch) sent.push_back(add(b_, {add(a_)}));
  for (const TaskId forward : sent) add(a_, {add(b_, {forward})});
  std::vector<double> seconds;
  for (const Task& task : graph_.tasks) seconds.push_back(task.lanes.front() == a_ ? 1.0 : 3.0);
  const Bound bound = bound_of(graph_, seconds);
  EXPECT_DOUBLE_EQ(bound.busiest_lane, 12.0);
  EXPECT_DOUBLE_EQ(bound.one_machine, 14.0);
  EXPECT_DOUBLE_EQ(bound.critical_path, 8.0);
  EXPECT_DOUBLE_EQ(bound.seconds, 14.0);
}

TEST_F(Bounds, ScaledIsTheBoundOfScaledCosts) {
  const TaskId forward = add(b_, {add(a_)});
  add(a_, {forward});
  add(graph_.add_lane({.name = "c", .device = "c", .device_cores = 2}), {forward});
  const std::vector<double> costs{1.0, 2.0, 4.0, 7.0};
  std::vector<double> slower = costs;
  for (double& cost : slower) cost *= 4;  // exactly
  const Bound bound = bound_of(graph_, costs);
  EXPECT_GT(bound.busiest_device, 0);
  EXPECT_EQ(scaled(bound, 4), bound_of(graph_, slower));
}

TEST_F(Bounds, ShortTasksAtTheEndsDoNotHideFillingAndDraining) {
  const TaskId packed = add(b_);  // could run at once
  const TaskId forward = add(b_, {add(a_)});
  const TaskId back = add(b_, {forward});
  add(a_, {back});
  add(b_, {back});  // nothing follows it
  const Bound bound = bound_of(graph_, {0.1, 1.0, 5.0, 5.0, 2.0, 0.1});
  EXPECT_EQ(packed, 0);
  EXPECT_DOUBLE_EQ(bound.busiest_lane, 10.2);
  EXPECT_DOUBLE_EQ(bound.one_machine, 13.0);  // 1 before, 10 of the lane, 2 after
}

TEST_F(Bounds, LanesBeyondTheCoresShareThem) {
  for (int i = 0; i < 10; ++i)
    add(graph_.add_lane({.name = "share", .device = "c", .device_cores = 2}));
  const Bound bound = bound_of(graph_, std::vector<double>(10, 1.0));
  EXPECT_DOUBLE_EQ(bound.busiest_lane, 1.0);
  EXPECT_DOUBLE_EQ(bound.busiest_device, 5.0);
}

TEST_F(Bounds, OnlyLanesOnTheCoresOfADeviceShareThem) {
  const auto busiest_device = [](int copy_lane_cores) {
    PlanGraph graph;
    const LaneId compute = graph.add_lane({.name = "compute", .device = "c", .device_cores = 1});
    const LaneId copy = graph.add_lane(
        {.name = "copy", .device = "c", .kind = StreamKind::copy, .device_cores = copy_lane_cores});
    graph.add_task({.name = "task", .lanes = {compute}});
    graph.add_task({.name = "sum", .kind = TaskKind::communication, .lanes = {compute}});
    graph.add_task({.name = "send", .kind = TaskKind::communication, .lanes = {copy}});
    graph.add_task({.name = "copy", .kind = TaskKind::copy, .lanes = {copy}});
    return bound_of(graph, {1.0, 2.0, 4.0, 8.0}).busiest_device;
  };
  EXPECT_DOUBLE_EQ(busiest_device(1), 15.0);
  EXPECT_DOUBLE_EQ(busiest_device(0), 3.0) << "a spare core copies and sends";
}

/// The bound of a lane by its definition: the largest of all subsets of its tasks.
double one_machine_by_subsets(const PlanGraph& graph, LaneId lane,
                              const std::vector<double>& costs) {
  const std::vector<Task>& tasks = graph.tasks;
  std::vector<double> head(tasks.size());
  std::vector<double> tail(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    for (const TaskId b : tasks[i].after) head[i] = std::max(head[i], head[b] + costs[b]);
  }
  for (std::size_t i = tasks.size(); i-- > 0;) {
    for (const TaskId b : tasks[i].after) tail[b] = std::max(tail[b], tail[i] + costs[i]);
  }
  double max = 0;
  for (std::size_t subset = 1; subset < std::size_t{1} << tasks.size(); ++subset) {
    double earliest = std::numeric_limits<double>::infinity();
    double tail_min = std::numeric_limits<double>::infinity();
    double work = 0;
    bool on_lane = true;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if ((subset >> i & 1U) == 0) continue;
      on_lane = on_lane && runs_on(tasks[i], lane);
      earliest = std::min(earliest, head[i]);
      tail_min = std::min(tail_min, tail[i]);
      work += costs[i];
    }
    if (on_lane) max = std::max(max, earliest + work + tail_min);
  }
  return max;
}

TEST_F(Bounds, TheBoundOfALaneIsThatOfItsWorstSubset) {
  std::mt19937 generator(1);
  const auto below = [&](std::size_t limit) { return generator() % limit; };
  for (int instance = 0; instance < 200; ++instance) {
    PlanGraph graph;
    const LaneId a = graph.add_lane({.name = "a", .device = "a"});
    const LaneId b = graph.add_lane({.name = "b", .device = "b"});
    std::vector<double> costs;
    for (std::size_t i = 0; i < 9; ++i) {
      Task task{.name = "task", .lanes = {below(2) == 0 ? a : b}};
      for (std::size_t edge = 0; i > 0 && edge < below(3); ++edge) {
        task.after.push_back(static_cast<TaskId>(below(i)));
      }
      graph.add_task(std::move(task));
      costs.push_back(static_cast<double>(below(8)));  // whole numbers: sums are exact
    }
    const double expected =
        std::max(one_machine_by_subsets(graph, a, costs), one_machine_by_subsets(graph, b, costs));
    EXPECT_EQ(bound_of(graph, costs).one_machine, expected) << "instance " << instance;
  }
}

// With steps in the square of the tasks this takes minutes.
TEST_F(Bounds, ManyTasksThatAllEndDifferently) {
  constexpr int count = 300'000;
  std::vector<TaskId> before;
  for (int i = 0; i < count; ++i) before = {add(i % 2 == 0 ? a_ : b_, before)};
  const Bound bound = bound_of(graph_, std::vector<double>(count, 1.0));
  EXPECT_EQ(bound.one_machine, count);
  EXPECT_EQ(bound.critical_path, count);
}

TEST_F(Bounds, BoundNeedsOneTimePerTask) {
  add(a_);
  EXPECT_THAT([&] { static_cast<void>(bound_of(graph_, {})); },
              ::testing::ThrowsMessage<std::invalid_argument>("a bound needs one cost per task"));
  EXPECT_THROW(static_cast<void>(bound_of(graph_, {1.0, 1.0})), std::invalid_argument);
}

}  // namespace
}  // namespace parbench
