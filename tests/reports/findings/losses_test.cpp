// Losses of pipelines made by hand.
#include "reports/findings/losses.h"

#include <gmock/gmock.h>

#include <string>

#include "reports/findings/findings.h"
#include "tests/reports/findings/made_case.h"
#include "tests/scenarios/plan/made_timeline.h"

namespace parbench::report {
namespace {

Losses losses(const MadeCase& one, const MadeCase& baseline) {
  return losses_of(Profiled(one.made()), Profiled(baseline.made())).value();
}

TEST(Losses, AreThePartsOfWhatItTakesLonger) {
  const MadeCase single("single", 10, {{.compute = 10}});
  MadeCase pipeline(
      "pipeline", 8,
      {{.compute = 5.5, .moving = 0.5, .waits = {.dependency = 1, .host = 0.25, .queue = 0.25}},
       {.compute = 6.5, .moving = 0, .waits = {.dependency = 1.5}}});
  pipeline.speedup(1.25, "s/single", 1.2);
  const Losses lost = losses(pipeline, single);
  EXPECT_DOUBLE_EQ(lost.ideal, 5);
  EXPECT_DOUBLE_EQ(lost.slower_calls, 1) << "6 seconds on average instead of 5";
  EXPECT_DOUBLE_EQ(lost.imbalance, 0.5);
  EXPECT_DOUBLE_EQ(lost.copies, 0.25);
  EXPECT_DOUBLE_EQ(lost.launch, 0.25);
  EXPECT_DOUBLE_EQ(lost.bubble, 1) << "idle 1.75 on average, less launching and imbalance";
  EXPECT_DOUBLE_EQ(total(lost), 8 - lost.ideal);
}

TEST(Losses, OfAnIdealPipelineAreItsBubbleAlone) {
  const MadeCase single("single", 12, {{.compute = 12}});
  MadeCase pipeline("pipeline", 8, {{.compute = 6}, {.compute = 6}});
  pipeline.speedup(1.5, "s/single", 1.4);
  const Losses lost = losses(pipeline, single);
  EXPECT_DOUBLE_EQ(lost.bubble, 2);
  EXPECT_DOUBLE_EQ(total(lost), 2);
}

/// By the recorded executions alone it would be 1 − 12/8/2 = 25%.
TEST(Losses, AddUpToWhatTheSpeedupOfTheSamplesLeaves) {
  const MadeCase single("single", 12, {{.compute = 12}});
  MadeCase pipeline("pipeline", 8, {{.compute = 6}, {.compute = 6}});
  pipeline.speedup(1.6, "s/single", 1.58);
  const Losses lost = losses(pipeline, single);
  EXPECT_DOUBLE_EQ(total(lost) / 8, 1 - 1.6 / 2);
  EXPECT_DOUBLE_EQ(lost.bubble, 2) << "as recorded";
  EXPECT_DOUBLE_EQ(lost.slower_calls, 6 - 8 * 1.6 / 2) << "what is measured twice differs";
}

/// The ideal launches and copies in the same proportion as the baseline.
TEST(Losses, CountWhatIsBeyondTheLaunchingAndCopyingOfTheBaseline) {
  const MadeCase single("single", 10, {{.compute = 8, .moving = 1, .waits = {.host = 1}}});
  MadeCase pipeline("pipeline", 8,
                    {{.compute = 5, .moving = 0.75, .waits = {.dependency = 1.75, .host = 0.5}},
                     {.compute = 5, .moving = 0.75, .waits = {.dependency = 2.25, .host = 0}}});
  pipeline.speedup(1.25, "s/single", 1.2);
  const Losses lost = losses(pipeline, single);
  EXPECT_DOUBLE_EQ(lost.ideal, 5);
  EXPECT_DOUBLE_EQ(lost.slower_calls, 5 - 4);
  EXPECT_DOUBLE_EQ(lost.copies, 0.75 - 0.5);
  EXPECT_DOUBLE_EQ(lost.launch, 0.25 - 0.5);
  EXPECT_DOUBLE_EQ(lost.bubble, 2);
  EXPECT_DOUBLE_EQ(total(lost), 8 - 5);
}

TEST(Losses, CountFasterCallsAsAGain) {
  const MadeCase single("single", 12, {{.compute = 12}});
  MadeCase pipeline("pipeline", 6, {{.compute = 5}, {.compute = 5}});
  pipeline.speedup(2, "s/single", 1.9);
  EXPECT_DOUBLE_EQ(losses(pipeline, single).slower_calls, -1);
}

/// What is found first about a pipeline beside a device that takes 12 s alone.
std::string first_finding(const MadeCase& pipeline) {
  Report report = report_of({MadeCase("single", 12, {{.compute = 12}}), pipeline});
  find_reasons(report);
  return report.findings.empty() ? std::string() : report.findings.front().text;
}

TEST(Losses, ThatAreGainsAreNotShownAsLosses) {
  MadeCase pipeline("pipeline", 8, {{.compute = 5}, {.compute = 5}});
  pipeline.speedup(1.5, "s/single", 1.4);
  EXPECT_THAT(first_finding(pipeline),
              ::testing::AllOf(::testing::HasSubstr("37.5% bubbles"),
                               ::testing::HasSubstr("minus 12.5% gained by faster calls"),
                               ::testing::Not(::testing::HasSubstr("0.0%"))));
}

TEST(Losses, AddUpWithThoseThatAreTooSmallForAName) {
  MadeCase pipeline("pipeline", 10, {{.compute = 6.1}, {.compute = 6.1}});
  pipeline.speedup(1.2, "s/single", 1.1);
  EXPECT_EQ(
      first_finding(pipeline),
      "40.0% of its time is lost against linear speedup on 2 devices: 39.0% bubbles, 1.0% other");
}

TEST(Losses, HaveNoPartsWhereTheProfiledRunWasNotRepresentative) {
  MadeCase pipeline("pipeline", 12, {{.compute = 6}, {.compute = 6}});
  pipeline.speedup(1.6, "s/single", 1.5).deviation(0.2);
  EXPECT_EQ(
      first_finding(pipeline),
      "no breakdown, because the profiled run was not representative: it took 20% longer than "
      "the median sample");
}

/// Load makes calls slow and devices idle as well.
TEST(Losses, HaveNoPartsWhereOtherProgramsCanBeTheCause) {
  MadeCase pipeline("pipeline", 8, {{.compute = 6}, {.compute = 6}});
  pipeline.speedup(1.5, "s/single", 1.4);
  const auto findings_of_load = [&](double of_single, double of_pipeline) {
    const auto loaded = [](MadeCase one, double share) {
      return one.threads({.denied = share, .others = 1});
    };
    Report report = report_of({loaded(MadeCase("single", 12, {{.compute = 12}}), of_single),
                               loaded(pipeline, of_pipeline)});
    find_reasons(report);
    std::vector<std::string> texts;
    for (const Finding& finding : report.findings) texts.push_back(finding.text);
    return texts;
  };
  EXPECT_THAT(findings_of_load(0.1, 0.48),
              ::testing::ElementsAre(
                  "for 48% of the time, other programs had a core that its threads needed",
                  "25.0% of its time is lost against linear speedup on 2 devices; other programs "
                  "had 48% of its CPU time, so its causes are not known"));
  EXPECT_THAT(findings_of_load(0.3, 0.05),
              ::testing::Contains(::testing::EndsWith(
                  "; other programs had 30% of the baseline's CPU time, so its causes are not "
                  "known")));
  EXPECT_THAT(findings_of_load(0.05, 0.05),
              ::testing::ElementsAre(
                  "25.0% of its time is lost against linear speedup on 2 devices: 25.0% bubbles"));
}

/// Of the baseline only the shares of its time count, which are those of any execution.
TEST(Losses, DoNotDependOnHowLongTheProfiledRunOfTheBaselineTook) {
  MadeCase single("single", 12, {{.compute = 12}});
  single.deviation(-0.14);
  MadeCase pipeline("pipeline", 8, {{.compute = 6}, {.compute = 6}});
  pipeline.speedup(1.5, "s/single", 1.4);
  Report report = report_of({single, pipeline});
  find_reasons(report);
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings[0].text,
            "25.0% of its time is lost against linear speedup on 2 devices: 25.0% bubbles");
}

TEST(Losses, NameCommunicationWhereDevicesCommunicate) {
  const auto text_of = [](const MadeDevice& device) {
    MadeCase divided("divided", 8, {device, device});
    divided.speedup(1.5, "s/single", 1.4);
    return first_finding(divided);
  };
  EXPECT_THAT(text_of({.compute = 6, .communicating = 2, .exposed = 2}),
              ::testing::HasSubstr("devices: 25.0% communication"));
  EXPECT_THAT(text_of({.compute = 6, .moving = 2}), ::testing::HasSubstr("devices: 25.0% copies"));
  EXPECT_THAT(text_of({.compute = 6, .moving = 1, .communicating = 1, .exposed = 1}),
              ::testing::HasSubstr("devices: 25.0% copies and communication"));
}

/// Each smaller micro-batch sends messages of its own.
TEST(Losses, SpeakAgainstSmallerMicroBatchesWhereMessagesCostAsMuchAsBubbles) {
  const auto text_of = [](double moving, const std::string& other) {
    MadeTimeline timeline;
    const std::vector<LaneId> lanes{timeline.lane("node/0/cpu:0"), timeline.lane(other)};
    timeline.made().graph.add_task({.name = "send", .kind = TaskKind::copy, .lanes = lanes});
    MadeCase divided("divided", 10,
                     {{.compute = 5, .moving = moving}, {.compute = 5, .moving = moving}});
    divided.parameter("pieces", std::int64_t{3}).timeline(timeline.made());
    divided.speedup(1, "s/single", 0.95);
    return text("too-few-micro-batches", {MadeCase("single", 10, {{.compute = 10}}), divided});
  };
  EXPECT_THAT(text_of(2.5, "node/1/cpu:0"),
              ::testing::AllOf(::testing::HasSubstr("idle for 25% of the time"),
                               ::testing::Not(::testing::HasSubstr("try"))));
  EXPECT_THAT(text_of(2.4, "node/1/cpu:0"), ::testing::HasSubstr("try: smaller micro-batches"));
  EXPECT_THAT(text_of(2.5, "node/0/cpu:1"), ::testing::HasSubstr("try: smaller micro-batches"))
      << "copies within a rank";
}

TEST(Losses, NameMessagesBetweenRanks) {
  const auto text_of = [](const std::string& first, const std::string& second) {
    MadeTimeline timeline;
    const LaneId one = timeline.lane(first);
    const LaneId other = timeline.lane(second);
    for (const double bytes : {24576.0, 16384.0}) {
      timeline.made().graph.add_task({.name = "send",
                                      .kind = TaskKind::copy,
                                      .lanes = {one, other},
                                      .work = {.flops = 0, .bytes = 2 * bytes}});
    }
    MadeCase divided("divided", 8, {{.compute = 6, .moving = 2}, {.compute = 6, .moving = 2}});
    divided.copies(0.0008, 0, 4, 10240).timeline(timeline.made());
    divided.speedup(1.5, "s/single", 1.4);
    return first_finding(divided);
  };
  EXPECT_THAT(
      text_of("node/0/cpu:0", "node/1/cpu:0"),
      ::testing::HasSubstr("devices: 25.0% messages between ranks (2 of 20.0 KiB, 200.0 µs each)"));
  EXPECT_THAT(text_of("node/0/cpu:0", "node/0/cpu:1"),
              ::testing::HasSubstr("devices: 25.0% copies"));
  EXPECT_THAT(text_of("cuda:0/1", "cuda:1/0"), ::testing::HasSubstr("devices: 25.0% copies"));
}

/// Each of two such devices is idle for half of the time at least.
TEST(Losses, AreNotReportedOfDevicesThatComputeInTurn) {
  MadeCase in_turn("turn", 12, {{.compute = 6}, {.compute = 6}});
  in_turn.speedup(1, "s/single", 0.95);
  EXPECT_EQ(first_finding(in_turn), "");
}

/// What such an execution shows of waiting, it does not show of the samples.
TEST(Findings, NeedAnExecutionThatRepresentsTheSamples) {
  const auto rules = [](const std::vector<MadeCase>& cases) {
    Report report = report_of(cases);
    find_reasons(report);
    std::vector<std::string> names;
    for (const Finding& finding : report.findings) names.push_back(finding.rule);
    return names;
  };
  const MadeCase single("single", 12, {{.compute = 12}});
  MadeCase divided = MadeCase("divided", 12,
                              {{.compute = 4, .waits = {.host = 3}},
                               {.compute = 8, .communicating = 2, .exposed = 2}})
                         .streams(2, 12)
                         .parameter("pieces", std::int64_t{4})
                         .parameter("samples", std::int64_t{4})
                         .speedup(1.2, "s/single", 1.1);
  EXPECT_THAT(rules({single, divided}),
              ::testing::UnorderedElementsAre("losses", "launch-bound", "unbalanced",
                                              "exposed-communication", "too-few-micro-batches"));
  EXPECT_THAT(rules({single, divided.deviation(0.4)}), ::testing::ElementsAre("no-breakdown"));
}

TEST(Findings, AreAboutTheFastestCaseThatDividesTheWorkWhereAnotherIsRecommended) {
  const MadeCase single("single", 12, {{.compute = 12}});
  const MadeCase whole = MadeCase("whole", 6, {{.compute = 6}}).speedup(2, "s/single", 1.9);
  const MadeCase fast =
      MadeCase("fast", 8, {{.compute = 6}, {.compute = 6}}).speedup(1.5, "s/single", 1.4);
  const MadeCase slow =
      MadeCase("slow", 12, {{.compute = 7}, {.compute = 7}}).speedup(1, "s/single", 0.9);
  Report report = report_of({single, whole, fast, slow});
  find_reasons(report);
  EXPECT_EQ(report.findings.front().cases.front(), "s/slow") << "the largest loss";
  Recommendation& used = report.answers.emplace_back(Answer{.scenario = "s", .question = "?"})
                             .recommendations.emplace_back();
  used.candidates = {{"the whole", "s/whole"}};
  used.gaining = used.candidates.front();
  used.gain = report.cases[1].speedup;
  find_reasons(report);
  EXPECT_EQ(report.findings.front().rule, "losses");
  EXPECT_EQ(report.findings.front().cases.front(), "s/fast");
  used.candidates = {{"slow", "s/slow"}};
  used.gaining = used.candidates.front();
  find_reasons(report);
  EXPECT_EQ(report.findings.front().cases.front(), "s/slow") << "what is recommended itself";
}

/// One finding has the parts, the other names the case without.
TEST(Losses, OfCasesWithPartsDoNotCountThoseWithout) {
  MadeCase good("good", 8, {{.compute = 6}, {.compute = 6}});
  MadeCase deviating("deviating", 8, {{.compute = 6}, {.compute = 6}});
  good.speedup(1.5, "s/single", 1.4);
  deviating.speedup(1.5, "s/single", 1.4).deviation(0.3);
  const std::vector<MadeCase> cases{MadeCase("single", 12, {{.compute = 12}}), good, deviating};
  EXPECT_THAT(found("losses", cases), ::testing::ElementsAre("s/good"));
  EXPECT_THAT(found("no-breakdown", cases), ::testing::ElementsAre("s/deviating"));
}

TEST(Losses, AreNotMissedWhereNothingIsLost) {
  MadeCase pipeline("pipeline", 6, {{.compute = 6}, {.compute = 6}});
  pipeline.speedup(1.98, "s/single", 1.96).deviation(0.3);
  EXPECT_EQ(first_finding(pipeline), "");
}

TEST(Losses, NeedMoreThanOneSample) {
  MadeCase pipeline("pipeline", 12, {{.compute = 7}, {.compute = 7}});
  Report report = report_of({MadeCase("single", 12, {{.compute = 12}}), pipeline});
  report.cases[1].speedup = Ratio{.value = 1, .baseline = "s/single"};
  find_reasons(report);
  EXPECT_THAT(report.findings,
              ::testing::Each(::testing::Field(&Finding::rule, ::testing::Ne("losses"))));
}

TEST(Losses, OfAnExecutionThatIsFarFromTheSamplesAddUpToItsOwnSpan) {
  MadeCase pipeline("pipeline", 16, {{.compute = 6}, {.compute = 6}});
  pipeline.speedup(1.5, "s/single", 1.4).deviation(1);
  Report report = report_of({MadeCase("single", 12, {{.compute = 12}}), pipeline});
  find_reasons(report);
  const Losses& lost = report.cases[1].profile->losses.value();
  EXPECT_DOUBLE_EQ(lost.ideal + total(lost), report.cases[1].profile->metrics.span);
}

TEST(Losses, NeedABaselineOnOneDeviceAndACaseOnSeveral) {
  const MadeCase single("single", 12, {{.compute = 12}});
  const MadeCase pair("pair", 6, {{.compute = 6}, {.compute = 6}});
  EXPECT_FALSE(losses_of(Profiled(single.made()), Profiled(single.made())));
  EXPECT_FALSE(losses_of(Profiled(pair.made()), Profiled(pair.made())));
}

TEST(Losses, AreNotReportedForUnlikeDevices) {
  MadeCase pipeline("pipeline", 8, {{.compute = 5}, {.compute = 7}});
  pipeline.speedup(1.5, "s/single", 1.4);
  Report report = report_of({MadeCase("single", 12, {{.compute = 12}}), pipeline});
  report.devices.resize(2);
  for (const int index : {0, 1}) {
    Device& device = report.devices[index];
    device.scenario = "s";
    device.name = "d" + std::to_string(index);
    device.backend = "cpu";
    device.cores = {index};
  }
  find_reasons(report);
  EXPECT_TRUE(report.cases[1].profile->losses);

  report.devices[1].cores = {1, 2};
  find_reasons(report);
  EXPECT_FALSE(report.cases[1].profile->losses) << "half of the work is no half of the time";
}

TEST(Losses, AreInTheReportOfACaseWhoseBaselineWasProfiled) {
  MadeCase pipeline("pipeline", 8, {{.compute = 6}, {.compute = 6}});
  pipeline.speedup(1.5, "s/single", 1.4);
  Report report = report_of({MadeCase("single", 12, {{.compute = 12}}), pipeline});
  find_reasons(report);
  EXPECT_FALSE(report.cases[0].profile->losses);
  ASSERT_TRUE(report.cases[1].profile->losses);
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings[0].rule, "losses");
  EXPECT_THAT(report.findings[0].text, ::testing::HasSubstr("25.0% bubbles"));
}

