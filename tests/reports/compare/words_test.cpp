// What comparisons say: changes, intervals, answers and notes.
#include "reports/compare/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "reports/compare/comparison.h"
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

Change change(double value, double low, double high) { return {value, {low, high, 0.95}}; }

TEST(Words, StateTheDirectionOfAChange) {
  EXPECT_EQ(change_text(change(0.051, 0.04, 0.06)), "5.1% slower");
  EXPECT_EQ(change_text(change(-0.03, -0.04, -0.02)), "3.0% faster");
  EXPECT_EQ(change_text(change(0.0001, -0.04, 0.04)), "no change");
  EXPECT_EQ(change_text(change(0.0004, 0.0001, 0.0007)), "0.04% slower");
  EXPECT_EQ(change_text(change(0.99, 0.9, 1.1)), "99% slower");
  EXPECT_EQ(change_text(change(1.5, 1.4, 1.6)), "2.50× as long");
  EXPECT_EQ(change_text(change(-0.505, -0.6, -0.4)), "2.02× as fast") << "7.54 ms became 3.73 ms";
  EXPECT_EQ(change_text(change(-0.09, -0.1, -0.08)), "9.0% faster");
  EXPECT_EQ(change_text(change(-1, -1, -1)), "– as fast");
}

TEST(Words, StateIntervalsWithTheirSigns) {
  EXPECT_EQ(interval_text(change(0.05, 0.04, 0.061)), "+4.0 to +6.1%");
  EXPECT_EQ(interval_text(change(0, -0.04, 0)), "−4.0 to 0.0%");
  const double unlimited = std::numeric_limits<double>::infinity();
  EXPECT_EQ(interval_text(change(40, 5, unlimited)), "6.00–∞×");
}

TEST(Words, StateIntervalsAsFactorsWhereTheChangeIsOne) {
  EXPECT_EQ(change_text(change(6.11, 5.19, 7.18)), "7.11× as long");
  EXPECT_EQ(interval_text(change(6.11, 5.19, 7.18)), "6.19–8.18×");
  EXPECT_EQ(interval_text(change(-0.5, -0.6, -0.375)), "1.60–2.50×") << "as fast";
  EXPECT_EQ(interval_text(change(-0.2, -0.5, 0.25)), "0.80–2.00×");
}

TEST(Words, CallAnIntervalUnknownThatReachesBeyond1000Percent) {
  EXPECT_EQ(interval_text(change(0.5, -0.8, 10)), "−80 to +1000%");
  EXPECT_EQ(interval_text(change(0.5, -0.8, 10.01)), "unknown");
  EXPECT_EQ(interval_text(change(0.5, -1, std::numeric_limits<double>::infinity())), "unknown");
  EXPECT_EQ(interval_text(change(19, 18, 20.1)), "19.0–21.1×") << "a change that is certain";
}

TEST(Words, CallNothingASuccessThatIsNotDecided) {
  EXPECT_EQ(sentence(partly_decided(0, 3)), "Undecided: 3 of 3 cases.");
  EXPECT_EQ(sentence(partly_decided(1, 2)), "Undecided: 2 of 3 cases. 1 the same.");
  EXPECT_EQ(sentence(partly_decided(2, 1)),
            "No regression found in 2 cases. 2 the same, 1 undecided.");
  const Options options{.rule = {.required_decided = 0.8}};
  EXPECT_EQ(sentence(partly_decided(2, 1, options)),
            "Undecided: 1 of 3 cases; 80% must be decided (--require-decided). 2 the same.");
  EXPECT_EQ(sentence(partly_decided(4, 1, options)),
            "No regression found in 4 cases. 4 the same, 1 undecided.");
  const Report base = made_report({steady(1), steady(1), {0.9, 0.95, 1, 1.05, 1.1}, steady(1)});
  Report now = base;
  now.cases[3].status = CaseStatus::not_run;
  EXPECT_EQ(
      sentence(compared(base, now, options)),
      "Undecided: 2 of 4 cases (1 not measured); 80% must be decided (--require-decided). 2 the "
      "same.");
  now.cases[2].status = CaseStatus::not_run;
  EXPECT_EQ(
      sentence(compared(base, now, options)),
      "Undecided: 2 of 4 cases (2 not measured); 80% must be decided (--require-decided). 2 the "
      "same.");
  now.cases.resize(1);
  EXPECT_EQ(sentence(compared(base, now)), "Undecided: 3 of 4 cases (3 only in BASE). 1 the same.");
}

