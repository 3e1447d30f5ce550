// Ring collectives: their tasks, their order and their sums.
#include "scenarios/framework/collectives.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "kernels/machine/machine.h"
#include "scenarios/framework/prepared_case.h"
#include "tests/scenarios/fake_device.h"
#include "tests/scenarios/framework/ranks.h"
#include "tests/scenarios/plan_checks.h"
#include "tests/support/other_device.h"

namespace parbench::test {
namespace {

TEST(SplitEvenly, DiffersByAtMostOne) {
  EXPECT_EQ(split_evenly(30, 4), (std::vector<std::int64_t>{8, 8, 7, 7}));
  EXPECT_EQ(split_evenly(2, 3), (std::vector<std::int64_t>{1, 1, 0}));
  EXPECT_THROW((void)split_evenly(1, 0), std::invalid_argument);
}

class Collectives : public testing::TestWithParam<std::tuple<int, std::int64_t>> {};

TEST_P(Collectives, AllGatherBringsEveryBlockToEveryRank) {
  const auto [size, count] = GetParam();
  Ranks ranks(fake_context(size), count);
  const auto blocks = split_evenly(count, size);
  std::vector<std::size_t> bytes;
  for (const std::int64_t elements : blocks) bytes.push_back(elements * sizeof(float));
  const Completion done = AllGather(nullptr, bytes).add(ranks.parts.plan, "g", ranks.list);
  ranks.context.commit();
  for (int r = 0; r < size; ++r) {
    std::int64_t first = std::accumulate(blocks.begin(), blocks.begin() + r, std::int64_t{0});
    for (std::int64_t i = 0; i < blocks[r]; ++i) {
      ranks.values(r)[first + i] = static_cast<float>(first + i);
    }
  }
  EXPECT_TRUE(races(ranks.parts.plan).empty());
  EXPECT_EQ(ranks.parts.plan.graph().tasks.size(), static_cast<std::size_t>(size * (size - 1)));
  EXPECT_EQ(done.size(), static_cast<std::size_t>(size));
  run_in_order(ranks.parts.plan);
  for (int r = 0; r < size; ++r) {
    for (std::int64_t i = 0; i < count; ++i) {
      ASSERT_EQ(ranks.values(r)[i], static_cast<float>(i)) << "rank " << r;
    }
  }
}

TEST_P(Collectives, AllReduceSumsOnEveryRank) {
  const auto [size, count] = GetParam();
  Ranks ranks(fake_context(size), count);
  const AllReduce all_reduce = ranks.all_reduce(nullptr, count);
  const Completion first = all_reduce.add(ranks.parts.plan, "first", ranks.list);
  for (int r = 0; r < size; ++r) ranks.list[r].ready = first[r];
  all_reduce.add(ranks.parts.plan, "second", ranks.list);
  ranks.context.commit();
  for (int r = 0; r < size; ++r) {
    for (std::int64_t i = 0; i < count; ++i)
      ranks.values(r)[i] = static_cast<float>(100.0 * r) + static_cast<float>(i);
  }
  EXPECT_TRUE(races(ranks.parts.plan).empty()) << races(ranks.parts.plan).front();
  EXPECT_EQ(ranks.parts.plan.graph().tasks.size(),
            static_cast<std::size_t>(2 * 3 * size * (size - 1)));
  double sent = 0;
  for (const Task& task : ranks.parts.plan.graph().tasks) sent += task.sent;
  EXPECT_EQ(sent, 4.0 * (size - 1) * static_cast<double>(count) * sizeof(float));
  run_in_order(ranks.parts.plan);
  for (int r = 0; r < size; ++r) {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t once = 100 * size * (size - 1) / 2 + size * i;
      ASSERT_EQ(ranks.values(r)[i], static_cast<float>(size * once)) << "rank " << r << " of " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Collectives,
                         testing::Combine(testing::Values(1, 2, 3, 4, 5),
                                          testing::Values(std::int64_t{3}, std::int64_t{12},
                                                          std::int64_t{61})));

TEST(CollectivesOrder, EverythingIsCommunicationOnTheSendersLane) {
  Ranks ranks(fake_context(3), 9);
  const AllReduce all_reduce = ranks.all_reduce(nullptr, 9);
  all_reduce.add(ranks.parts.plan, "r", ranks.list);
  for (const Task& task : ranks.parts.plan.graph().tasks) {
    EXPECT_EQ(task.kind, TaskKind::communication);
    EXPECT_TRUE(task.cost_key.empty());
  }
  const Plan& plan = ranks.parts.plan;
  const Task& send = plan.graph().tasks[task_named(plan, "r/scatter/1→2/block 0")];
  EXPECT_EQ(send.lanes.front(), ranks.list[1].copies);
  const Task& add = plan.graph().tasks[task_named(plan, "r/add/2/block 0")];
  EXPECT_EQ(add.lanes.front(), ranks.list[2].compute);
}

TEST(CollectivesOrder, EachCopyRunsWhereBothMemoriesAreReached) {
  if (Machine().find("cpu")->device_limit() < 2) GTEST_SKIP() << "needs two CPU devices";
  Context context(mixed_devices(2), Context::Options{});
  CaseParts parts(context);
  std::vector<Rank> ranks(2);
  for (int r = 0; r < 2; ++r) {
    ranks[r].compute = add_lane(parts, r, StreamKind::compute);
    ranks[r].copies = add_lane(parts, r, StreamKind::copy);
    ranks[r].data = parts.data.tensor(r, canonical({4})).view;
  }
  static_cast<void>(AllGather(nullptr, {8, 8}).add(parts.plan, "g", ranks));
  ASSERT_EQ(parts.plan.graph().tasks.size(), 2U);
  for (const Task& task : parts.plan.graph().tasks) {
    EXPECT_EQ(task.lanes.front(), ranks[1].copies) << task.name << " is the other backend's alone";
  }
}

TEST(CollectivesOrder, WaitForWhatTheRanksWaitFor) {
  Ranks ranks(fake_context(2), 4);
  std::vector<TaskId> produced;
  for (int r = 0; r < 2; ++r) {
    produced.push_back(
        ranks.parts.plan.add({.name = "produce", .lanes = {ranks.list[r].compute}}, {}));
    ranks.list[r].ready = {produced.back()};
  }
  const Completion done = AllGather(nullptr, {8, 8}).add(ranks.parts.plan, "g", ranks.list);
  for (const TaskId task : done[0]) {
    EXPECT_TRUE(is_ordered(ranks.parts.plan, produced[0], task));
    EXPECT_TRUE(is_ordered(ranks.parts.plan, produced[1], task));
  }
}

TEST(CollectivesOrder, RefuseBlocksThatDoNotFit) {
  Ranks ranks(fake_context(2), 4);
  EXPECT_THROW((void)AllGather(nullptr, {8, 4}).add(ranks.parts.plan, "g", ranks.list),
               std::invalid_argument);
  EXPECT_THROW((void)AllGather(nullptr, {16}).add(ranks.parts.plan, "g", ranks.list),
               std::invalid_argument);
}

}  // namespace
}  // namespace parbench::test
