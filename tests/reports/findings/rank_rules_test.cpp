// The rule about ranks, on waits made to trigger it and on waits just beside them.
#include "reports/findings/rank_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

namespace parbench::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Samples of one second. `waits`: of each sample, by rank.
CaseResult case_with(const std::vector<std::vector<double>>& waits) {
  CaseResult made;
  made.memory = {{"node1/0/cpu:0", 1}, {"node2/1/cpu:0", 1}};
  for (const std::vector<double>& of_ranks : waits) {
    Sample sample;
    sample.seconds = 1;
    sample.rank_waits = of_ranks;
    sample.start_skew = 25e-6;
    made.samples.push_back(sample);
  }
  return made;
}

std::optional<Remark> remark_on(const std::vector<std::vector<double>>& waits) {
  const Report report;
  return slowest_rank(case_with(waits), Roles(report, "s"));
}

TEST(SlowestRank, IsTheOneForWhichTheOthersWait) {
  const std::vector<double> one{0.3, 0.1};
  const auto found = remark_on({one, one, one, {0.1, 0.12}, one, one, one, one, one});
  ASSERT_TRUE(found);
  EXPECT_THAT(found->text, AllOf(HasSubstr("rank 1 (node2) waited least for messages in 8 of 9"),
                                 HasSubstr("20% of the time less than the other rank, which waits"),
                                 HasSubstr("25.00 µs apart")));
  EXPECT_EQ(found->advice,
            "comparing its share of the work with that of the other rank; where shares are equal, "
            "the load and the clocks of its host");
  EXPECT_DOUBLE_EQ(found->share, 0.2);
}

TEST(SlowestRank, IsNotNamedByChance) {
  const std::vector<double> one{0.3, 0.1};
  const std::vector<double> other{0.1, 0.3};
  EXPECT_FALSE(remark_on({one, other, one, other, one, one, one, other}));
  EXPECT_FALSE(remark_on({one, one, one, one, one})) << "too few samples";
}

TEST(SlowestRank, IsNotNamedForAShareThatHardlyMatters) {
  const std::vector<double> one{0.14, 0.1};
  EXPECT_FALSE(remark_on({one, one, one, one, one, one, one, one}));
}

TEST(SlowestRank, IsNotNamedForALeadBelowTheStartSkew) {
  std::vector<std::vector<double>> waits(8, {20e-6, 10e-6});
  CaseResult one = case_with(waits);
  for (Sample& sample : one.samples) sample.seconds = 100e-6;
  const Report report;
  EXPECT_FALSE(slowest_rank(one, Roles(report, "s"))) << "a lead of 10 us, 25 us apart";
  for (Sample& sample : one.samples) sample.start_skew = 5e-6;
  EXPECT_TRUE(slowest_rank(one, Roles(report, "s")));
}

TEST(SlowestRank, WaitsLessThanEachOtherOne) {
  const std::vector<double> one{0.3, 0.1, 0.1};
  EXPECT_FALSE(remark_on({one, one, one, one, one, one, one, one})) << "two of three are busy";
  const std::vector<double> alone{0.3, 0.1, 0.3};
  const auto found = remark_on({alone, alone, alone, alone, alone, alone, alone, alone});
  ASSERT_TRUE(found);
  EXPECT_THAT(found->text, HasSubstr("less than any other rank: they wait for it"));
  EXPECT_THAT(found->advice, HasSubstr("with that of the others; where"));
}

TEST(SlowestRank, IsNotComparedByHostOnOneHost) {
  CaseResult one = case_with(std::vector<std::vector<double>>(8, {0.3, 0.1}));
  one.memory = {{"node1/0/cpu:0", 1}, {"node1/1/cpu:1", 1}};
  const Report report;
  const auto found = slowest_rank(one, Roles(report, "s"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->advice,
            "comparing its share of the work with that of the other rank; where shares are equal, "
            "looking for other programs on its cores");
}

/// Waits that computations hide cost nothing.
TEST(SlowestRank, IsNotNamedWhereTheProfileContradicts) {
  CaseResult one = case_with(std::vector<std::vector<double>>(8, {0.3, 0.1}));
  Profile& profile = one.profile.emplace();
  profile.metrics.span = 1;
  profile.metrics.devices = {{.device = "node1/0/cpu:0",
                              .idle = 0.1,
                              .waits = {},
                              .compute = 0.7,
                              .exposed_communication = 0.2},
                             {.device = "node2/1/cpu:0", .idle = 0.1, .waits = {}, .compute = 0.9}};
  const Report report;
  EXPECT_TRUE(slowest_rank(one, Roles(report, "s")));
  profile.metrics.devices[0].exposed_communication = 0.02;
  EXPECT_FALSE(slowest_rank(one, Roles(report, "s"))) << "both wait for about 10% of the time";
}

TEST(SlowestRank, IsExplainedByItsShareOfTheWork) {
  CaseResult one = case_with(std::vector<std::vector<double>>(8, {0.3, 0.1}));
  Profile& profile = one.profile.emplace();
  profile.metrics.span = 1;
  profile.metrics.devices = {{.device = "node1/0/cpu:0", .idle = 0.4, .waits = {}, .compute = 0.6},
                             {.device = "node2/1/cpu:0", .idle = 0.1, .waits = {}, .compute = 0.9}};
  profile.metrics.streams_busy = {0, 0.5, 0.5};
  const Report report;
  const auto found = [&] { return slowest_rank(one, Roles(report, "s")).value(); };
  EXPECT_THAT(found().text, HasSubstr("the other rank, which waits for it, because node2/1/cpu:0 "
                                      "computes 20% longer than the mean. Ranks began"));
  EXPECT_EQ(found().advice, "");
  const auto expect_advice = [&](const char* why) {
    EXPECT_THAT(found().text, testing::Not(HasSubstr("because"))) << why;
    EXPECT_THAT(found().advice, testing::StartsWith("comparing its share of the work")) << why;
  };
  one.quota_lost = 0.2;
  expect_advice("a quota may have made the device slow");
  one.quota_lost = 0;
  profile.deviation = -0.1;
  expect_advice("the execution does not represent the samples");
  profile.deviation.reset();
  profile.metrics.devices[0].compute = 0.8;
  expect_advice("6% longer than the mean");
  std::swap(profile.metrics.devices[0].compute, profile.metrics.devices[1].compute);
  profile.metrics.devices[1].compute = 0.6;
  expect_advice("the other rank computes longer");
}

TEST(SlowestRank, TakesSeveralProcesses) {
  EXPECT_FALSE(remark_on({{}, {}, {}, {}, {}, {}, {}, {}}));
}

}  // namespace
}  // namespace parbench::report
