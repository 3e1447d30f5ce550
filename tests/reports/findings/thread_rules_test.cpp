// Rules about threads: waits within teams, missing cores, page faults.
#include "reports/findings/thread_rules.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/reports/findings/made_case.h"

namespace parbench::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(ThreadRules, NoticeThreadsOfTeamsThatHaveNoWork) {
  const MadeCase waiting = MadeCase("a", 10, {{.compute = 8}}).team_waiting(2);
  EXPECT_THAT(
      text("team-waiting", {waiting}),
      AllOf(HasSubstr("no work for 20% of the time"),
            HasSubstr("; all of it in gemm, which waits for 25% of its time; try: streams or "
                      "devices with fewer cores.")));
  const MadeCase wide = MadeCase(waiting).lanes("d1", {2}, 2);
  EXPECT_THAT(text("team-waiting", {wide}), HasSubstr("try: streams or devices with fewer cores"));
  const MadeCase narrow = MadeCase("b", 10, {{.compute = 8}}).lanes("d1", {1, 1}, 2);
  EXPECT_THAT(text("team-waiting", {wide, narrow}), Not(HasSubstr("try")))
      << "smaller teams were tried";
  const MadeCase beside_whole = MadeCase("b", 10, {{.compute = 8}}).lanes("d1", {2, 1, 1}, 2);
  EXPECT_THAT(text("team-waiting", {wide, beside_whole}), Not(HasSubstr("try")))
      << "beside a stream of the whole device";
  EXPECT_THAT(text("team-waiting", {wide, MadeCase(narrow).without_profile()}),
              Not(HasSubstr("try")))
      << "and perhaps here";
  const MadeCase hardly = MadeCase("a", 10, {{.compute = 8}}).team_waiting(0.9);
  EXPECT_THAT(found("team-waiting", {hardly}), IsEmpty());
  EXPECT_THAT(found("team-waiting", {MadeCase(waiting).threads({.denied = 0.3, .others = 1})}),
              IsEmpty())
      << "other programs had the cores";
}

TEST(ThreadRules, NoticeThreadsWithoutACore) {
  const MadeCase crowded =
      MadeCase("a", 10, {{.compute = 8}}).threads({.core_wait = 0.05}).threads({.core_wait = 0.3});
  const MadeCase few = MadeCase(crowded).lanes("d1", {1, 1}, 2);
  const MadeCase many = MadeCase(crowded).lanes("d1", {1, 1, 1}, 2);
  EXPECT_THAT(found("cores-taken", {crowded}), IsEmpty()) << "perhaps threads of its own";
  const MadeCase loaded = MadeCase("a", 10, {{.compute = 8}}).threads({.denied = 0.3, .others = 1});
  EXPECT_EQ(text("cores-taken", {loaded}),
            "s/a: for 30% of the time, other programs had a core that its threads needed; try: "
            "stop other programs on these cores.");
  EXPECT_THAT(found("more-threads-than-cores", {MadeCase(few).copy_lane("d1", 2)}), IsEmpty())
      << "a thread that copies is rarely busy";
  EXPECT_THAT(text("more-threads-than-cores", {many}),
              AllOf(HasSubstr("others of the same case"), HasSubstr("no more streams than cores")));
  const MadeCase tried = MadeCase("b", 10, {{.compute = 8}}).lanes("d1", {1, 1}, 2);
  EXPECT_THAT(text("more-threads-than-cores", {many, tried}), Not(HasSubstr("try")));
  for (const std::vector<int>& threads : {std::vector{2, 1, 1}, std::vector{2, 2}}) {
    EXPECT_THAT(text("more-threads-than-cores", {MadeCase(crowded).lanes("d1", threads, 2)}),
                AllOf(HasSubstr("others of the same case"), Not(HasSubstr("try"))))
        << "as many streams as cores, beside one of the whole device";
  }
  const MadeCase one_core = MadeCase(crowded).lanes("d1", {1, 1}, 1);
  EXPECT_THAT(text("more-threads-than-cores", {one_core}), Not(HasSubstr("try")))
      << "one stream on the only core is the baseline";
  EXPECT_THAT(found("more-threads-than-cores", {few}), IsEmpty());
  const auto beside_others = [](double others) {
    return MadeCase("a", 10, {{.compute = 8}})
        .threads({.core_wait = 0.3, .denied = 0.4, .others = others})
        .lanes("d0", {1, 1, 1}, 2);
  };
  EXPECT_THAT(found("more-threads-than-cores", {beside_others(0.4)}), IsEmpty());
  EXPECT_THAT(text("more-threads-than-cores", {beside_others(0.2)}), HasSubstr("for 15% of the"))
      << "other programs had the cores for the other half";
  const MadeCase alone =
      MadeCase("a", 10, {{.compute = 8}}).threads({.denied = 0.5, .others = 0.09});
  EXPECT_THAT(found("cores-taken", {alone}), IsEmpty());
  EXPECT_THAT(found("cores-taken", {MadeCase("a", 10, {{.compute = 8}})}), IsEmpty());
  const auto waiting = [](double core_wait) {
    return MadeCase("a", 10, {{.compute = 8}})
        .threads({.core_wait = core_wait, .denied = 0.91, .others = 1, .threads = 1});
  };
  EXPECT_THAT(found("cores-taken", {waiting(0.05)}), IsEmpty())
      << "a device that hardly works waited for 5% of the time";
  EXPECT_THAT(text("cores-taken", {waiting(0.6)}),
              HasSubstr("for 60% of the time, other programs had a core"));
}