/// Devices that wait for each other's cores look slow, idle and unbalanced.
TEST(SharedCores, ExplainWhatDevicesLoseAndNothingElseDoes) {
  const MadeCase alone = MadeCase("alone", 10, {{.compute = 10}}).streams(1, 10);
  const MadeCase divided =
      MadeCase("divided", 9, {{.compute = 8}, {.compute = 5, .waits = {.dependency = 3}}})
          .streams(2, 13)
          .threads({.core_wait = 0.4})
          .speedup(1.1, "s/alone", 1.05);
  const auto rules = [](Report report) {
    find_reasons(report);
    std::vector<std::string> names;
    for (const Finding& finding : report.findings) names.push_back(finding.rule);
    return names;
  };
  EXPECT_THAT(rules(report_of({alone, divided})), ::testing::Contains("losses"));
  Report shared = report_on_one_core({alone, divided}, 2);
  EXPECT_THAT(rules(shared), ::testing::ElementsAre("shared-cores"));
  find_reasons(shared);
  ASSERT_EQ(shared.findings.size(), 1U);
  EXPECT_EQ(
      to_text(shared.findings.front(), "divided"),
      "divided: its devices share 1 core, for which threads of d0 waited for 40% of the time: "
      "that makes calls slow, exchanges long and devices idle; try: no more devices "
      "than cores.");
  EXPECT_FALSE(shared.cases[1].profile->losses) << "what would be ideal is not known";
}

}  // namespace
}  // namespace parbench::report
