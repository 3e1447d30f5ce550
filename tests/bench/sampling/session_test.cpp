// A session over scripted cases: order of events, numbers, comparisons.
#include "bench/sampling/session/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "bench/sampling/cost_rounds.h"
#include "kernels/base/error.h"
#include "tests/bench/sampling/session_fixture.h"

namespace parbench {
namespace {

using fake::FakeScenario;
using fake::SessionTest;
using testing::ElementsAre;
using testing::SizeIs;

double steady(int) { return 1.0; }

TEST_F(SessionTest, AOneCaseSessionVerifiesThenSamples) {
  scenario.behaviours["base"] = {};
  const SessionResult result = run({FakeScenario::spec("base")});
  EXPECT_TRUE(result.all_measured());
  ASSERT_THAT(result.cases, SizeIs(1));
  const report::CaseResult& only = result.cases[0];
  EXPECT_EQ(only.name, "fake/base/n:1");
  EXPECT_EQ(only.status, report::CaseStatus::measured);
  EXPECT_EQ(only.stopped_because, "precision");
  EXPECT_THAT(only.samples, SizeIs(6));
  EXPECT_DOUBLE_EQ(only.statistics->median, 1.0);
  EXPECT_EQ(only.amount, 10);
  EXPECT_EQ(only.amount_unit, "images");
  EXPECT_THAT(only.notes, ElementsAre(std::pair<std::string, std::string>("partition", "middle")));
  ASSERT_TRUE(only.verification.has_value());
  EXPECT_TRUE(only.verification->passed);
  EXPECT_EQ(only.verification->against, "naive computation");
  EXPECT_THAT(std::vector(scenario.log.begin(), scenario.log.begin() + 6),
              ElementsAre("prepare fake/base/n:1", "reset fake/base/n:1", "run fake/base/n:1",
                          "costs fake/base/n:1", "reset fake/base/n:1", "run fake/base/n:1"));
}

TEST_F(SessionTest, TheVerificationRunIsTheWarmUpAndCountsAsSampling) {
  scenario.behaviours["base"] = {.seconds = steady};
  const SessionResult result = run({FakeScenario::spec("base")});
  EXPECT_EQ(scenario.count("run fake/base/n:1"), 7U);
  EXPECT_DOUBLE_EQ(result.times.sampling, 7);
}

// Loading kernels takes a second where running them takes microseconds.
TEST_F(SessionTest, AColdFirstExecutionDoesNotDecideTheIterations) {
  scenario.behaviours["base"] = {
      .seconds = [](int execution) { return execution == 0 ? 1.0 : 1e-3; }, .task_seconds = {1e-3}};
  const SessionResult result = run({FakeScenario::spec("base")});
  ASSERT_FALSE(result.cases[0].samples.empty());
  EXPECT_EQ(result.cases[0].samples[0].iterations, 20) << "20 ms of 1 ms each";
}

TEST_F(SessionTest, AGraphIsCapturedBeforeTheRunThatIsVerified) {
  scenario.behaviours["base"] = {.submit = SubmitMode::graph};
  const SessionResult result = run({FakeScenario::spec("base")});
  EXPECT_TRUE(result.all_measured());
  EXPECT_FALSE(result.cases[0].graph) << "the strategy says so, not the run";
  EXPECT_EQ(result.cases[0].submit, SubmitMode::graph);
  EXPECT_THAT(scenario.submit_modes, ElementsAre(SubmitMode::graph));
  EXPECT_THAT(std::vector(scenario.log.begin(), scenario.log.begin() + 6),
              ElementsAre("prepare fake/base/n:1", "reset fake/base/n:1", "capture fake/base/n:1",
                          "forget fake/base/n:1", "reset fake/base/n:1", "run fake/base/n:1"))
      << "what the run before the capture left must not pass for what the replay computes";
  EXPECT_EQ(scenario.count("capture fake/base/n:1"), 1U);
}

TEST_F(SessionTest, ARunWithGraphsCapturesEveryCaseAndComparesWithWhatIsNotCaptured) {
  scenario.reference_strategy = "base";
  for (const char* strategy : {"a", "base"}) scenario.behaviours[strategy] = {};
  std::vector<CaseSpec> specs{FakeScenario::spec("base"), FakeScenario::spec("a")};
  for (CaseSpec& spec : specs) spec.graph = true;
  const SessionResult result = run(specs);
  EXPECT_TRUE(result.all_measured());
  EXPECT_EQ(result.cases[1].name, "fake/a/n:1/graph:true");
  EXPECT_TRUE(result.cases[1].graph);
  EXPECT_EQ(result.cases[1].submit, SubmitMode::graph);
  EXPECT_EQ(result.cases[0].verification->against, "fake/base/n:1") << "the same, not captured";
  EXPECT_EQ(result.cases[1].verification->against, "fake/base/n:1");
  ASSERT_TRUE(result.cases[1].speedup);
  EXPECT_EQ(result.cases[1].speedup->baseline, "fake/base/n:1/graph:true");
  EXPECT_EQ(scenario.count("capture fake/base/n:1"), 0U);
  EXPECT_EQ(scenario.count("capture fake/base/n:1/graph:true"), 1U);
  EXPECT_EQ(scenario.count("capture fake/a/n:1/graph:true"), 1U);
}

TEST_F(SessionTest, ACapturedCaseWithoutAReferenceIsComparedWithItselfWithoutTheGraph) {
  scenario.behaviours["base"] = {};
  CaseSpec captured = FakeScenario::spec("base");
  captured.graph = true;
  const SessionResult result = run({captured});
  EXPECT_TRUE(result.all_measured());
  ASSERT_TRUE(result.cases[0].verification);
  EXPECT_EQ(result.cases[0].verification->against, "fake/base/n:1");
}

TEST_F(SessionTest, ACaseThatCannotBeCapturedIsSkippedAndTheOthersRun) {
  scenario.behaviours["base"] = {};
  scenario.behaviours["a"] = {.submit = SubmitMode::graph,
                              .on_capture = [] { throw Unsupported("task 'x' cannot"); }};
  scenario.behaviours["b"] = {.submit = SubmitMode::thread_per_lane};
  std::vector<CaseSpec> specs{FakeScenario::spec("a"), FakeScenario::spec("b"),
                              FakeScenario::spec("base")};
  specs[1].graph = true;
  const SessionResult result = run(specs);
  EXPECT_EQ(result.cases[0].status, report::CaseStatus::skipped);
  EXPECT_EQ(result.cases[0].error, "task 'x' cannot");
  EXPECT_EQ(result.cases[1].status, report::CaseStatus::skipped);
  EXPECT_THAT(result.cases[1].error, testing::HasSubstr("run it without --graph"));
  EXPECT_EQ(result.cases[2].status, report::CaseStatus::measured);
}

TEST_F(SessionTest, AReferenceInTheSweepRunsOnceForAll) {
  scenario.reference_strategy = "base";
  for (const char* strategy : {"a", "b", "base"}) scenario.behaviours[strategy] = {};
  const SessionResult result =
      run({FakeScenario::spec("a"), FakeScenario::spec("b"), FakeScenario::spec("base")});
  EXPECT_TRUE(result.all_measured());
  EXPECT_EQ(scenario.count("prepare fake/base/n:1"), 1U);
  EXPECT_EQ(scenario.log.front(), "prepare fake/base/n:1");
  EXPECT_EQ(result.cases[0].name, "fake/a/n:1") << "results keep the order of the specs";
  EXPECT_EQ(result.cases[0].verification->against, "fake/base/n:1");
  EXPECT_EQ(result.cases[2].verification->against, "naive computation");
}

TEST_F(SessionTest, ADifferenceThatOtherRoundingsMakeInTheReferenceIsAccepted) {
  scenario.reference_strategy = "base";
  scenario.behaviours["base"] = {.output = {1, 2}, .perturbed_output = {1, 2.1F}};
  scenario.behaviours["rounded"] = {.output = {1, 2.1F}};
  scenario.behaviours["wrong"] = {.output = {1, 2.5F}};
  std::vector<CaseSpec> specs{FakeScenario::spec("base"), FakeScenario::spec("rounded"),
                              FakeScenario::spec("wrong")};
  EXPECT_EQ(run(specs).cases[1].status, report::CaseStatus::failed)
      << "neither training nor a network";
  for (CaseSpec& spec : specs) spec.parameters.set("optimizer", std::string("sgd"));
  const SessionResult result = run(specs);
  EXPECT_EQ(result.cases[1].status, report::CaseStatus::measured);
  EXPECT_EQ(result.cases[2].status, report::CaseStatus::failed);
  EXPECT_THAT(result.cases[2].error, testing::HasSubstr("y[1] is 2.5, the reference has 2"));
  EXPECT_EQ(scenario.count("prepare fake/base/n:1/optimizer:sgd"), 5U)
      << "itself, two changes for the first difference, two more for the second";
}

TEST_F(SessionTest, AReferenceOutsideTheSweepIsComputedOncePerName) {
  scenario.reference_strategy = "elsewhere";
  for (const char* strategy : {"a", "b", "elsewhere"}) scenario.behaviours[strategy] = {};
  const SessionResult result = run({FakeScenario::spec("a", 1), FakeScenario::spec("a", 2),
                                    FakeScenario::spec("b", 1), FakeScenario::spec("b", 2)});
  EXPECT_TRUE(result.all_measured());
  EXPECT_EQ(scenario.count("prepare fake/elsewhere/n:1"), 1U);
  EXPECT_EQ(scenario.count("run fake/elsewhere/n:1"), 1U);
  EXPECT_EQ(scenario.count("run fake/elsewhere/n:2"), 1U);
}

TEST_F(SessionTest, SpeedupIsOverTheBaselineAtTheSameParameters) {
  scenario.behaviours["base"] = {.seconds = [](int) { return 2.0; }};
  scenario.behaviours["fast"] = {.seconds = [](int) { return 0.5; }};
  const SessionResult result = run({FakeScenario::spec("base", 1), FakeScenario::spec("fast", 1),
                                    FakeScenario::spec("fast", 2)});
  EXPECT_FALSE(result.cases[0].speedup.has_value());
  ASSERT_TRUE(result.cases[1].speedup.has_value());
  EXPECT_DOUBLE_EQ(result.cases[1].speedup->value, 4.0);
  EXPECT_EQ(result.cases[1].speedup->baseline, "fake/base/n:1");
  ASSERT_TRUE(result.cases[1].speedup->interval.has_value());
  EXPECT_DOUBLE_EQ(result.cases[1].speedup->interval->low, 4.0);
  EXPECT_FALSE(result.cases[2].speedup.has_value()) << "another n";
}

TEST_F(SessionTest, AScenarioMayNameTheBaselineOfACase) {
  scenario.behaviours["base"] = {.seconds = [](int) { return 2.0; }};
  scenario.behaviours["part"] = {.seconds = [](int) { return 1.0; }};
  scenario.behaviours["parallel part"] = {.seconds = [](int) { return 0.8; }};
  scenario.baseline_rule = [](const CaseSpec& candidate, const CaseSpec& spec) {
    return candidate.strategy == "part" && spec.strategy == "parallel part";
  };
  const SessionResult result = run({FakeScenario::spec("base"), FakeScenario::spec("part"),
                                    FakeScenario::spec("parallel part")});
  ASSERT_TRUE(result.cases[2].speedup.has_value());
  EXPECT_DOUBLE_EQ(result.cases[2].speedup->value, 1.25);
  EXPECT_EQ(result.cases[2].speedup->baseline, "fake/part/n:1");
  EXPECT_FALSE(result.cases[1].speedup.has_value());
}

TEST_F(SessionTest, ABaselineWithFewerParametersServesAll) {
  scenario.behaviours["base"] = {.seconds = [](int) { return 2.0; }};
  scenario.behaviours["split"] = {.seconds = steady};
  std::vector<CaseSpec> specs{FakeScenario::spec("base")};
  for (const std::int64_t split : {3, 5}) {
    specs.push_back(FakeScenario::spec("split"));
    specs.back().parameters.set("split", split);
  }
  const SessionResult result = run(specs);
  EXPECT_DOUBLE_EQ(result.cases[1].speedup->value, 2.0);
  EXPECT_DOUBLE_EQ(result.cases[2].speedup->value, 2.0);
}

/// Whole and part, and how much longer the whole takes.
class SessionMetrics : public SessionTest {
 protected:
  SessionMetrics() {
    scenario.metric_rule = [](const CaseSpec& spec) -> std::vector<Metric> {
      if (spec.strategy != "whole") return {};
      return {{.name = "extra",
               .others = {FakeScenario::spec("part")},
               .value = [](std::span<const double> seconds, std::span<const double>) {
                 return seconds[1] - seconds[0];
               }}};
    };
    scenario.behaviours["part"] = {.seconds = steady};
    scenario.behaviours["whole"] = {.seconds = [](int i) { return i % 2 == 0 ? 1.5 : 1.75; }};
  }
};

TEST_F(SessionMetrics, ComeFromPairedRoundsWithAnInterval) {
  const SessionResult result = run({FakeScenario::spec("part"), FakeScenario::spec("whole")});
  EXPECT_TRUE(result.cases[0].metrics.empty());
  ASSERT_THAT(result.cases[1].metrics, SizeIs(1));
  const report::Metric& extra = result.cases[1].metrics[0];
  EXPECT_EQ(extra.name, "extra");
  ASSERT_TRUE(extra.interval.has_value());
  EXPECT_DOUBLE_EQ(extra.interval->low, -0.75);
  EXPECT_DOUBLE_EQ(extra.interval->high, -0.5);
  EXPECT_GT(result.cases[1].samples.size(), 6U);
  EXPECT_EQ(result.cases[0].samples.size(), result.cases[1].samples.size())
      << "the part is sampled on while the whole is";
}

TEST_F(SessionMetrics, ReachTheAnswer) {
  const SessionResult result = run({FakeScenario::spec("part"), FakeScenario::spec("whole")});
  ASSERT_THAT(scenario.answered, SizeIs(2));
  EXPECT_TRUE(scenario.answered[0].metrics.empty());
  ASSERT_TRUE(scenario.answered[1].metrics.contains("extra"));
  EXPECT_EQ(scenario.answered[1].metrics.at("extra").interval, result.cases[1].metrics[0].interval);
}

TEST_F(SessionMetrics, HaveNoIntervalFromASingleRound) {
  options.fixed_samples = 1;
  (void)run({FakeScenario::spec("part"), FakeScenario::spec("whole")});
  ASSERT_THAT(scenario.answered, SizeIs(2));
  EXPECT_EQ(scenario.answered[1].metrics.at("extra").interval, std::nullopt);
}

TEST_F(SessionMetrics, AskNothingOfCasesWhenOneWasNotPrepared) {
  scenario.metric_rule = [](const CaseSpec& spec) -> std::vector<Metric> {
    if (spec.strategy != "whole") return {};
    return {{.name = "share",
             .others = {FakeScenario::spec("part"), FakeScenario::spec("broken")},
             .value = [](std::span<const double>, std::span<const double>) { return 1.0; }}};
  };
  scenario.behaviours["broken"] = {.on_prepare = [] { throw Error("no"); }};
  const SessionResult result =
      run({FakeScenario::spec("part"), FakeScenario::spec("whole"), FakeScenario::spec("broken")});
  EXPECT_GT(result.cases[1].samples.size(), 6U);
  EXPECT_THAT(result.cases[0].samples, SizeIs(6)) << "there is no metric that it could be for";
}

TEST_F(SessionMetrics, AreLookedUpOnce) {
  int asked = 0;
  scenario.metric_rule = [&asked, rule = scenario.metric_rule](const CaseSpec& spec) {
    ++asked;
    return rule(spec);
  };
  scenario.behaviours["whole"].seconds = [](int i) { return i % 2 == 0 ? 3.0 : 4.0; };
  (void)run({FakeScenario::spec("part"), FakeScenario::spec("whole")});
  EXPECT_GE(checkpoints.size(), 3U);
  EXPECT_EQ(asked, 2) << "once for each case";
}

TEST_F(SessionMetrics, NeedAllTheirCases) {
  EXPECT_TRUE(run({FakeScenario::spec("whole")}).cases[0].metrics.empty());
  scenario.behaviours["part"].verdict = "no";
  const SessionResult result = run({FakeScenario::spec("part"), FakeScenario::spec("whole")});
  EXPECT_EQ(result.cases[1].status, report::CaseStatus::measured);
  EXPECT_TRUE(result.cases[1].metrics.empty());
}

TEST_F(SessionTest, CasesAreRestoredOnlyWhenAnotherHasRun) {
  scenario.behaviours["base"] = {.cost_seconds = 10};
  (void)run({FakeScenario::spec("base")});
  EXPECT_EQ(scenario.count("reset fake/base/n:1"), 1 + scenario.count("costs fake/base/n:1"))
      << "before verification, after measuring tasks";
  scenario.log.clear();
  scenario.behaviours["other"] = {};
  (void)run({FakeScenario::spec("base"), FakeScenario::spec("other")});
  for (std::size_t i = 1; i < scenario.log.size(); ++i) {
    const std::string& event = scenario.log[i];
    if (!event.starts_with("run ") || scenario.log[i - 1] == event) continue;
    EXPECT_EQ(scenario.log[i - 1], "reset " + event.substr(4)) << i;
  }
}

TEST_F(SessionTest, ShortCasesAreWarmedAfterAnotherHasRun) {
  scenario.behaviours["base"] = {.seconds = [](int) { return 0.001; }};
  scenario.behaviours["other"] = {.seconds = [](int) { return 0.001; }};
  const SessionResult result = run({FakeScenario::spec("base"), FakeScenario::spec("other")});
  const report::CaseResult& base = result.cases[0];
  EXPECT_EQ(base.samples[0].iterations, 20);
  EXPECT_GT(scenario.count("run fake/base/n:1"), 20 * base.samples.size());
  EXPECT_NEAR(result.times.sampling, scenario.clock, 1e-9);
}

TEST_F(SessionTest, EfficiencyIsTheBoundOverTheMedian) {
  scenario.behaviours["base"] = {.seconds = [](int) { return 2.0; }};
  const SessionResult result = run({FakeScenario::spec("base")});
  ASSERT_TRUE(result.cases[0].bound.has_value());
  EXPECT_DOUBLE_EQ(result.cases[0].efficiency,
                   result.cases[0].bound->seconds / result.cases[0].statistics->median);
}

TEST_F(SessionTest, TheAnswerIsAboutWhatWasMeasured) {
  scenario.behaviours["base"] = {};
  scenario.behaviours["wrong"] = {.verdict = "no"};
  const SessionResult result = run({FakeScenario::spec("base"), FakeScenario::spec("wrong")});
  ASSERT_TRUE(result.answer.has_value());
  EXPECT_EQ(result.answer->scenario, "fake");
  EXPECT_EQ(result.answer->question, "which?");
  EXPECT_EQ(result.answer->text, "base ");
}

TEST_F(SessionTest, TheAnswerKnowsWhichCasesMayBeTheFastest) {
  scenario.behaviours["base"] = {.seconds = [](int i) { return 1.0 + 0.5 * (i % 2); }};
  scenario.behaviours["like"] = {.seconds = [](int i) { return 1.5 - 0.5 * (i % 2); }};
  scenario.behaviours["slow"] = {.seconds = [](int i) { return 4.0 + 0.1 * (i % 2); }};
  (void)run({FakeScenario::spec("slow"), FakeScenario::spec("base"), FakeScenario::spec("like")});
  EXPECT_THAT(scenario.fastest, testing::ElementsAre("base", "like"));
}

TEST_F(SessionTest, TheAnswerKnowsTheCriticalPath) {
  scenario.behaviours["base"] = {.seconds = [](int) { return 1.0; }, .task_seconds = {0.9}};
  (void)run({FakeScenario::spec("base")});
  ASSERT_EQ(scenario.answered.size(), 1U);
  EXPECT_DOUBLE_EQ(scenario.answered[0].critical_path, 0.9);
}

TEST_F(SessionTest, AnAnswerFromFewSamplesIsPreliminary) {
  scenario.behaviours["base"] = {};
  EXPECT_FALSE(run({FakeScenario::spec("base")}).answer->preliminary);
  options.fixed_samples = 3;
  const auto few = run({FakeScenario::spec("base")}).answer;
  EXPECT_TRUE(few->preliminary);
  EXPECT_THAT(few->warnings,
              testing::ElementsAre("Preliminary: the case has fewer than the 6 samples that an "
                                   "interval of 95% needs (fewest: 3)."));
}

TEST_F(SessionTest, AnAnswerWithoutAllCasesIsPreliminary) {
  for (const char* name : {"base", "other", "last"}) {
    scenario.behaviours[name] = {.seconds = [](int) { return 10.0; }};
  }
  options.total_seconds = 45;
  const auto answer =
      run({FakeScenario::spec("base"), FakeScenario::spec("other"), FakeScenario::spec("last")})
          .answer;
  ASSERT_TRUE(answer.has_value());
  EXPECT_TRUE(answer->preliminary);
  EXPECT_THAT(
      answer->warnings,
      testing::ElementsAre(testing::EndsWith("; a longer --max-total-time measures them.")));
}

TEST_F(SessionTest, APreliminaryAnswerSaysWhatWouldSettleIt) {
  scenario.behaviours["base"] = {.seconds = [](int) { return 10.0; }};
  options.max_seconds = 15;
  EXPECT_THAT(run({FakeScenario::spec("base")}).answer->warnings,
              testing::ElementsAre(testing::EndsWith("; a longer --max-time gives more.")));
  options.max_seconds = 1000;
  options.total_seconds = 40;
  const auto answer = run({FakeScenario::spec("base")}).answer;
  EXPECT_THAT(answer->warnings, testing::ElementsAre(testing::EndsWith(
                                    "(fewest: 3); a longer --max-total-time gives more.")));
}

TEST_F(SessionTest, AnAnswerThatThrowsLeavesTheNumbers) {
  scenario.behaviours["base"] = {};
  scenario.on_answer = [] { throw Error("no best of nothing"); };
  const SessionResult result = run({FakeScenario::spec("base")});
  EXPECT_EQ(result.cases[0].status, report::CaseStatus::measured);
  ASSERT_TRUE(result.answer.has_value());
  EXPECT_THAT(result.answer->text, testing::HasSubstr("no best of nothing"));
}

TEST_F(SessionTest, EverySampleIsARowOfGoogleBenchmark) {
  scenario.behaviours["base"] = {};
  scenario.behaviours["other"] = {};
  const SessionResult result = run({FakeScenario::spec("base"), FakeScenario::spec("other")});
  EXPECT_EQ(fake::row_names(result.cases).size(),
            result.cases[0].samples.size() + result.cases[1].samples.size());
}

TEST_F(SessionTest, PreparationCountsAgainstTheTotal) {
  scenario.reference_strategy = "elsewhere";
  scenario.behaviours["elsewhere"] = {.seconds = [](int) { return 30.0; }};
  scenario.behaviours["base"] = {.seconds = [](int i) { return i % 2 == 0 ? 1.0 : 1.5; }};
  options.total_seconds = 45;
  const SessionResult result = run({FakeScenario::spec("base")});
  EXPECT_LE(scenario.clock, 45);
  EXPECT_EQ(result.cases[0].stopped_because, "total-time");
}

TEST_F(SessionTest, ReportsItsProgress) {
  scenario.behaviours["base"] = {};
  scenario.behaviours["other"] = {};
  (void)run({FakeScenario::spec("base"), FakeScenario::spec("other")});
  ASSERT_FALSE(progress.states.empty());
  EXPECT_EQ(progress.states.front().phase, "preparing");
  EXPECT_EQ(progress.states.back().phase, "sampling");
  EXPECT_GT(progress.states.back().fraction.value(), 0.8);
  EXPECT_EQ(progress.states.back().cases, 2U);
  EXPECT_TRUE(progress.finished);
  for (const ProgressState& state : progress.states) {
    EXPECT_EQ(state.fraction.has_value(), state.phase == "sampling");
  }
}

/// The fractions that were shown.
std::vector<double> fractions(const std::vector<ProgressState>& states) {
  std::vector<double> shown;
  for (const ProgressState& state : states) {
    if (state.fraction) shown.push_back(*state.fraction);
  }
  return shown;
}

TEST_F(SessionTest, ProgressCountsPreparation) {
  scenario.reference_strategy = "elsewhere";
  scenario.behaviours["elsewhere"] = {.seconds = [](int) { return 30.0; }};
  scenario.behaviours["base"] = {};
  (void)run({FakeScenario::spec("base")});
  ASSERT_FALSE(fractions(progress.states).empty());
  EXPECT_DOUBLE_EQ(fractions(progress.states).front(), 31.0 / (31.0 + 6.0 * (1 + cost_share)));
}

TEST_F(SessionTest, ProgressNeverGoesBack) {
  scenario.behaviours["base"] = {.seconds = [](int i) { return i % 2 == 0 ? 1.0 : 1.5; }};
  options.total_seconds = 60;
  run_part = {.index = 1, .count = 2};
  (void)run({FakeScenario::spec("base")});
  const std::vector<double> shown = fractions(progress.states);
  ASSERT_GT(shown.size(), 10U);
  EXPECT_TRUE(std::ranges::is_sorted(shown)) << "although what is left grows";
  EXPECT_EQ(std::ranges::adjacent_find(shown), shown.end()) << "it never stands still";
  EXPECT_GE(shown.front(), 0.5) << "the first half was another scenario";
  EXPECT_LT(shown.back(), 1);
}

TEST_F(SessionTest, ProfilersSeeAllSamplesAndNothingElse) {
  scenario.behaviours["base"] = {};
  options.fixed_samples = 3;
  options.for_profiler = true;
  const SessionResult result = run({FakeScenario::spec("base")});
  ASSERT_TRUE(result.answer.has_value());
  EXPECT_THAT(result.answer->warnings,
              testing::ElementsAre(testing::HasSubstr("times are indicative only")));
  ASSERT_EQ(profile_marks.size(), 2U);
  const auto runs_until = [&](std::size_t end) {
    return std::count(scenario.log.begin(), scenario.log.begin() + static_cast<long>(end),
                      "run fake/base/n:1");
  };
  EXPECT_EQ(runs_until(profile_marks[0]), 1) << "the verification is the warm-up";
  EXPECT_EQ(runs_until(profile_marks[1]), 1 + 3);
  EXPECT_EQ(profile_marks[1], scenario.log.size());
}

}  // namespace
}  // namespace parbench