TEST(ThreadRules, NoticePageFaultsThatCostTime) {
  const MadeCase touching = MadeCase("a", 10, {{.compute = 8}})
                                .threads({.core_wait = 0, .kernel = 0.2, .page_faults = 2e5});
  EXPECT_THAT(text("page-faults", {touching}),
              AllOf(HasSubstr("2000000 page faults in each execution"),
                    HasSubstr("20% of the time in the kernel"),
                    HasSubstr("memory that was touched before")));
  const MadeCase ordinary = MadeCase(touching).parameter("host", "ordinary");
  EXPECT_THAT(text("page-faults", {ordinary}), HasSubstr("try: --host locked"));
  const MadeCase locked = MadeCase("a", 10, {{.compute = 8}}).parameter("host", "locked");
  EXPECT_THAT(text("page-faults", {ordinary, locked}), Not(HasSubstr("try")));
  const MadeCase few = MadeCase("a", 10, {{.compute = 8}})
                           .threads({.core_wait = 0, .kernel = 0.2, .page_faults = 9e4});
  EXPECT_THAT(found("page-faults", {few}), IsEmpty()) << "the kernel did something else";
  const MadeCase cheap = MadeCase("a", 10, {{.compute = 8}})
                             .threads({.core_wait = 0, .kernel = 0.04, .page_faults = 2e5});
  EXPECT_THAT(found("page-faults", {cheap}), IsEmpty());
}

/// Of a device of two threads, 10 s of which compute; the baseline's has one.
MadeCase on_two_cores() {
  return MadeCase("two", 10, {{.compute = 10}})
      .lanes("d0", {2}, 2)
      .layer("fc", 4)
      .layer("head", 3)
      .team_waiting(1)
      .team_waiting_of("fc", 2)
      .team_waiting_of("head", 1)
      .speedup(1.2, "s/one", 1.1);
}

TEST(ThreadRules, NameTheLargestPartOfTheWaitingOfTeams) {
  MadeCase parts = on_two_cores();
  parts.team_waiting_of("fc", 2).team_waiting_of("head", 0.5);
  EXPECT_THAT(text("team-waiting", {parts}),
              HasSubstr("; the largest part, 57%, in gemm of fc, which waits for 50% of its time"));
  MadeCase even("a", 30, {{.compute = 30}});
  even.team_waiting(0);
  for (int i = 0; i < 12; ++i) {
    even.layer("l" + std::to_string(i), 2).team_waiting_of("l" + std::to_string(i), 1);
  }
  EXPECT_EQ(text("team-waiting", {even}),
            "s/a: within calls, a core had no work for 40% of the time: threads of OpenMP teams "
            "waited for each other, at barriers or where a parallel region starts or ends; try: "
            "streams or devices with fewer cores.")
      << "8% in each call";
}

TEST(ThreadRules, NameOperationsThatTakeLongerThanOnOneCore) {
  const MadeCase one =
      MadeCase("one", 12, {{.compute = 12}}).lanes("d0", {1}, 1).layer("fc", 1).layer("head", 5);
  EXPECT_THAT(text("team-waiting", {one, on_two_cores()}),
              HasSubstr("; 1 operation takes longer than on one core, gemm of fc (4.000 s instead "
                        "of 1.000 s)."));
  const MadeCase both =
      MadeCase("one", 12, {{.compute = 12}}).lanes("d0", {1}, 1).layer("fc", 1).layer("head", 1);
  EXPECT_THAT(text("team-waiting", {both, on_two_cores()}),
              HasSubstr("; 2 operations take longer than on one core, most of all gemm of fc "
                        "(4.000 s instead of 1.000 s)."));
  EXPECT_THAT(text("team-waiting", {MadeCase(one).lanes("d0", {2}, 2), on_two_cores()}),
              Not(HasSubstr("longer than")))
      << "the baseline has two cores as well";
  const MadeCase like = MadeCase("one", 12, {{.compute = 12}}).lanes("d0", {1}, 1).layer("fc", 3.9);
  EXPECT_THAT(text("team-waiting", {like, on_two_cores()}), Not(HasSubstr("longer than")))
      << "3% longer";
}