TEST(Words, AnswerInASentence) {
  const auto said = [](const Report& base, const Report& now) {
    return sentence(compared(base, now));
  };
  const Everything reports;
  EXPECT_EQ(said(reports.base, reports.now),
            "1 case failed in NEW: made/one/dtype:f32/n:5. 2 of 5 cases regressed: "
            "made/one/dtype:f32/n:3 20.0% slower (+19.8 to +20.2%), made/one/dtype:f32/n:1 6.0% "
            "slower (+5.8 to +6.2%). 1 improved, 1 the same, 1 undecided. 1 not measured, 1 not "
            "comparable, 1 only in BASE, 1 only in NEW.");
  const Report one = made_report({steady(1)});
  EXPECT_EQ(said(one, one), "No regression found in 1 case. 1 the same.");
  Report elsewhere = one;
  elsewhere.machine.cpu_model = "Another";
  EXPECT_EQ(said(one, elsewhere),
            "Nothing could be compared: made/one: another machine (--allow-different-machine "
            "compares): CPU: A processor before, Another now.");
  EXPECT_EQ(said(one, made_report({})),
            "Nothing could be compared: no case is in both reports; measure the same cases with "
            "parbench --rerun BASE.");
  EXPECT_EQ(said(made_report({}), made_report({})),
            "Nothing could be compared: the reports have no cases.");
  Report failed = one;
  failed.cases[0].status = CaseStatus::failed;
  EXPECT_EQ(said(one, failed), "1 case failed in NEW: made/one. Nothing could be compared.");
}

TEST(Words, NameAFewOfManyRegressions) {
  const Report base = made_report(std::vector<std::vector<double>>(6, steady(1)));
  const Report now = made_report(std::vector<std::vector<double>>(6, steady(1.5)));
  EXPECT_THAT(sentence(compared(base, now)),
              AllOf(HasSubstr("6 of 6 cases regressed"), HasSubstr(" and 3 more.")));
}

TEST(Words, NameCommitsProcessesAndTime) {
  Report report = made_report({steady(1)});
  report.machine.commit = "0123456789abcdef0123456789abcdef01234567";
  report.machine.dirty = true;
  const auto side = [&] {
    const Comparison comparison = compared(report, report);
    return side_text(comparison, comparison.base);
  };
  EXPECT_EQ(side(),
            "before.json · parbench 0.1.0 · commit 0123456789 with changes · 5 processes · "
            "2024-05-04 10:20 UTC");
  report.started_utc = "yesterday";
  report.machine.dirty = false;
  EXPECT_THAT(side(), AllOf(HasSubstr("yesterday"), Not(HasSubstr("with changes"))));
}

TEST(Words, StateTheRuleOfTheVerdicts) {
  const Report two = made_report({steady(1), steady(1)});
  EXPECT_THAT(all_notes(compared(two, two)),
              ElementsAre(HasSubstr("geometric means of the processes' medians"),
                          "Changes below 2% do not count (--threshold). Chance of any false alarm "
                          "in 2 cases: at most 5% (Holm's correction; each interval holds the true "
                          "change with 97.5%)."));
  EXPECT_THAT(all_notes(compared(two, made_report({}))), IsEmpty());
}

TEST(Words, ExplainTimesThatShowGivesOtherwise) {
  // The geometric mean of processes is 1.0 × 1.7^(1/3), their median 1.0.
  const Report skewed = made_report({{1.0, 1.0, 1.7}});
  const Comparison processes = compared(skewed, skewed);
  EXPECT_NE(seconds_text(processes.rows[0].base), "1.000 s");
  EXPECT_THAT(all_notes(processes),
              Contains(HasSubstr("BASE and NEW are geometric means of the processes' medians")));
  const Report one = made_report({{1.0}});
  EXPECT_THAT(all_notes(compared(one, one)), Not(Contains(HasSubstr("geometric means"))));
  Comparison pairs = compared(one, one);
  pairs.pairs.emplace();
  EXPECT_THAT(all_notes(pairs), Contains(HasSubstr("geometric means over the pairs")));
}

TEST(Words, StateWhatMoreTimeWouldBringWhereItIsSpent) {
  const Report noisy = made_report({{0.9, 0.95, 1, 1.05, 1.1}});
  Comparison spent = compared(noisy, noisy);
  spent.pairs.emplace();
  spent.pairs->end = PairsEnd::time_spent;
  spent.pairs->looks = {5, 40};
  spent.pairs->seconds = 12;
  spent.pairs->pairs.resize(4);
  spent.base.processes = 4;
  EXPECT_EQ(sentence(spent), "The time limit was reached (--max-time): Undecided: 1 of 1 case.");
  EXPECT_THAT(all_notes(spent),
              Contains(HasSubstr("the time limit was reached; more pairs may decide the undecided "
                                 "cases, all 40 planned pairs take about 2 min 00 s")));
  EXPECT_THAT(side_text(spent, spent.base), HasSubstr(" · 4 runs · "));
  spent.rows[0].judgement->verdict = Verdict::same;
  EXPECT_EQ(sentence(spent), "No regression found in 1 case. 1 the same.") << "all is settled";
}

TEST(Words, LeaveOutAThresholdOfNothing) {
  const Report one = made_report({steady(1)});
  EXPECT_THAT(all_notes(compared(one, one, {.rule = {.threshold = 0}})),
              Not(Contains(HasSubstr("do not count"))));
}

TEST(Words, NeverPromiseCertainty) {
  const std::vector<std::vector<double>> many(2000, steady(1));
  const Report report = made_report(many);
  EXPECT_THAT(all_notes(compared(report, report)), Contains(HasSubstr("with 99.99%")));
}

}  // namespace
}  // namespace parbench::compare
