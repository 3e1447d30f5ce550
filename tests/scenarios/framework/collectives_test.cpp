// Ring collectives: their tasks, their order and their sums.
#include "scenarios/framework/collectives/member_collectives.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "kernels/machine/machine.h"
#include "tests/scenarios/fake_device.h"
#include "tests/scenarios/framework/members.h"
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

TEST_P(Collectives, AllGatherBringsEveryBlockToEveryMember) {
  const auto [size, count] = GetParam();
  Members members(fake_context(size), count);
  const auto blocks = split_evenly(count, size);
  std::vector<std::int64_t> bytes;
  for (const std::int64_t elements : blocks) bytes.push_back(elements * sizeof(float));
  const Completion done = members.gather(bytes);
  members.context.commit();
  for (int r = 0; r < size; ++r) {
    std::int64_t first = std::accumulate(blocks.begin(), blocks.begin() + r, std::int64_t{0});
    for (std::int64_t i = 0; i < blocks[r]; ++i) {
      members.values(r)[first + i] = static_cast<float>(first + i);
    }
  }
  EXPECT_TRUE(races(members.parts.plan).empty());
  EXPECT_EQ(members.parts.plan.graph().tasks.size(), static_cast<std::size_t>(size * (size - 1)));
  EXPECT_EQ(done.size(), static_cast<std::size_t>(size));
  run_in_order(members.parts.plan);
  for (int r = 0; r < size; ++r) {
    for (std::int64_t i = 0; i < count; ++i) {
      ASSERT_EQ(members.values(r)[i], static_cast<float>(i)) << "member " << r;
    }
  }
}

TEST_P(Collectives, AllReduceSumsOnEveryMember) {
  const auto [size, count] = GetParam();
  Members members(fake_context(size), count);
  MemberCollectives collectives(members.parts, members.list);
  const Completion first =
      collectives.add("first", Collective::all_reduce, members.views, members.at_once());
  (void)collectives.add("second", Collective::all_reduce, members.views, first);
  members.context.commit();
  for (int r = 0; r < size; ++r) {
    for (std::int64_t i = 0; i < count; ++i)
      members.values(r)[i] = static_cast<float>(100.0 * r) + static_cast<float>(i);
  }
  EXPECT_TRUE(races(members.parts.plan).empty()) << races(members.parts.plan).front();
  EXPECT_EQ(members.parts.plan.graph().tasks.size(),
            static_cast<std::size_t>(2 * 3 * size * (size - 1)));
  double sent = 0;
  for (const Task& task : members.parts.plan.graph().tasks) sent += task.sent;
  EXPECT_EQ(sent, 4.0 * (size - 1) * static_cast<double>(count) * sizeof(float));
  run_in_order(members.parts.plan);
  for (int r = 0; r < size; ++r) {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t once = 100 * size * (size - 1) / 2 + size * i;
      ASSERT_EQ(members.values(r)[i], static_cast<float>(size * once))
          << "member " << r << " of " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Collectives,
                         testing::Combine(testing::Values(1, 2, 3, 4, 5),
                                          testing::Values(std::int64_t{3}, std::int64_t{12},
                                                          std::int64_t{61})));

TEST(CollectivesOrder, EverythingIsCommunicationOnTheSendersLane) {
  Members members(fake_context(3), 9);
  (void)members.add_up("r");
  for (const Task& task : members.parts.plan.graph().tasks) {
    EXPECT_EQ(task.kind, TaskKind::communication);
    EXPECT_TRUE(task.cost_key.empty());
  }
  const Plan& plan = members.parts.plan;
  const Task& send = plan.graph().tasks[task_named(plan, "r/scatter/1→2/block 0")];
  EXPECT_EQ(send.lanes.front(), members.list[1].copies);
  const Task& add = plan.graph().tasks[task_named(plan, "r/add/2/block 0")];
  EXPECT_EQ(add.lanes.front(), members.list[2].compute);
}

TEST(CollectivesOrder, EachCopyRunsWhereBothMemoriesAreReached) {
  if (Machine().find("cpu")->device_limit() < 2) GTEST_SKIP() << "needs two CPU devices";
  Members members(Context(mixed_devices(2), Context::Options{}), 4);
  (void)members.gather({8, 8});
  const PlanGraph& graph = members.parts.plan.graph();
  ASSERT_EQ(graph.tasks.size(), 2U);
  for (const Task& task : graph.tasks) {
    EXPECT_EQ(task.lanes.front(), members.list[1].copies)
        << task.name << " is the other backend's alone";
  }
}

TEST(CollectivesOrder, WaitForWhatTheMembersWaitFor) {
  Members members(fake_context(2), 4);
  std::vector<TaskId> produced;
  for (int r = 0; r < 2; ++r) {
    produced.push_back(
        members.parts.plan.add({.name = "produce", .lanes = {members.list[r].compute}}, {}));
  }
  const Completion done =
      MemberCollectives(members.parts, members.list)
          .all_gather("g", {8, 8}, members.views, {{produced[0]}, {produced[1]}});
  for (const TaskId task : done[0]) {
    EXPECT_TRUE(is_ordered(members.parts.plan, produced[0], task));
    EXPECT_TRUE(is_ordered(members.parts.plan, produced[1], task));
  }
}

TEST(CollectivesOrder, RefuseBlocksThatDoNotFit) {
  Members members(fake_context(2), 4);
  EXPECT_THROW((void)members.gather({8, 4}), std::invalid_argument);
  EXPECT_THROW((void)members.gather({16}), std::invalid_argument);
}

}  // namespace
}  // namespace parbench::test
