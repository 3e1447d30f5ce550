// Simulated timelines against closed forms and against the definition of list scheduling.
#include "scenarios/plan/simulate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "scenarios/plan/bounds.h"
#include "scenarios/plan/costs.h"
#include "scenarios/plan/metrics.h"
#include "scenarios/plan/schedules/schedule.h"

namespace parbench {
namespace {

using ::testing::ThrowsMessage;

/// The tasks of a pipeline without communication: forward and backward of each micro-batch on the
/// lane of each stage.
struct Pipeline {
  PlanGraph graph;
  std::vector<double> costs;
};

Pipeline pipeline(const Schedule& schedule, double forward, double backward) {
  Pipeline made;
  for (std::size_t stage = 0; stage < schedule.size(); ++stage) {
    const std::string name = "device " + std::to_string(stage);
    made.graph.add_lane({.name = name, .device = name});
  }
  const auto last = static_cast<int>(schedule.size()) - 1;
  std::map<std::tuple<Pass, int, int>, TaskId> tasks;
  for (const Action& action : in_dependency_order(schedule)) {
    const int stage = action.stage;
    Task task{.name = "task", .lanes = {stage}};
    const bool is_forward = action.pass == Pass::forward;
    if (is_forward && stage > 0) {
      task.after = {tasks.at({Pass::forward, stage - 1, action.micro_batch})};
    }
    if (!is_forward) task.after = {tasks.at({Pass::forward, stage, action.micro_batch})};
    if (!is_forward && stage < last) {
      task.after.push_back(tasks.at({Pass::backward, stage + 1, action.micro_batch}));
    }
    tasks[{action.pass, stage, action.micro_batch}] = made.graph.add_task(std::move(task));
    made.costs.push_back(is_forward ? forward : backward);
  }
  return made;
}

class PipelineSchedules : public ::testing::TestWithParam<std::tuple<std::string, int, int>> {};

TEST_P(PipelineSchedules, TakeTheTimeOfTheClosedForm) {
  const auto& [name, stages, micro_batches] = GetParam();
  const double forward = 1e-3;
  const double backward = 2e-3;
  const Pipeline made = pipeline(schedule_named(name, stages, micro_batches), forward, backward);
  const Timeline timeline = simulate(made.graph, made.costs);
  const int rounds = micro_batches + stages - 1;
  EXPECT_EQ(timeline.length(), rounds * (nanoseconds_of(forward) + nanoseconds_of(backward)));
  const TimelineMetrics metrics = metrics_of(timeline);
  EXPECT_DOUBLE_EQ(metrics.bubble_ratio.of_total, (stages - 1.0) / rounds);
  EXPECT_DOUBLE_EQ(metrics.bubble_ratio.of_busy, (stages - 1.0) / micro_batches);
}

TEST_P(PipelineSchedules, ReachTheirBound) {
  const auto& [name, stages, micro_batches] = GetParam();
  const Pipeline made = pipeline(schedule_named(name, stages, micro_batches), 1e-3, 2e-3);
  EXPECT_NEAR(bound_of(made.graph, made.costs).seconds,
              seconds_of(simulate(made.graph, made.costs).length()), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Closed, PipelineSchedules,
                         ::testing::Combine(::testing::Values("gpipe", "reversed", "1f1b"),
                                            ::testing::Values(1, 2, 3, 4, 8),
                                            ::testing::Values(1, 2, 5, 16)));

TEST(Simulate, ACollectiveBeginsOnAllItsLanesTogether) {
  PlanGraph graph;
  const LaneId a = graph.add_lane({.name = "a", .device = "a"});
  const LaneId b = graph.add_lane({.name = "b", .device = "b"});
  graph.add_task({.name = "compute", .lanes = {a}, .work = {.flops = 1}});
  graph.add_task(
      {.name = "sum", .kind = TaskKind::communication, .lanes = {b, a}, .work = {.bytes = 8}});
  graph.add_task({.name = "update", .lanes = {b}});
  const Timeline timeline = simulate(graph, {3e-9, 2e-9, 1e-9});
  ASSERT_EQ(timeline.calls.size(), 4U);
  EXPECT_EQ(timeline.calls[0].work, (Work{.flops = 1}));
  EXPECT_EQ(timeline.calls[1].ran, (TimeSpan{3, 5}));
  EXPECT_EQ(timeline.calls[1].work, (Work{.bytes = 8}));
  EXPECT_EQ(timeline.calls[2].ran, (TimeSpan{3, 5}));
  EXPECT_TRUE(timeline.calls[2].work.empty()) << "counted on its first lane";
  EXPECT_EQ(timeline.calls[3].ran, (TimeSpan{5, 6}));
}

TEST(Simulate, StartsEveryTaskAsSoonAsItsLanesAndDependenciesAllow) {
  std::mt19937 generator(3);
  const auto below = [&](std::size_t limit) { return static_cast<int>(generator() % limit); };
  for (int instance = 0; instance < 200; ++instance) {
    PlanGraph graph;
    for (const char* name : {"a", "b", "c"}) graph.add_lane({.name = name, .device = name});
    std::vector<double> costs;
    for (std::size_t i = 0; i < 12; ++i) {
      Task task{.name = "task", .lanes = {below(3)}};
      if (below(4) == 0) task.lanes.push_back((task.lanes.front() + 1) % 3);
      for (int edge = below(3); i > 0 && edge > 0; --edge) task.after.push_back(below(i));
      graph.add_task(std::move(task));
      costs.push_back(below(8) * 1e-9);
    }
    const Timeline timeline = simulate(graph, costs);
    std::vector<TimeSpan> ran(graph.tasks.size());
    for (const TimedCall& call : timeline.calls)
      ran[static_cast<std::size_t>(call.task)] = call.ran;
    for (std::size_t i = 0; i < ran.size(); ++i) {
      Nanoseconds possible = 0;
      for (const TaskId before : graph.tasks[i].after) {
        possible = std::max(possible, ran[static_cast<std::size_t>(before)].end);
      }
      for (std::size_t other = 0; other < i; ++other) {
        const bool shares = std::ranges::any_of(
            graph.tasks[i].lanes, [&](LaneId lane) { return runs_on(graph.tasks[other], lane); });
        if (shares) possible = std::max(possible, ran[other].end);
      }
      EXPECT_EQ(ran[i].begin, possible) << "instance " << instance << ", task " << i;
      EXPECT_EQ(ran[i].length(), nanoseconds_of(costs[i]));
    }
    EXPECT_GE(seconds_of(timeline.length()) + 1e-15, bound_of(graph, costs).critical_path);
    EXPECT_GE(seconds_of(timeline.length()) + 1e-15, bound_of(graph, costs).one_machine);
  }
}

TEST(Simulate, RefusesCostsThatAreNone) {
  PlanGraph graph;
  graph.add_lane({.name = "a", .device = "a"});
  graph.add_task({.name = "task", .lanes = {0}});
  using Refused = std::invalid_argument;
  EXPECT_THAT([&] { (void)simulate(graph, {}); },
              ThrowsMessage<Refused>("0 costs for a plan of 1 tasks; give one per task"));
  EXPECT_THROW((void)simulate(graph, {1, 1}), Refused);
  EXPECT_THROW((void)simulate(graph, {std::numeric_limits<double>::infinity()}), Refused);
  EXPECT_THAT([&] { (void)simulate(graph, {-1}); },
              ThrowsMessage<Refused>("task task costs -1 s; a cost is finite and not negative"));
  EXPECT_THROW((void)simulate(graph, {std::numeric_limits<double>::quiet_NaN()}),
               std::invalid_argument);
  EXPECT_EQ(simulate(graph, {0}).length(), 0);
}

TEST(EstimatedCosts, AreThoseOfTheSlowerOfComputingAndMoving) {
  PlanGraph graph;
  graph.add_lane({.name = "a", .device = "a"});
  graph.add_lane({.name = "b", .device = "b"});
  graph.add_task({.name = "compute", .lanes = {0}, .work = {.flops = 6, .bytes = 1}});
  graph.add_task({.name = "move", .lanes = {0}, .work = {.flops = 1, .bytes = 8}});
  graph.add_task({.name = "sum", .lanes = {1, 0}, .work = {.bytes = 8}});
  graph.add_task({.name = "spin", .lanes = {1}, .work = {.bytes = 8, .seconds = 5}});
  const std::vector<Roofline> lanes{{.flops_per_second = 3, .bytes_per_second = 2},
                                    {.flops_per_second = 3, .bytes_per_second = 4}};
  EXPECT_THROW((void)estimated_costs(graph, {lanes[0], lanes[1], lanes[1]}), std::invalid_argument);
  EXPECT_EQ(estimated_costs(graph, lanes), (std::vector<double>{2, 4, 1, 7}));
  EXPECT_THAT([&] { (void)estimated_costs(graph, {}); },
              ThrowsMessage<std::invalid_argument>("estimated costs need one roofline per lane"));
}

}  // namespace
}  // namespace parbench
