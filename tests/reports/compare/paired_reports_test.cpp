// Pairs of reports, added up.
#include "reports/compare/paired_reports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/reports/compare/made_report.h"

namespace parbench::compare {
namespace {

using report::Report;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

LogRatios add(PairedReports& pairs, const Report& base, const Report& now) {
  return pairs.add({"a", base}, {"b", now});
}

PairedReports new_pairs() { return {PairedComparison::Plan{}, false}; }

/// Pairs of two cases, the second of which is a tenth slower, while everything drifts.
PairedReports settled() {
  PairedReports pairs = new_pairs();
  for (int pair = 0; pair < 5; ++pair) {
    const double drift = 1 + 0.3 * pair;
    const double jitter = pair % 2 == 0 ? 1.0005 : 0.9995;
    add(pairs, made_report({{drift}, {drift}}),
        made_report({{drift * jitter}, {1.1 * drift * jitter}}));
  }
  return pairs;
}

TEST(PairedReports, JudgeRatiosWhateverDrifts) {
  const PairedReports pairs = settled();
  EXPECT_TRUE(pairs.pairs().is_settled());
  const Comparison comparison = pairs.comparison().value();
  EXPECT_EQ(comparison.outcome(), Outcome::regressed);
  ASSERT_THAT(comparison.rows, SizeIs(2));
  EXPECT_EQ(comparison.rows[0].name, "made/one/n:1");
  EXPECT_NEAR(comparison.rows[0].judgement->change.value, 0.1, 0.001);
  EXPECT_EQ(comparison.rows[0].now->processes, 5);
  EXPECT_NEAR(comparison.rows[1].base->seconds, std::pow(1 * 1.3 * 1.6 * 1.9 * 2.2, 0.2), 1e-9);
  EXPECT_EQ(comparison.rows[1].judgement->verdict, Verdict::same);
  EXPECT_EQ(comparison.base.name, "a");
  EXPECT_EQ(comparison.base.processes, 5);
  EXPECT_EQ(comparison.rule.significance, 0.02);
}

TEST(PairedReports, SayWhyACaseHasNotBeenJudged) {
  PairedReports pairs = new_pairs();
  add(pairs, made_report({{1}}), made_report({{1}}));
  EXPECT_EQ(pairs.comparison()->rows.at(0).verdict(), Verdict::undecided);
  EXPECT_EQ(pairs.comparison()->rows.at(0).reason,
            "verdicts are given after 5 pairs at the earliest");
  pairs.conclude();
  EXPECT_EQ(pairs.comparison()->rows.at(0).reason,
            "fewer than 2 pairs do not show how much they differ");
  EXPECT_EQ(settled().comparison()->rows.at(0).reason, "");
}

TEST(PairedReports, ListTheRatiosOfEachPair) {
  PairedReports pairs = new_pairs();
  EXPECT_FALSE(pairs.comparison());
  Report now = made_report({{1.1}, {1}, {1}});
  now.cases[1].dtype = "bf16";
  const LogRatios ratios = add(pairs, made_report({{1}, {1}}), now);
  EXPECT_THAT(ratios, UnorderedElementsAre(
                          Pair("made/one/n:0", ::testing::DoubleNear(std::log(1.1), 1e-12))));
  const Comparison early = pairs.comparison().value();
  EXPECT_THAT(early.rows, SizeIs(3));
  for (const Row& row : early.rows) EXPECT_FALSE(row.judgement);
}

TEST(PairedReports, HaveNoVerdictOfACaseThatFailsInAnyPair) {
  PairedReports pairs = new_pairs();
  for (int pair = 0; pair < 5; ++pair) {
    Report now = made_report({{1.1}, {1.1 + 0.0001 * pair}});
    if (pair == 3) {
      now.cases[0].status = report::CaseStatus::failed;
      now.cases[0].error = "planted";
    }
    add(pairs, made_report({{1}, {1}}), now);
  }
  const Comparison comparison = pairs.comparison().value();
  EXPECT_EQ(comparison.outcome(), Outcome::case_failed);
  EXPECT_EQ(comparison.count(Verdict::regressed), 1);
  EXPECT_EQ(comparison.rows[1].name, "made/one/n:0");
  EXPECT_EQ(comparison.rows[1].reason, "failed in NEW: planted");
}

TEST(PairedReports, WaitForNoVerdictThatCannotCome) {
  PairedReports pairs = new_pairs();
  int count = 0;
  for (; !pairs.pairs().is_finished(); ++count) {
    Report now = made_report({{1 + 0.0001 * (count % 2)}, {1}});
    if (count > 0) now.cases[1].status = report::CaseStatus::failed;
    add(pairs, made_report({{1}, {1}}), now);
  }
  EXPECT_EQ(count, 5);
  EXPECT_TRUE(pairs.pairs().is_settled());
  EXPECT_THAT(pairs.pairs().verdicts(), SizeIs(1)) << "that of the case that goes on";
}

TEST(PairedReports, HaveNoVerdictForACaseThatFailedAtFirst) {
  PairedReports pairs = new_pairs();
  for (int pair = 0; pair < 5; ++pair) {
    Report now = made_report({{1 + 0.0001 * pair}, {1 + 0.0001 * pair}});
    if (pair == 0) now.cases[1].status = report::CaseStatus::failed;
    add(pairs, made_report({{1}, {1}}), now);
  }
  ASSERT_THAT(pairs.pairs().verdicts(), SizeIs(1));
  EXPECT_EQ(pairs.pairs().verdicts()[0].name, "made/one/n:0");
}

TEST(PairedReports, ReportAProcessThatEndedBadlyInAnyPair) {
  PairedReports pairs = new_pairs();
  for (int pair = 0; pair < 3; ++pair) {
    Report now = made_report({{1.0}});
    now.complete = pair != 1;
    if (pair == 1)
      now.processes = {{.started_utc = {},
                        .duration_seconds = 1,
                        .exit_code = 139,
                        .error = "was ended by signal 11"}};
    add(pairs, made_report({{1}}), now);
  }
  const Comparison comparison = pairs.comparison().value();
  EXPECT_EQ(comparison.outcome(), Outcome::case_failed);
  EXPECT_THAT(comparison.notes, SizeIs(2));
}

TEST(PairedReports, TakeUpCasesThatOnlyLaterPairsHave) {
  PairedReports pairs = new_pairs();
  add(pairs, made_report({{1}}), made_report({{1}}));
  add(pairs, made_report({{1}, {1}}), made_report({{1}, {1}}));
  pairs.conclude();
  EXPECT_TRUE(pairs.pairs().is_finished());
  EXPECT_THAT(pairs.comparison()->rows, SizeIs(2));
}

}  // namespace
}  // namespace parbench::compare
