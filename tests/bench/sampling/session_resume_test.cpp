// Sessions that go on from an earlier part of their run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "bench/sampling/session/session.h"
#include "kernels/base/error.h"
#include "reports/model/notes.h"
#include "tests/bench/sampling/session_fixture.h"

namespace parbench {
namespace {

using fake::FakeScenario;
using fake::SessionTest;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::Pair;
using testing::SizeIs;

class ResumedSession : public SessionTest {
 protected:
  /// Runs the first part of a run of these strategies, within a time.
  void run_first(const std::vector<std::string>& strategies, double total_seconds) {
    for (const std::string& strategy : strategies) {
      specs_.push_back(FakeScenario::spec(strategy));
      scenario.behaviours.try_emplace(strategy);
    }
    options.total_seconds = total_seconds;
    first_ = run(specs_);
  }

  /// Resumes the run, with another limit.
  SessionResult resume(double total_seconds) {
    resumed = &first_.cases;
    checkpoints.clear();
    progress.notes.clear();
    scenario.log.clear();
    scenario.clock = 0;
    options.total_seconds = total_seconds;
    return run(specs_);
  }

  [[nodiscard]] bool was_prepared(const std::string& strategy) const {
    return scenario.count("prepare fake/" + strategy + "/n:1") > 0;
  }

