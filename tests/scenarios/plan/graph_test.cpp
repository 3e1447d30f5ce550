// Building graphs: what is refused, and what is read from them.
#include "scenarios/plan/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace parbench {
namespace {

using ::testing::ElementsAre;
using ::testing::ThrowsMessage;

class Graph : public ::testing::Test {
 protected:
  auto adding(std::vector<LaneId> lanes, std::vector<TaskId> after = {}) {
    return
        [this, task = Task{.name = "sum", .lanes = std::move(lanes), .after = std::move(after)}] {
          graph_.add_task(task);
        };
  }

  PlanGraph graph_;
  LaneId a_ = graph_.add_lane({.name = "a/1", .device = "a"});
  LaneId b_ = graph_.add_lane({.name = "b/1", .device = "b"});
  LaneId c_ = graph_.add_lane({.name = "a/2", .device = "a"});
};

TEST_F(Graph, NamesTheTaskThatItRefuses) {
  using Refused = std::invalid_argument;
  EXPECT_THAT(adding({}), ThrowsMessage<Refused>("task sum has no lane"));
  EXPECT_THAT(adding({3}), ThrowsMessage<Refused>("task sum: lane 3 does not exist; there are 3"));
  EXPECT_THAT(adding({0, -1}),
              ThrowsMessage<Refused>("task sum: lane -1 does not exist; there are 3"));
  EXPECT_THAT(adding({c_, b_, c_}), ThrowsMessage<Refused>("task sum names a lane twice"));
  EXPECT_THAT(adding({a_}, {0}),
              ThrowsMessage<Refused>("task sum: earlier task 0 does not exist; there are 0"));
  EXPECT_TRUE(graph_.tasks.empty());
}

TEST_F(Graph, NumbersLanesAndTasksInTheirOrder) {
  EXPECT_THAT((std::vector{a_, b_, c_}), ElementsAre(0, 1, 2));
  EXPECT_EQ(graph_.add_task({.name = "0", .lanes = {c_}}), 0);
  EXPECT_EQ(graph_.add_task({.name = "1", .lanes = {b_, c_}, .after = {0}}), 1);
  EXPECT_TRUE(runs_on(graph_.tasks[1], b_));
  EXPECT_TRUE(runs_on(graph_.tasks[1], c_));
  EXPECT_FALSE(runs_on(graph_.tasks[1], a_));
}

TEST_F(Graph, HasTheWorkOfAllTasks) {
  graph_.add_task({.name = "0", .lanes = {a_}, .work = {.flops = 1, .bytes = 2, .seconds = 4}});
  graph_.add_task({.name = "1", .lanes = {b_}, .work = {.flops = 8, .bytes = 16, .seconds = 32}});
  EXPECT_EQ(graph_.work(), (Work{.flops = 9, .bytes = 18, .seconds = 36}));
}

TEST_F(Graph, HasEachDeviceOnceInTheOrderOfTheLanes) {
  EXPECT_THAT(graph_.devices(), ElementsAre("a", "b"));
}

TEST(Names, AreThoseOfReports) {
  EXPECT_EQ(name_of(TaskKind::compute), "compute");
  EXPECT_EQ(name_of(TaskKind::copy), "copy");
  EXPECT_EQ(name_of(TaskKind::communication), "communication");
  EXPECT_EQ(name_of(SubmitMode::one_thread), "one-thread");
  EXPECT_EQ(name_of(SubmitMode::thread_per_lane), "thread-per-lane");
  EXPECT_EQ(name_of(SubmitMode::graph), "graph");
}

}  // namespace
}  // namespace parbench
