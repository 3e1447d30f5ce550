// From records of what GPUs did to the calls that it was done for, on records written down as data;
// and what is known of the times in them.
#include "kernels/cuda/activity/activity_join.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <tuple>
#include <vector>

#include "kernels/cuda/activity/clock_bound.h"

namespace parbench::cuda {
namespace {

using std::chrono::nanoseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::chrono::steady_clock::time_point at(int time) {
  return std::chrono::steady_clock::time_point(nanoseconds(time));
}

/// Log, tag, begin and end of each.
std::vector<std::tuple<LogId, ActivityTag, int, int>> rows_of(const JoinedActivities& joined) {
  const auto since_start = [](auto time) { return static_cast<int>((time - at(0)).count()); };
  std::vector<std::tuple<LogId, ActivityTag, int, int>> all;
  for (const JoinedActivity& one : joined.activities) {
    all.emplace_back(one.log, one.activity.tag, since_start(one.activity.begin),
                     since_start(one.activity.end));
  }
  return all;
}

class ActivityJoinTest : public ::testing::Test {
 protected:
  void launch(std::uint32_t correlation, const ActivityOwner& owner) {
    join_.add_correlation(correlation, external_id(owner));
  }
  ActivityJoin join_;
};

TEST(ExternalId, HoldsTheWholeOwner) {
  const ActivityOwner owner{.log = 0x8000'0001, .tag = 0xffff'fffe};
  EXPECT_EQ(owner_of(external_id(owner)), owner);
  EXPECT_EQ(owner_of(0).tag, 0U);
}

TEST_F(ActivityJoinTest, GivesWorkToTheCallsThatLaunchedIt) {
  launch(515, {.log = 1, .tag = 7});
  launch(516, {.log = 2, .tag = 8});
  join_.add_work({.correlation = 516, .begin = 300, .end = 400});
  join_.add_work({.correlation = 515, .begin = 100, .end = 350});
  const JoinedActivities joined = join_.take();
  EXPECT_THAT(rows_of(joined), ElementsAre(std::tuple(1, 7, 100, 350), std::tuple(2, 8, 300, 400)));
  EXPECT_EQ(joined.lost, 0U);
}

TEST_F(ActivityJoinTest, AllWorkOfACallIsOneFromFirstToLast) {
  for (const std::uint32_t correlation : {10, 11, 12}) launch(correlation, {.log = 1, .tag = 5});
  join_.add_work({.correlation = 12, .begin = 500, .end = 600});
  join_.add_work({.correlation = 10, .begin = 100, .end = 200});
  join_.add_work({.correlation = 11, .begin = 210, .end = 490});
  EXPECT_THAT(rows_of(join_.take()), ElementsAre(std::tuple(1, 5, 100, 600)));
}

TEST_F(ActivityJoinTest, TheSameTagOnTwoStreamsStaysTwo) {
  launch(1, {.log = 1, .tag = 5});
  launch(2, {.log = 2, .tag = 5});
  join_.add_work({.correlation = 1, .begin = 100, .end = 300});
  join_.add_work({.correlation = 2, .begin = 150, .end = 200});
  EXPECT_THAT(rows_of(join_.take()),
              ElementsAre(std::tuple(2, 5, 150, 200), std::tuple(1, 5, 100, 300)))
      << "in the order in which they ended";
}

TEST_F(ActivityJoinTest, IdsMayComeBehindTheWorkAndTwice) {
  join_.add_work({.correlation = 9, .begin = 10, .end = 20});
  launch(9, {.log = 1, .tag = 3});
  launch(9, {.log = 1, .tag = 3});  // of the runtime's call and of the driver's inside it
  EXPECT_THAT(rows_of(join_.take()), ElementsAre(std::tuple(1, 3, 10, 20)));
}

TEST_F(ActivityJoinTest, WorkWithoutAnOwnerIsLeftOut) {
  launch(1, {.log = 1, .tag = 0});
  join_.add_work({.correlation = 1, .begin = 10, .end = 20});
  join_.add_work({.correlation = 2, .begin = 10, .end = 20});
  join_.add_work({.correlation = 3, .graph_node = 77, .begin = 10, .end = 20});
  const JoinedActivities joined = join_.take();
  EXPECT_THAT(joined.activities, IsEmpty());
  EXPECT_EQ(joined.lost, 0U);
}

TEST_F(ActivityJoinTest, WorkWithoutTimesIsCounted) {
  launch(1, {.log = 1, .tag = 5});
  join_.add_work({.correlation = 1});
  join_.add_work({.correlation = 1, .begin = 30, .end = 20});
  const JoinedActivities joined = join_.take();
  EXPECT_THAT(joined.activities, IsEmpty());
  EXPECT_EQ(joined.lost, 2U);
}

TEST_F(ActivityJoinTest, WorkThatIsTakenIsGone) {
  launch(1, {.log = 1, .tag = 5});
  join_.add_work({.correlation = 1, .begin = 10, .end = 20});
  (void)join_.take();
  join_.add_work({.correlation = 1, .begin = 30, .end = 40});  // the number is another call's now
  EXPECT_THAT(join_.take().activities, IsEmpty());
}

TEST_F(ActivityJoinTest, NodesOfGraphsBelongToTheCallsThatWereCaptured) {
  join_.add_node(100, {.log = 1, .tag = 5});
  join_.add_node(101, {.log = 2, .tag = 6});
  join_.clone_node(200, 100);  // instantiated
  join_.clone_node(201, 101);
  join_.clone_node(202, 999);  // after a node without an owner
  launch(50, {.log = 9, .tag = 9});
  for (const int launched : {0, 1000}) {
    const std::uint64_t begin = static_cast<std::uint64_t>(launched) + 1;
    join_.add_work({.correlation = 50, .graph_node = 200, .begin = begin, .end = begin + 9});
    join_.add_work({.correlation = 50, .graph_node = 101, .begin = begin, .end = begin + 19});
    join_.add_work({.correlation = 50, .graph_node = 202, .begin = begin, .end = begin + 29});
    EXPECT_THAT(rows_of(join_.take()), ElementsAre(std::tuple(1, 5, launched + 1, launched + 10),
                                                   std::tuple(2, 6, launched + 1, launched + 20)))
        << "at every launch";
  }
}

TEST_F(ActivityJoinTest, ACollectiveIsLoggedByTheMembersOfTheDevicesThatItRanOn) {
  join_.add_member(5, 0, 1);
  join_.add_member(5, 1, 2);
  join_.add_member(6, 1, 3);
  launch(1, {.log = log_of_its_device, .tag = 5});
  launch(2, {.log = log_of_its_device, .tag = 5});
  join_.add_work({.correlation = 1, .device = 0, .begin = 10, .end = 50});
  join_.add_work({.correlation = 2, .device = 1, .begin = 20, .end = 60});
  EXPECT_THAT(rows_of(join_.take()),
              ElementsAre(std::tuple(1, 5, 10, 50), std::tuple(2, 5, 20, 60)));
  join_.remove_log(2);
  launch(3, {.log = log_of_its_device, .tag = 5});
  join_.add_work({.correlation = 3, .device = 1, .begin = 20, .end = 60});
  EXPECT_EQ(join_.take().lost, 1U) << "of a member that does not log";
}

TEST(ClockBoundTest, IsTheCloserReadingOnEachSide) {
  ClockBound bound;
  bound.add(at(1000), {.tag = 1, .begin = at(5000), .end = at(6000)}, at(9000));
  EXPECT_DOUBLE_EQ(bound.error(), 4000e-9) << "it may have begun at 1000";
  bound.add(at(10'000), {.tag = 2, .begin = at(12'000), .end = at(13'000)}, at(18'000));
  EXPECT_DOUBLE_EQ(bound.error(), 3000e-9) << "the first ended 3000 before its second reading";
}

TEST(ClockBoundTest, HoldsAnOffsetThatTheReadingsContradict) {
  ClockBound bound;  // recorded 10 µs too early
  bound.add(at(100'000), {.tag = 1, .begin = at(92'000), .end = at(93'000)}, at(105'000));
  EXPECT_GE(bound.error(), 10e-6);
}

TEST(ClockBoundTest, OfNothingIsInfinite) { EXPECT_TRUE(std::isinf(ClockBound().error())); }

}  // namespace
}  // namespace parbench::cuda