/// A recorded execution in which a call was interrupted would show a kernel that is slow with
/// teams.
TEST(ThreadRules, NameNoOperationThatLosesTimeByOtherThanWaits) {
  const MadeCase one =
      MadeCase("one", 12, {{.compute = 12}}).lanes("d0", {1}, 1).layer("fc", 1).layer("head", 1);
  MadeCase two = on_two_cores();
  two.team_waiting_of("fc", 1.5);
  EXPECT_THAT(text("team-waiting", {one, two}), HasSubstr("; 2 operations take longer than on one"))
      << "half of the 3 s that fc loses";
  two.team_waiting_of("fc", 1.4);
  EXPECT_THAT(
      text("team-waiting", {one, two}),
      HasSubstr("; 1 operation takes longer than on one core, gemm of head (3.000 s instead "
                "of 1.000 s)."));
  two.team_waiting_of("head", 0.9);
  EXPECT_THAT(text("team-waiting", {one, two}), Not(HasSubstr("longer than")));
}

TEST(ThreadRules, TakeNoDeviceForFilledByStreamsThatShareItsCores) {
  const auto one = [] { return MadeCase("one", 10, {{.compute = 10}}).streams(1, 10); };
  const MadeCase two =
      MadeCase("two", 10, {{.compute = 10}}).streams(2, 19.6).speedup(1, "s/one", 0.99);
  EXPECT_EQ(text("saturated", {one().lanes("d0", {2}, 2), MadeCase(two).lanes("d0", {2, 1, 1}, 2)}),
            "s/two: 2.0 streams ran at once on average, with 1 core each instead of 2, and their "
            "calls took 1.96 times as long: no gain.");
  EXPECT_THAT(text("saturated", {one().lanes("d0", {1}, 2), MadeCase(two).lanes("d0", {1, 1}, 2)}),
              HasSubstr("1.96 times as long, so that one stream fills the device already; try: "))
      << "as many cores each";
  EXPECT_EQ(text("saturated", {one().team_waiting(2), two}),
            "s/two: 2.0 streams ran at once on average, and their calls took 1.96 times as long: "
            "no gain.")
      << "one stream leaves a core without work for 20% of the time";
}

/// What other programs have can be avoided only where the host has other cores.
TEST(ThreadRules, AdviseFreeCoresOnlyWhereThereCanBeSome) {
  const auto advice = [](int online, const std::vector<int>& allowed,
                         const std::vector<int>& of_other_rank) {
    Report report =
        report_of({MadeCase("a", 10, {{.compute = 8}}).threads({.denied = 0.3, .others = 1})});
    report.machine.host = "node1";
    report.machine.cores_online = online;
    report.machine.cores_allowed = allowed;
    Device& other = report.devices.emplace_back();
    other.scenario = "s";
    other.name = "node1/1/cpu:0";
    other.cores = of_other_rank;
    find_reasons(report);
    return report.findings.empty() ? "nothing" : report.findings.front().advice;
  };
  const std::string both = "stop other programs on these cores, or choose free cores with taskset";
  const std::string end = "stop other programs on these cores";
  EXPECT_EQ(advice(4, {0, 1}, {1}), both);
  EXPECT_EQ(advice(2, {0, 1}, {1}), end);
  EXPECT_EQ(advice(2, {0}, {1}), end) << "another rank has the other core";
  EXPECT_EQ(advice(2, {}, {1}), end) << "which cores are allowed is not known";
}

/// A rate times a median says little where times scatter.
TEST(ThreadRules, CountPageFaultsByTheMeanOverTheSamples) {
  Report report = report_of({MadeCase("a", 10, {{.compute = 8}})
                                 .threads({.core_wait = 0, .kernel = 0.2, .page_faults = 2e5})});
  for (const auto& [seconds, rate] : {std::pair(4.0, 4e5), std::pair(16.0, 1e5)}) {
    Sample& sample = report.cases.front().samples.emplace_back();
    sample.seconds = seconds;
    sample.conditions.push_back({.device = "d0", .threads = ThreadUse{.page_faults = rate}});
  }
  report.cases.front().samples.emplace_back().seconds = 8;
  find_reasons(report);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_THAT(report.findings.front().text, ::testing::StartsWith("1600000 page faults in each"));
}

/// Others are about the division of work and begin with a case that divides it.
TEST(ThreadRules, BeginWithTheRecommendedCaseWhereTheyAreAboutCalls) {
  const MadeCase whole = MadeCase("whole", 10, {{.compute = 8}}).team_waiting(2);
  const MadeCase single("single", 12, {{.compute = 12}});
  const MadeCase divided = MadeCase("divided", 11, {{.compute = 6.5}, {.compute = 6.5}})
                               .team_waiting(4)
                               .speedup(1.09, "s/single", 1.05);
  Report report = report_of({single, whole, divided});
  report.cases[1].speedup = Ratio{.value = 1.2, .baseline = "s/single"};
  Recommendation& used = report.answers.emplace_back(Answer{.scenario = "s", .question = "?"})
                             .recommendations.emplace_back();
  used.candidates = {{"the whole", "s/whole"}};
  used.gaining = used.candidates.front();
  used.gain = report.cases[1].speedup;
  find_reasons(report);
  std::vector<std::string> begun;
  for (const Finding& finding : report.findings) {
    begun.push_back(finding.rule + " " + finding.cases.front());
  }
  EXPECT_THAT(begun, ::testing::UnorderedElementsAre("losses s/divided", "team-waiting s/whole"));
}

}  // namespace
}  // namespace parbench::report