  std::vector<CaseSpec> specs_;
  SessionResult first_;
};

TEST_F(ResumedSession, GoesOnFromTheSamplesOfAnEarlierPart) {
  scenario.behaviours["base"] = {.seconds = [](int i) { return i % 2 == 0 ? 1.0 : 1.5; },
                                 .task_seconds = {0.5}};
  scenario.behaviours["other"] = scenario.behaviours["base"];
  run_first({"base", "other"}, 12);
  ASSERT_EQ(first_.cases[0].stopped_because, "total-time");
  const std::size_t count = first_.cases[0].samples.size();
  const SessionResult second = resume(40);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& earlier = first_.cases[i].samples;
    const auto& samples = second.cases[i].samples;
    ASSERT_GT(samples.size(), count + 6);
    EXPECT_TRUE(std::equal(earlier.begin(), earlier.end(), samples.begin()));
    EXPECT_EQ(samples[count].round, earlier.back().round + 1);
  }
  EXPECT_EQ(checkpoints.front().cases[0].samples.size(), count) << "while it is being prepared";
  EXPECT_DOUBLE_EQ(second.cases[0].bound.value().seconds, 0.5);
}

TEST_F(ResumedSession, SamplesACaseAnewThatIsCutElsewhere) {
  scenario.behaviours["base"].notes = {{"cut at", "layer2.0"}};
  run_first({"base", "other"}, 12);
  ASSERT_EQ(first_.cases[0].stopped_because, "total-time");
  const std::vector<report::Sample> earlier = first_.cases[0].samples;
  scenario.behaviours["base"].notes = {{"cut at", "layer3.0"}};
  scenario.behaviours["base"].seconds = [](int) { return 2.0; };
  const SessionResult second = resume(40);
  EXPECT_DOUBLE_EQ(second.cases[0].statistics->median, 2);
  EXPECT_DOUBLE_EQ(second.cases[0].samples.front().seconds, 2);
  EXPECT_EQ(second.cases[1].samples.front(), first_.cases[1].samples.front());
  EXPECT_THAT(progress.notes,
              Contains("fake/base/n:1 sampled again: cut at layer3.0 instead of layer2.0"));
}

TEST_F(ResumedSession, LeavesFinishedCasesAsTheyAre) {
  scenario.baseline_strategy = "none";
  run_first({"base", "other"}, 100);
  ASSERT_EQ(first_.cases[0].stopped_because, "precision");
  first_.cases[1].samples.clear();
  first_.cases[1].status = report::CaseStatus::not_run;
  const SessionResult second = resume(100);
  EXPECT_EQ(second.cases[0], first_.cases[0]);
  EXPECT_FALSE(was_prepared("base"));
  EXPECT_EQ(second.cases[1].stopped_because, "precision");
  EXPECT_TRUE(second.all_measured());
}

TEST_F(ResumedSession, SamplesAFinishedCaseOnIfAnUnfinishedOneIsComparedWithIt) {
  run_first({"base", "other", "third"}, 100);
  first_.cases[1].stopped_because = "unfinished";
  first_.cases[1].samples.resize(3);
  const std::size_t count = first_.cases[0].samples.size();
  const SessionResult second = resume(100);
  EXPECT_TRUE(was_prepared("base")) << "the baseline";
  EXPECT_FALSE(was_prepared("third")) << "only compared with the baseline itself";
  EXPECT_EQ(second.cases[1].stopped_because, "precision");
  ASSERT_GT(second.cases[1].samples.size(), 3U);
  EXPECT_EQ(second.cases[0].samples.size(), count + second.cases[1].samples.size() - 3)
      << "a pair for each new sample";
  EXPECT_EQ(second.cases[0].stopped_because, "precision");
}

TEST_F(ResumedSession, MeasuresWithTheSameLimitWhatThereWasNoTimeFor) {
  run_first({"base", "second", "third"}, 6);
  ASSERT_TRUE(report::is_left_out_of_time(first_.cases[2]));
  const SessionResult second = resume(6);
  EXPECT_LE(scenario.clock, 6);
  EXPECT_EQ(scenario.log.front(), "prepare fake/third/n:1");
  EXPECT_THAT(second.cases[2].samples, SizeIs(testing::Ge(2)));
  EXPECT_GE(second.cases[0].samples.size(), first_.cases[0].samples.size());
  EXPECT_EQ(second.cases[1].samples, first_.cases[1].samples);
  EXPECT_THAT(progress.notes, ElementsAre("fake/second/n:1 not resumed: out of time"));
  EXPECT_TRUE(second.all_measured());
}

TEST_F(ResumedSession, MeasuresWhatThereWasNoTimeForAheadOfItsReference) {
  scenario.reference_strategy = "base";
  run_first({"base", "second", "third"}, 6);
  ASSERT_TRUE(report::is_left_out_of_time(first_.cases[2]));
  const SessionResult second = resume(7);
  EXPECT_EQ(second.cases[2].status, report::CaseStatus::measured);
  EXPECT_TRUE(second.cases[2].verification->passed);
  EXPECT_THAT(second.cases[2].samples, SizeIs(testing::Ge(2)));
  EXPECT_EQ(second.cases[0].samples, first_.cases[0].samples);
}

TEST_F(ResumedSession, AnUnfinishedCaseWithoutTimeEndsForLackOfTime) {
  run_first({"base"}, 4);
  first_.cases[0].stopped_because = "unfinished";
  const SessionResult second = resume(0);
  EXPECT_FALSE(was_prepared("base"));
  EXPECT_EQ(second.cases[0].status, report::CaseStatus::measured);
  EXPECT_EQ(second.cases[0].samples, first_.cases[0].samples);
  EXPECT_EQ(second.cases[0].stopped_because, "total-time");
  EXPECT_THAT(progress.notes, ElementsAre("fake/base/n:1 not resumed: out of time"));
  EXPECT_TRUE(second.all_measured());
}

TEST_F(ResumedSession, KeepsABoundUntilTasksAreMeasuredBesideSamples) {
  scenario.behaviours["base"] = {.task_seconds = {0.5}, .cost_seconds = 0.1};
  run_first({"base"}, 5);
  ASSERT_EQ(first_.cases[0].stopped_because, "total-time");
  EXPECT_DOUBLE_EQ(first_.cases[0].bound.value().seconds, 0.5);
  EXPECT_DOUBLE_EQ(first_.cases[0].efficiency, 0.5);
  scenario.behaviours["base"].task_seconds = {0.25};  // such as in a cold round
  const SessionResult without_samples = resume(1.5);
  ASSERT_EQ(without_samples.cases[0].samples, first_.cases[0].samples);
  ASSERT_GT(scenario.count("costs fake/base/n:1"), 0U);
  EXPECT_EQ(without_samples.cases[0].bound, first_.cases[0].bound);
  EXPECT_EQ(without_samples.cases[0].efficiency, first_.cases[0].efficiency);
  const SessionResult with_samples = resume(100);
  EXPECT_DOUBLE_EQ(with_samples.cases[0].bound->seconds, 0.25);
  EXPECT_DOUBLE_EQ(with_samples.cases[0].efficiency, 0.25);
}

TEST_F(ResumedSession, KeepsTheTimelineUntilThereIsAnother) {
  on_timeline = [](const report::CaseResult&, const Timeline&) {};
  run_first({"base"}, 100);
  EXPECT_DOUBLE_EQ(first_.cases[0].profile.value().metrics.span, 1);
  first_.cases[0].stopped_because = "total-time";
  const SessionResult without_time = resume(1.5);
  ASSERT_EQ(scenario.count("record fake/base/n:1"), 0U);
  EXPECT_EQ(without_time.cases[0].profile, first_.cases[0].profile);
  EXPECT_THAT(without_time.cases[0].notes, Not(Contains(Key(report::no_timeline))));
  on_timeline = {};
  EXPECT_EQ(resume(100).cases[0].profile, first_.cases[0].profile) << "with --no-timeline";
}

TEST_F(ResumedSession, RecordsTheTimelinesThatFinishedCasesLackAtItsEnd) {
  run_first({"base", "other"}, 100);
  first_.cases[1].samples.clear();
  first_.cases[1].status = report::CaseStatus::not_run;
  scenario.baseline_strategy = "none";
  on_timeline = [](const report::CaseResult&, const Timeline&) {};
  const SessionResult second = resume(100);
  EXPECT_EQ(scenario.log.front(), "prepare fake/other/n:1");
  EXPECT_EQ(second.cases[0].samples, first_.cases[0].samples);
  ASSERT_TRUE(second.cases[0].profile.has_value());
  EXPECT_DOUBLE_EQ(second.cases[0].profile->metrics.span, 1);
  EXPECT_FALSE(resume(8).cases[0].profile.has_value()) << "samples of the other come first";
  EXPECT_THAT(progress.notes, IsEmpty()) << "it had come to its end";
}

TEST_F(ResumedSession, KeepsTheSamplesOfACaseThatIsSkippedNow) {
  run_first({"base"}, 4);
  ASSERT_EQ(first_.cases[0].stopped_because, "total-time");
  scenario.behaviours["base"].on_prepare = [] { throw Unsupported("not today"); };
  const auto expect_kept = [&](const SessionResult& result) {
    EXPECT_EQ(result.cases[0].status, report::CaseStatus::measured);
    EXPECT_EQ(result.cases[0].samples, first_.cases[0].samples);
    EXPECT_EQ(result.cases[0].statistics, first_.cases[0].statistics);
    EXPECT_THAT(result.cases[0].error, IsEmpty());
    EXPECT_THAT(
        result.cases[0].notes,
        ElementsAre(Pair("partition", "middle"), Pair("skipped in the resumed run", "not today")));
  };
  const SessionResult second = resume(100);
  expect_kept(second);
  EXPECT_TRUE(second.all_measured());
  EXPECT_THAT(progress.notes, ElementsAre("fake/base/n:1 skipped: not today"));
  first_ = second;
  expect_kept(resume(100));
  first_.cases[0].stopped_because = "unfinished";
  EXPECT_FALSE(resume(100).all_measured()) << "it is still unfinished";
}

TEST_F(ResumedSession, DiscardsTheSamplesOfACaseWhoseResultIsWrongNow) {
  run_first({"base"}, 4);
  scenario.behaviours["base"].verdict = "it is wrong";
  const SessionResult second = resume(100);
  EXPECT_EQ(second.cases[0].status, report::CaseStatus::failed);
  EXPECT_THAT(second.cases[0].samples, IsEmpty());
  EXPECT_FALSE(second.all_measured());
}

}  // namespace
}  // namespace parbench
