// Pipeline schedules and balanced partitions.
#include "scenarios/plan/schedules/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "scenarios/plan/schedules/partition.h"

namespace parbench {
namespace {

using ::testing::ThrowsMessage;

class EverySchedule : public ::testing::TestWithParam<std::tuple<std::string, int, int>> {};

TEST_P(EverySchedule, DoesEveryMicroBatchOnceAndInAnOrderThatCanRun) {
  const auto& [name, stages, micro_batches] = GetParam();
  const Schedule schedule = schedule_named(name, stages, micro_batches);
  ASSERT_EQ(schedule.size(), static_cast<std::size_t>(stages));
  for (const auto& actions : schedule) {
    std::set<std::pair<Pass, int>> done;
    for (const Action& action : actions) {
      EXPECT_TRUE(done.insert({action.pass, action.micro_batch}).second);
      if (action.pass == Pass::backward) {
        EXPECT_TRUE(done.contains({Pass::forward, action.micro_batch}));
      }
    }
    EXPECT_EQ(done.size(), static_cast<std::size_t>(2 * micro_batches));
  }
  EXPECT_EQ(in_dependency_order(schedule).size(),
            static_cast<std::size_t>(2 * micro_batches * stages));
}

INSTANTIATE_TEST_SUITE_P(Schedules, EverySchedule,
                         ::testing::Combine(::testing::Values("gpipe", "1f1b", "one-at-a-time"),
                                            ::testing::Values(1, 2, 3, 8),
                                            ::testing::Values(1, 2, 5, 16)));

/// The same actions of every stage.
Schedule of_stages(int stages, const std::vector<std::pair<Pass, int>>& passes) {
  Schedule schedule(static_cast<std::size_t>(stages));
  for (int stage = 0; stage < stages; ++stage) {
    for (const auto& [pass, micro_batch] : passes) {
      schedule[static_cast<std::size_t>(stage)].push_back({pass, stage, micro_batch});
    }
  }
  return schedule;
}

TEST(Schedule, OneForwardOneBackwardAlternatesOnceFull) {
  using enum Pass;
  EXPECT_EQ(one_forward_one_backward(2, 3), (Schedule{{{forward, 0, 0},
                                                       {forward, 0, 1},
                                                       {backward, 0, 0},
                                                       {forward, 0, 2},
                                                       {backward, 0, 1},
                                                       {backward, 0, 2}},
                                                      {{forward, 1, 0},
                                                       {backward, 1, 0},
                                                       {forward, 1, 1},
                                                       {backward, 1, 1},
                                                       {forward, 1, 2},
                                                       {backward, 1, 2}}}));
}

TEST(Schedule, GPipeReturnsInTheOppositeOrder) {
  using enum Pass;
  EXPECT_EQ(gpipe(3, 2), of_stages(3, {{forward, 0}, {forward, 1}, {backward, 1}, {backward, 0}}));
}

TEST(Schedule, OneAtATimeEndsAMicroBatchBeforeItBeginsTheNext) {
  using enum Pass;
  EXPECT_EQ(one_at_a_time(3, 2),
            of_stages(3, {{forward, 0}, {backward, 0}, {forward, 1}, {backward, 1}}));
}

TEST(Schedule, StagesTakeTurnsInTheOrderOfDependencies) {
  using enum Pass;
  EXPECT_EQ(in_dependency_order(gpipe(2, 2)), (std::vector<Action>{{forward, 0, 0},
                                                                   {forward, 1, 0},
                                                                   {forward, 0, 1},
                                                                   {forward, 1, 1},
                                                                   {backward, 1, 1},
                                                                   {backward, 0, 1},
                                                                   {backward, 1, 0},
                                                                   {backward, 0, 0}}));
}

TEST(Schedule, OneThatWaitsForItselfIsRefused) {
  using enum Pass;
  const Schedule stuck = {{{forward, 0, 0}, {backward, 0, 0}, {forward, 0, 1}, {backward, 0, 1}},
                          {{forward, 1, 0}, {forward, 1, 1}, {backward, 1, 0}, {backward, 1, 1}}};
  EXPECT_THAT([&] { static_cast<void>(in_dependency_order(stuck)); },
              ThrowsMessage<std::logic_error>("this schedule waits for itself"));
  EXPECT_THAT(
      [] {
        static_cast<void>(in_dependency_order({{{gather, 0, 0}, {forward, 0, 0}}}));
      },
      ThrowsMessage<std::invalid_argument>(
          "the dependencies of this kind of action are not known"));
  EXPECT_THAT([] { static_cast<void>(schedule_named("zigzag", 2, 2)); },
              ThrowsMessage<std::invalid_argument>("unknown schedule zigzag"));
}

std::vector<int> alike_partition(const std::vector<double>& unit_seconds, std::size_t stages) {
  return balanced_partition({.units = std::vector(stages, unit_seconds)});
}

TEST(BalancedPartition, MakesTheSlowestStageAsFastAsItCanBe) {
  EXPECT_EQ(alike_partition({1, 1, 1, 1}, 2), (std::vector<int>{2}));
  EXPECT_EQ(alike_partition({5, 1, 1, 1}, 2), (std::vector<int>{1}));
  EXPECT_EQ(alike_partition({1, 2, 3, 4, 5, 6, 7}, 3), (std::vector<int>{4, 6}));  // 10, 11, 7
  EXPECT_EQ(alike_partition({1, 2}, 1), (std::vector<int>{}));
  EXPECT_EQ(alike_partition({1, 2, 3}, 3), (std::vector<int>{1, 2}));
  EXPECT_THAT(
      [] {
        static_cast<void>(alike_partition({1, 2}, 3));
      },
      ThrowsMessage<std::invalid_argument>("2 units cannot be divided into 3 stages"));
  EXPECT_THROW(static_cast<void>(balanced_partition({})), std::invalid_argument);
}

TEST(BalancedPartition, GivesTheFasterDeviceMore) {
  const std::vector<double> slow = {4, 4, 4, 4, 4};
  const std::vector<double> fast = {1, 1, 1, 1, 1};
  EXPECT_EQ(balanced_partition({.units = {slow, fast}}), (std::vector<int>{1}));
  EXPECT_EQ(balanced_partition({.units = {fast, slow}}), (std::vector<int>{4}));
}

TEST(BalancedPartition, CountsTheCopiesOfACutOnBothOfItsSides) {
  const std::vector<double> units = {3, 1, 1, 3};
  const auto with_cuts = [&](const std::vector<double>& cuts, std::size_t stages) {
    return balanced_partition({.units = std::vector(stages, units), .cuts = cuts});
  };
  EXPECT_EQ(with_cuts({0, 1, 1, 1}, 2), (std::vector<int>{2})) << "all cuts cost the same";
  EXPECT_EQ(with_cuts({0, 0.5, 2, 2}, 2), (std::vector<int>{1})) << "5.5 instead of 6";
  EXPECT_EQ(with_cuts({0, 1, 0.5, 3}, 3), (std::vector<int>{1, 2})) << "4, 2.5 and 4.5";
  EXPECT_THAT(
      [&] { static_cast<void>(with_cuts({1}, 2)); },
      ThrowsMessage<std::invalid_argument>("1 costs of cuts for 4 units; give one per unit"));
}

TEST(BalancedPartition, CountsExchangesForStagesThatShareParameters) {
  const std::vector<double> units = {2, 1, 1, 1, 1, 2};
  const auto partition = [&](std::size_t stages, double exchange) {
    return balanced_partition({.units = std::vector(stages, units),
                               .shared = {{.owner = 0, .other = 5, .seconds = exchange}}});
  };
  EXPECT_EQ(partition(3, 0), (std::vector<int>{1, 4})) << "2, 3 and 3";
  EXPECT_EQ(partition(3, 2), (std::vector<int>{1, 5})) << "4, 4 and 4 instead of 4, 3 and 5";
  const std::vector<double> alike = {1, 1, 1, 1};
  EXPECT_EQ(balanced_partition(
                {.units = {alike, alike}, .shared = {{.owner = 0, .other = 2, .seconds = 2}}}),
            (std::vector<int>{3}))
      << "3 and 1, without an exchange, instead of 4 and 4";
}

TEST(BalancedPartition, HasAStageThatIsTheSlowest) {
  const std::vector<double> units = {3, 1, 1, 3};
  const PartitionCosts costs{.units = {units, units},
                             .cuts = {0, 1, 0.5, 1},
                             .shared = {{.owner = 0, .other = 3, .seconds = 2}}};
  EXPECT_DOUBLE_EQ(slowest_stage(costs, {2}), 4 + 0.5 + 2);
  EXPECT_DOUBLE_EQ(slowest_stage(costs, {1}), 5 + 1 + 2) << "the second stage";
  EXPECT_DOUBLE_EQ(slowest_stage({.units = {units}}, {}), 8);
}

TEST(BalancedPartition, IsThatOfEstimatesWithinALimit) {
  const std::vector<double> measured = {2, 2.1, 1.9, 2.2};
  const std::vector<double> estimated = {1, 1, 1, 3};
  const PartitionCosts costs{.units = {measured, measured}};
  const PartitionCosts estimates{.units = {estimated, estimated}};
  EXPECT_EQ(balanced_partition(costs), (std::vector<int>{2})) << "4.1 and 4.1";
  EXPECT_EQ(balanced_partition_within(costs, 4.2, estimates), (std::vector<int>{2}));
  EXPECT_EQ(balanced_partition_within(costs, 6.1, estimates), (std::vector<int>{3}))
      << "6 and 2.2, which estimates take for 3 and 3";
  EXPECT_THAT([&] { static_cast<void>(balanced_partition_within(costs, 4, estimates)); },
              ThrowsMessage<std::invalid_argument>(
                  "every partition has a stage that exceeds the time limit"));
}

}  // namespace
}  // namespace parbench
