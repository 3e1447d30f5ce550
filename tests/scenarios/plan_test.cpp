// Plans and the bounds that follow from them, on hand-made schedules.
#include "scenarios/framework/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "tests/scenarios/fake_device.h"

namespace parbench {
namespace {

class PlanTest : public ::testing::Test {
 protected:
  TaskId add(LaneId lane, std::vector<TaskId> after = {}) {
    return plan_.add({.name = "task", .lane = lane, .calls = {}, .after = std::move(after)});
  }

  test::FakeDevice device_{0};
  test::FakeDevice other_{1};
  std::unique_ptr<Stream> stream_ = device_.make_stream(StreamKind::compute, 0, 1);
  std::unique_ptr<Stream> other_stream_ = other_.make_stream(StreamKind::compute, 0, 1);
  std::vector<std::unique_ptr<Stream>> shares_ = [this] {
    std::vector<std::unique_ptr<Stream>> streams;
    for (int i = 0; i < 10; ++i) {
      streams.push_back(device_.make_stream(StreamKind::compute, i, 10));
    }
    return streams;
  }();
  Plan plan_;
  LaneId a_ = plan_.add_lane("a", *stream_);
  LaneId b_ = plan_.add_lane("b", *other_stream_);
};

TEST_F(PlanTest, RefusesLanesAndDependenciesThatDoNotExist) {
  EXPECT_THROW(add(2), std::invalid_argument);
  EXPECT_THROW(add(-1), std::invalid_argument);
  EXPECT_THROW(add(a_, {0}), std::invalid_argument);  // would be itself
  add(a_);
  EXPECT_THROW(add(a_, {-1}), std::invalid_argument);
}

TEST_F(PlanTest, CopiesRunOnTheSendersLaneUnlessOnlyTheReceiverReachesBothEnds) {
  test::FakeDevice host(2, 2, {}, "host");
  host.set_host_memory();
  const auto stream = host.make_stream(StreamKind::copy, 0, 1);
  const LaneId on_host = plan_.add_lane("host", *stream);
  EXPECT_EQ(copying_lane(plan_, a_, b_), a_) << "devices of one backend";
  EXPECT_EQ(copying_lane(plan_, b_, a_), b_);
  EXPECT_EQ(copying_lane(plan_, a_, on_host), a_);
  EXPECT_EQ(copying_lane(plan_, on_host, a_), a_) << "the host reaches only its own memory";
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

TEST_F(PlanTest, ShortTasksAtTheEndsDoNotHideFillingAndDraining) {
  const TaskId packed = add(b_);  // could run at once
  const TaskId forward = add(b_, {add(a_)});
  const TaskId back = add(b_, {forward});
  add(a_, {back});
  add(b_, {back});  // nothing follows it
  const Bound bound = bound_of(plan_, {0.1, 1.0, 5.0, 5.0, 2.0, 0.1});
  EXPECT_EQ(packed, 0);
  EXPECT_DOUBLE_EQ(bound.busiest_lane, 10.2);
  EXPECT_DOUBLE_EQ(bound.lane_with_ends, 13.0);  // 1 before, 10 of the lane, 2 after
}

TEST_F(PlanTest, LanesBeyondTheCoresShareThem) {
  // The fake device has two cores; ten lanes of one thread each would otherwise look like ten
  // cores.
  for (int i = 0; i < 10; ++i) {
    add(plan_.add_lane("share", *shares_[static_cast<std::size_t>(i)]));
  }
  const Bound bound = bound_of(plan_, std::vector<double>(10, 1.0));
  EXPECT_DOUBLE_EQ(bound.busiest_lane, 1.0);
  EXPECT_DOUBLE_EQ(bound.busiest_device, 5.0);
}

TEST_F(PlanTest, CopyLanesCountForTheCoresThatTheyRunOn) {
  const auto bound_with = [](std::vector<int> copy_cores) {
    test::FakeDevice device(0, 1, std::move(copy_cores));
    const auto compute = device.make_stream(StreamKind::compute, 0, 1);
    const auto copy = device.make_stream(StreamKind::copy, 0, 1);
    Plan plan;
    const LaneId products = plan.add_lane("compute", *compute);
    const LaneId copies = plan.add_lane("copy", *copy, StreamKind::copy);
    const auto add = [&](LaneId lane, TaskKind kind) {
      plan.add({.name = "task", .lane = lane, .calls = {}, .kind = kind});
    };
    add(products, TaskKind::compute);
    add(products, TaskKind::communication);  // the addition of a collective
    add(copies, TaskKind::communication);    // what it sends
    add(copies, TaskKind::copy);
    return bound_of(plan, {1.0, 2.0, 4.0, 8.0}).busiest_device;
  };
  EXPECT_DOUBLE_EQ(bound_with({}), 15.0);
  EXPECT_DOUBLE_EQ(bound_with({1}), 3.0) << "a spare core copies and sends";
}

/// The bound of a lane by its definition: the largest of all subsets of its tasks.
double with_ends_by_subsets(const Plan& plan, LaneId lane, const std::vector<double>& seconds) {
  const std::vector<Task>& tasks = plan.tasks();
  std::vector<double> head(tasks.size());
  std::vector<double> tail(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    for (const TaskId b : tasks[i].after) head[i] = std::max(head[i], head[b] + seconds[b]);
  }
  for (std::size_t i = tasks.size(); i-- > 0;) {
    for (const TaskId b : tasks[i].after) tail[b] = std::max(tail[b], tail[i] + seconds[i]);
  }
  double most = 0;
  for (std::size_t subset = 1; subset < std::size_t{1} << tasks.size(); ++subset) {
    double earliest = std::numeric_limits<double>::infinity();
    double least = std::numeric_limits<double>::infinity();
    double work = 0;
    bool on_lane = true;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if ((subset >> i & 1U) == 0) continue;
      on_lane = on_lane && tasks[i].lane == lane;
      earliest = std::min(earliest, head[i]);
      least = std::min(least, tail[i]);
      work += seconds[i];
    }
    if (on_lane) most = std::max(most, earliest + work + least);
  }
  return most;
}

TEST_F(PlanTest, TheBoundOfALaneIsThatOfItsWorstSubset) {
  std::mt19937 generator(1);
  const auto below = [&](std::size_t limit) { return generator() % limit; };
  for (int instance = 0; instance < 200; ++instance) {
    Plan plan;
    const LaneId a = plan.add_lane("a", *stream_);
    const LaneId b = plan.add_lane("b", *other_stream_);
    std::vector<double> seconds;
    for (std::size_t i = 0; i < 9; ++i) {
      Task task{.name = "task", .lane = below(2) == 0 ? a : b, .calls = {}};
      for (std::size_t edge = 0; i > 0 && edge < below(3); ++edge) {
        task.after.push_back(static_cast<TaskId>(below(i)));
      }
      plan.add(std::move(task));
      seconds.push_back(static_cast<double>(below(8)));  // whole numbers: sums are exact
    }
    const double expected =
        std::max(with_ends_by_subsets(plan, a, seconds), with_ends_by_subsets(plan, b, seconds));
    EXPECT_EQ(bound_of(plan, seconds).lane_with_ends, expected) << "instance " << instance;
  }
}

// With steps in the square of the tasks this takes minutes.
TEST_F(PlanTest, ManyTasksThatAllEndDifferently) {
  constexpr int count = 300'000;
  std::vector<TaskId> before;
  for (int i = 0; i < count; ++i) before = {add(i % 2 == 0 ? a_ : b_, before)};
  const Bound bound = bound_of(plan_, std::vector<double>(count, 1.0));
  EXPECT_EQ(bound.lane_with_ends, count);
  EXPECT_EQ(bound.critical_path, count);
}

TEST_F(PlanTest, BoundNeedsOneTimePerTask) {
  add(a_);
  EXPECT_THROW(static_cast<void>(bound_of(plan_, {})), std::invalid_argument);
}

}  // namespace
}  // namespace parbench
