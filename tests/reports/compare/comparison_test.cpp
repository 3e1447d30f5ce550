// Whole comparisons: order, outcome, what is noted.
#include "reports/compare/comparison.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "reports/compare/render/render.h"
#include "reports/compare/words.h"
#include "tests/reports/compare/comparisons.h"
#include "tests/reports/compare/made_report.h"

namespace parbench::compare {
namespace {

using report::CaseStatus;
using report::Report;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

std::vector<std::string> states(const Comparison& comparison) {
  std::vector<std::string> texts;
  for (const Row& row : comparison.rows) {
    texts.push_back(row.name.substr(row.name.rfind(':') + 1) + ' ' + state_text(row));
  }
  return texts;
}

TEST(Comparison, PutsTheRowsInTheOrderInWhichTheyMatter) {
  const Everything reports;
  EXPECT_THAT(
      states(compared(reports.base, reports.now)),
      ElementsAre("3 regressed", "1 regressed", "5 failed", "2 improved", "4 undecided", "0 same",
                  "6 not measured", "7 not comparable", "8 only in BASE", "9 only in NEW"));
}

TEST(Comparison, HasTheTimesOfBothSidesAsFarAsThereAreAny) {
  const Everything reports;
  const Comparison comparison = compared(reports.base, reports.now);
  EXPECT_NEAR(comparison.rows[0].base->seconds, 1, 1e-6);
  EXPECT_NEAR(comparison.rows[0].now->seconds, 1.2, 1e-6);
  EXPECT_EQ(comparison.rows[0].now->processes, 5);
  EXPECT_NEAR(comparison.rows[0].judgement->change.value, 0.2, 1e-6);
  EXPECT_FALSE(comparison.rows[2].now) << "failed";
  EXPECT_TRUE(comparison.rows[2].base);
  EXPECT_FALSE(comparison.rows[9].base) << "only in NEW";
}

TEST(Comparison, ComesToTheMostSeriousOutcome) {
  const auto outcome = [](const Report& base, const Report& now) {
    return compared(base, now).outcome();
  };
  const Report one = made_report({steady(1)});
  const Report slower = made_report({steady(1.1)});
  EXPECT_EQ(outcome(one, one), Outcome::nothing_regressed);
  EXPECT_EQ(outcome(slower, one), Outcome::nothing_regressed) << "an improvement";
  EXPECT_EQ(outcome(one, slower), Outcome::regressed);
  EXPECT_EQ(outcome(one, made_report({})), Outcome::nothing_compared);
  const Everything reports;
  EXPECT_EQ(outcome(reports.base, reports.now), Outcome::case_failed)
      << "a failure and regressions: a wrong result is the more serious";
}

TEST(Comparison, CountsTheDecidedAmongTheCasesOfBase) {
  const Everything reports;
  const Comparison comparison = compared(reports.base, reports.now);
  EXPECT_EQ(comparison.decided(), 4) << "regressed, improved or the same";
  EXPECT_EQ(comparison.decidable(), 9) << "all but the one that only NEW has";
}

TEST(Comparison, RequiresThatEnoughIsDecided) {
  const auto code = [](double required, int same, int undecided) {
    return exit_code(partly_decided(same, undecided, {.rule = {.required_decided = required}}));
  };
  EXPECT_EQ(code(0, 0, 3), 0);
  EXPECT_EQ(code(0.01, 0, 3), 4);
  EXPECT_EQ(code(0.75, 3, 1), 0) << "exactly as many";
  EXPECT_EQ(code(0.76, 3, 1), 4);
  EXPECT_EQ(code(1, 3, 0), 0);
  const Options half{.rule = {.required_decided = 0.5}};
  Report base = made_report({steady(1), steady(1), steady(1)});
  Report now = base;
  now.cases[1].status = now.cases[2].status = CaseStatus::not_run;
  EXPECT_EQ(compared(base, now, half).outcome(), Outcome::too_few_decided) << "1 of 3 measured";
  EXPECT_EQ(exit_code(compared(now, base, half)), 4) << "in either report";
  EXPECT_EQ(exit_code(compared(base, made_report({steady(1.1)}), half)), 3) << "regressed";
  EXPECT_EQ(exit_code(compared(made_report({steady(1)}), base, half)), 0) << "new cases";
}

TEST(Comparison, ExitsByItsOutcomeUnlessItsPairsEndedBeforeTheirTime) {
  const Report one = made_report({steady(1)});
  const Report failed = Everything().now;
  EXPECT_EQ(exit_code(compared(one, one)), 0);
  EXPECT_EQ(exit_code(compared(one, failed)), 1);
  EXPECT_EQ(exit_code(compared(one, made_report({steady(1.1)}))), 3);
  EXPECT_EQ(exit_code(compared(one, made_report({}))), 4);
  Comparison pairs = compared(one, one);
  pairs.pairs.emplace();
  EXPECT_EQ(exit_code(pairs), 0);
  pairs.pairs->end = PairsEnd::interrupted;
  EXPECT_EQ(exit_code(pairs), 130);
  EXPECT_THAT(sentence(pairs), StartsWith("Interrupted: No regression found"));
  pairs.pairs->end = PairsEnd::failed;
  EXPECT_EQ(exit_code(pairs), 2);
  EXPECT_THAT(sentence(pairs), StartsWith("A command failed: No regression found"));
}

/// A report of one case with a kernel for products, chosen by `by`.
Report with_kernel(const std::string& implementation, const std::string& by) {
  Report report = made_report({steady(1)});
  report.cases[0].kernels = {{"gemm", implementation, 4, by}};
  return report;
}

TEST(Comparison, CautionsThatOneSideWasTuned) {
  const auto cautions = [](const Report& base, const Report& now) {
    return compared(base, now).cautions;
  };
  const Report tuned = with_kernel("algorithm 66", "measuring");
  const Report untuned = with_kernel("algorithm 21", "");
  EXPECT_THAT(cautions(tuned, tuned), IsEmpty());
  EXPECT_THAT(cautions(untuned, with_kernel("algorithm 1", "")), IsEmpty())
      << "another version of the library";
  EXPECT_THAT(
      cautions(tuned, untuned),
      ElementsAre("BASE was measured with --autotune, NEW without (1 case); measure both alike."));
  EXPECT_THAT(
      cautions(untuned, with_kernel("algorithm 21", "heuristics")),
      ElementsAre("NEW was measured with --autotune, BASE without (1 case); measure both alike."));
  EXPECT_THAT(cautions(tuned, with_kernel("algorithm 21", "measuring")),
              ElementsAre("Tuning chose different kernels in 1 case (gemm: 4 more by algorithm 21, "
                          "4 fewer by algorithm 66)."));
}

TEST(Comparison, CautionsThatTuningChoseAKernelForMoreOperations) {
  const auto report = [](int first, int second) {
    Report made = with_kernel("algorithm 66", "measuring");
    made.cases[0].kernels.front().count = first;
    if (second > 0) made.cases[0].kernels.push_back({"gemm", "algorithm 21", second, "measuring"});
    return made;
  };
  EXPECT_THAT(compared(report(30, 23), report(30, 23)).cautions, IsEmpty());
  for (const int second : {1, 24}) {
    EXPECT_THAT(compared(report(53, 0), report(53 - second, second)).cautions,
                ElementsAre(HasSubstr(fmt::format("{0} more by algorithm 21, {0} fewer", second))));
  }
  EXPECT_THAT(compared(report(30, 23), report(50, 3)).cautions,
              ElementsAre(HasSubstr("20 more by algorithm 66, 20 fewer by algorithm 21")));
}

/// A report of one process, while other programs had the cores for such a share of the time.
Report under_load(double seconds, double share) {
  Report report = made_report({{seconds}});
  report.cases[0].conditions.push_back(
      {.device = "cpu:0",
       .min_clock_mhz = {},
       .median_clock_mhz = {},
       .max_temperature_celsius = {},
       .max_power_watts = {},
       .threads = report::ThreadUse{.denied = share, .others = 1}});
  return report;
}

TEST(Comparison, CallsNothingARegressionThatTakenCoresExplain) {
  const Comparison quiet = compared(under_load(1, 0), under_load(1.3, 0));
  EXPECT_EQ(quiet.count(Verdict::regressed), 1);
  EXPECT_THAT(quiet.notes, Not(Contains(HasSubstr("Other programs"))));
  for (const auto& [base, now] : {std::pair(0.0, 0.3), std::pair(0.3, 0.0)}) {
    const Comparison loaded = compared(under_load(1, base), under_load(1.3, now));
    EXPECT_EQ(loaded.count(Verdict::undecided), 1);
    EXPECT_THAT(loaded.notes,
                Contains(AllOf(HasSubstr("took the cores of 1 case for up to 30% of the time"),
                               HasSubstr("parbench ab"))));
  }
  EXPECT_EQ(compared(under_load(1, 0.3), under_load(9, 0.3)).count(Verdict::regressed), 1)
      << "no load explains that";
}

TEST(Comparison, AssumesThatLoadHoldsUpThreadsOneAfterTheOther) {
  Report loaded = under_load(3.5, 0.57);
  report::ThreadUse& use = *loaded.cases[0].conditions[0].threads;
  use = {.core_wait = 0.19, .denied = 0.57, .others = 0.6, .threads = 4};
  EXPECT_EQ(compared(under_load(1, 0), loaded).count(Verdict::undecided), 1)
      << "76% of the time, of which each of 4 threads waited 19%";
  use.threads = 1;
  EXPECT_EQ(compared(under_load(1, 0), loaded).count(Verdict::regressed), 1);
}

TEST(Comparison, SaysNothingOfIntervalsThatAreAllUnknown) {
  const Comparison loaded = compared(under_load(1, 0.95), under_load(1.3, 0.95));
  EXPECT_EQ(interval_text(loaded.rows[0].judgement->change), "unknown");
  EXPECT_THAT(loaded.notes, ElementsAre(HasSubstr("took the cores of 1 case for up to 95%")));
}

/// A report of five processes, of whose CPU time a quota withheld such a share.
Report under_quota(double seconds, double share) {
  Report report = made_report({steady(seconds), steady(1)});
  report.cases[0].quota_lost = share;
  return report;
}

TEST(Comparison, SaysAheadOfVerdictsThatAQuotaThrottledOneSide) {
  EXPECT_THAT(sentence(compared(under_quota(1, 0), under_quota(2, 0.5))),
              StartsWith("NEW was throttled more than BASE in 1 of 2 cases, which may explain the "
                         "change: CPU quota (up to 50% of the CPU time). 1 of 2 cases regressed"));
  EXPECT_THAT(sentence(compared(under_quota(2, 0.5), under_quota(1, 0))),
              StartsWith("BASE was throttled more than NEW in 1 of 2 cases"));
  EXPECT_THAT(sentence(compared(under_quota(1, 0.2), under_quota(2, 0.31))),
              StartsWith("NEW was throttled more"));
  for (const auto& [base, now] : {std::pair(0.5, 0.5), {0.5, 0.59}, {0.0, 0.009}}) {
    EXPECT_THAT(sentence(compared(under_quota(1, base), under_quota(2, now))),
                StartsWith("1 of 2 cases regressed"));
  }
}

TEST(Comparison, CallsNothingARegressionThatAQuotaExplains) {
  Report limited = made_report({{1.3}});
  limited.cases[0].quota_lost = 0.3;
  const Comparison comparison = compared(made_report({{1}}), limited);
  EXPECT_EQ(comparison.count(Verdict::undecided), 1);
  EXPECT_THAT(comparison.notes,
              Contains(AllOf(StartsWith("A CPU quota took the cores of 1 case for up to 30%"),
                             HasSubstr("without a quota"))));
}

TEST(Comparison, TakesAProcessThatEndedBadlyForAFailure) {
  const Report one = made_report({steady(1)});
  Report crashed = one;
  crashed.complete = false;
  crashed.processes = {{},
                       {.started_utc = {},
                        .duration_seconds = 1,
                        .exit_code = 139,
                        .error = "was ended by signal 11\nwith these words"}};
  const Comparison comparison = compared(one, crashed);
  EXPECT_EQ(comparison.outcome(), Outcome::case_failed);
  EXPECT_THAT(sentence(comparison), StartsWith("1 process of NEW failed. No regression found"));
  EXPECT_THAT(comparison.notes, ElementsAre("NEW: Process 2 was ended by signal 11.",
                                            HasSubstr("NEW is incomplete")));
  const Comparison other_way = compared(crashed, one);
  EXPECT_EQ(other_way.outcome(), Outcome::nothing_regressed) << "BASE is the past";
  EXPECT_THAT(other_way.notes, ElementsAre("BASE: Process 2 was ended by signal 11.",
                                           HasSubstr("BASE is incomplete")));
}

TEST(Comparison, TakesAProcessThatASignalEndedWithoutAWordForAFailure) {
  const Report one = made_report({steady(1)});
  Report crashed = one;
  crashed.processes = {{}, {"", 1, 139, ""}};
  const Comparison comparison = compared(one, crashed);
  EXPECT_EQ(exit_code(comparison), 1);
  EXPECT_THAT(comparison.notes,
              ElementsAre("NEW: Process 2 was ended by signal 11 (Segmentation fault)."));
}

TEST(Comparison, TakesARunThatWasKilledBetweenTwoProcessesForAFailure) {
  const Report whole = made_report({steady(1), steady(1)});
  Report killed = whole;
  killed.complete = false;  // and every case has its samples of the processes before
  const Comparison comparison = compared(whole, killed);
  EXPECT_EQ(exit_code(comparison), 1);
  EXPECT_THAT(sentence(comparison), StartsWith("NEW ended early, between two processes or while "
                                               "its cases were profiled. No regression found"));
  EXPECT_EQ(exit_code(compared(killed, whole)), 0) << "BASE is the past";
}

TEST(Comparison, TakesANewReportWhoseRunEndedBeforeItsTimeForAFailure) {
  const Report whole = made_report({steady(1), steady(1), steady(1)});
  Report half = whole;
  half.complete = false;
  half.cases[1].stopped_because = "unfinished";
  half.cases[2] = made_case(2, {});
  half.cases[2].status = CaseStatus::not_run;
  const Comparison comparison = compared(whole, half);
  EXPECT_EQ(exit_code(comparison), 1);
  EXPECT_THAT(
      sentence(comparison),
      StartsWith(
          "NEW ended early: 2 cases not measured to the end. No regression found in 2 cases."));
  EXPECT_EQ(exit_code(compared(half, whole)), 0) << "BASE is the past";
  half.cases[1].stopped_because = "max-time";
  half.cases[2].status = CaseStatus::skipped;
  EXPECT_EQ(exit_code(compared(whole, half)), 0) << "the run came to its end";
}

TEST(Comparison, JudgesNoCaseByAHandfulOfSamples) {
  const Report base = made_report({{1.0}, {1.0}});
  Report now = made_report({{0.5}, {0.5}});
  now.cases[0].samples.resize(2);
  const Comparison comparison = compared(base, now);
  ASSERT_THAT(comparison.rows, SizeIs(2));
  EXPECT_EQ(comparison.rows[0].verdict(), Verdict::improved) << "three samples";
  EXPECT_EQ(comparison.rows[1].verdict(), Verdict::undecided);
  EXPECT_THAT(comparison.rows[1].reason, HasSubstr("fewer than 3 samples in NEW"));
  EXPECT_THAT(to_table(comparison), HasSubstr("undecided (1)"));
}

TEST(Comparison, NeedsSamplesAndNoStatistics) {
  const Report whole = made_report({steady(1)});
  Report without = whole;
  without.cases[0].statistics.reset();
  const Comparison comparison = compared(without, whole);
  EXPECT_EQ(comparison.rows[0].verdict(), Verdict::same);
  ASSERT_TRUE(comparison.rows[0].base);
  EXPECT_NEAR(comparison.rows[0].base->seconds, 1, 1e-6);
}

TEST(Comparison, CountsAllComparedCasesInItsCorrection) {
  std::vector<std::vector<double>> many(20, std::vector<double>{1, 1.01, 0.99, 1.005, 0.995});
  const Report base = made_report(many);
  many.front() = {1.021, 1.0312, 1.0108, 1.0261, 1.0159};
  const Report now = made_report(many);
  EXPECT_EQ(compared(base, now).outcome(), Outcome::nothing_regressed);
  const Report base_alone = made_report({many.back()});
  const Report now_alone = made_report({many.front()});
  EXPECT_EQ(compared(base_alone, now_alone).outcome(), Outcome::regressed)
      << "the same times are evidence where there is one case";
}

TEST(Comparison, LeavesWhatAllCasesShareOutOfTheLabels) {
  const Report both = made_report({steady(1), steady(2)});
  const Comparison comparison = compared(both, both);
  EXPECT_EQ(comparison.rows[0].label, "made/one/n:0");
  ASSERT_THAT(comparison.scenarios, SizeIs(1));
  EXPECT_THAT(comparison.scenarios[0].common, ElementsAre("f32", "kind plain"));
  EXPECT_EQ(comparison.scenarios[0].machine, "A processor, 2 cores, 7.5 GiB · cpu (1 core)");
}

TEST(Comparison, ShowsParametersOutsideOfTheIdentityWhereTheyDiffer) {
  Report base = made_report({steady(1), steady(2)});
  for (report::CaseResult& c : base.cases) c.hidden_parameters = {{"slowdown", 0.0}};
  EXPECT_THAT(compared(base, base).scenarios[0].hidden_differences, IsEmpty());
  Report now = base;
  for (report::CaseResult& c : now.cases) c.hidden_parameters = {{"slowdown", 5.0}};
  const Comparison comparison = compared(base, now);
  EXPECT_THAT(comparison.scenarios[0].hidden_differences, ElementsAre("slowdown: 0 before, 5 now"));
  EXPECT_THAT(to_table(comparison), HasSubstr("compared although they differ:\n"));
  EXPECT_THAT(to_markdown(comparison), HasSubstr("differ: slowdown: 0 before, 5 now"));
  EXPECT_EQ(comparison.rows[0].label, "made/one/n:0");
  EXPECT_THAT(comparison.scenarios[0].common, ElementsAre("f32", "kind plain"));
}

TEST(Comparison, FindsNoDifferenceOfMachinesInAScenarioOfOneSide) {
  const Report base = made_report({steady(1)});
  Report now = base;
  now.cases[0].scenario = now.cases[0].name = "other";
  now.devices[0].scenario = "other";
  const Comparison comparison = compared(base, now);
  ASSERT_THAT(comparison.scenarios, SizeIs(2));
  for (const ScenarioFacts& facts : comparison.scenarios) {
    EXPECT_THAT(facts.machine, HasSubstr("cpu (1 core)"));
    EXPECT_THAT(facts.machine_difference, IsEmpty());
  }
}

TEST(Comparison, SaysWhenMachinesDifferThoughItIsAllowed) {
  const Report base = made_report({steady(1)});
  Report now = base;
  now.machine.cpu_model = "Another";
  const Comparison comparison = compared(base, now, {.rule = {}, .allow_different_machine = true});
  EXPECT_EQ(comparison.outcome(), Outcome::nothing_regressed);
  EXPECT_EQ(comparison.scenarios[0].machine_difference, "CPU: A processor before, Another now");
}

TEST(Comparison, SaysWhatItCannotKnowFromFewProcesses) {
  const auto notes = [](const Report& base, const Report& now) {
    return ::testing::PrintToString(compared(base, now).notes);
  };
  const Report five = made_report({steady(1)});
  const Report one = made_report({{1.0}});
  const Report two = made_report({{1.0, 1.01}});
  EXPECT_THAT(compared(five, five).notes, IsEmpty());
  EXPECT_THAT(notes(five, one),
              AllOf(HasSubstr("one process"), HasSubstr("1.5%"), HasSubstr("--processes 6")));
  EXPECT_THAT(notes(two, five), AllOf(HasSubstr("2 processes"), HasSubstr("--processes 6")));
}

TEST(Comparison, AssumesMoreSpreadOfProgramsThatRepeatInARow) {
  Report base = made_report({{1.0}});
  Report now = made_report({{1.12}});
  EXPECT_EQ(compared(base, now).rows[0].verdict(), Verdict::regressed);
  base.measured_by = now.measured_by = "Google Benchmark 1.9.0";
  const Comparison comparison = compared(base, now);
  EXPECT_EQ(comparison.rows[0].verdict(), Verdict::undecided);
  EXPECT_THAT(comparison.notes[0], AllOf(HasSubstr("of 5.0% is assumed"),
                                         HasSubstr("parbench ab --measure google-benchmark")));
  EXPECT_EQ(compared(base, made_report({{1.5}})).rows[0].verdict(), Verdict::regressed);
  EXPECT_THAT(side_text(comparison, comparison.now),
              StartsWith("after.json · Google Benchmark 1.9.0 · 1 process"));
}

TEST(Comparison, HasNoPairsOfItsOwnWhereOnlyMatchesAreWanted) {
  const Everything reports;
  Comparison comparison = matched({"a", reports.base}, {"b", reports.now});
  EXPECT_EQ(comparison.rows.size(), 10);
  for (const Row& row : comparison.rows) EXPECT_FALSE(row.judgement);
  Judgement slower;
  slower.verdict = Verdict::regressed;
  for (Row& row : comparison.rows) {
    if (row.name == "made/one/n:1") row.judgement = slower;
  }
  sort_rows(comparison.rows);
  EXPECT_EQ(comparison.rows.front().name, "made/one/n:1");
}

// ------------------------------------------------------------------------------------------- words

}  // namespace
}  // namespace parbench::compare
