// Rules about exchanges of gradients and parts of a batch.
#include "reports/findings/communication_rules.h"

#include <gmock/gmock.h>

#include <string>

#include "reports/model/peaks.h"
#include "tests/reports/findings/made_case.h"
#include "tests/scenarios/plan/made_timeline.h"

namespace parbench::report {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

MadeCase exchanging() {
  return MadeCase("a", 10, {{.compute = 8}, {.compute = 8, .communicating = 2, .exposed = 1}})
      .parameter("samples", std::int64_t{16})
      .exchanges(2, 3e9);
}

TEST(CommunicationRules, NameWhatIsMovedAndHowFast) {
  EXPECT_THAT(text("exposed-communication", {exchanging()}),
              AllOf(HasSubstr("all communication reads and writes 2.79 GiB at 1.50 GB/s"),
                    Not(HasSubstr("of copies of"))));
}

TEST(CommunicationRules, CompareTheRateWithThatOfCopiesAlone) {
  Report report = report_of({exchanging()});
  Device device;
  device.scenario = "s";
  device.name = "d1";
  device.peaks = {
      {.what = std::string(copy_peak), .value = 6e9, .unit = "B/s", .measured_utc = {}}};
  report.devices.push_back(device);
  find_reasons(report);
  ASSERT_FALSE(report.findings.empty());
  std::string found;
  for (const Finding& finding : report.findings) {
    if (finding.rule == "exposed-communication") found = finding.text;
  }
  EXPECT_THAT(found, HasSubstr("25% of the rate of copies of d1 alone (6.00 GB/s)"));
}

/// A device computes until 60. Gradients could be sent from 20 and from 60 on, and begin `late`;
/// the last of them ends at `end`, with the update after it.
MadeCase in_buckets(std::int64_t size, Nanoseconds late, Nanoseconds end, double seconds = 100e-9,
                    double overlapped = 0) {
  MadeTimeline timeline;
  const LaneId compute = timeline.lane("d0");
  const LaneId copies = timeline.lane("d0", "copy");
  const TaskId first = timeline.task(compute, {0, 20}, {.phase = "backward"});
  const TaskId sent = timeline.task(copies, {20 + late, 22 + late},
                                    {.kind = TaskKind::communication, .after = {first}});
  const TaskId second = timeline.task(compute, {20, 60}, {.phase = "backward"});
  const TaskId last =
      timeline.task(copies, {60 + late, end}, {.kind = TaskKind::communication, .after = {second}});
  timeline.task(compute, {end, 100}, {.after = {sent, last}, .phase = "update"});
  return MadeCase("buckets", seconds, {{.compute = 90e-9, .overlapped = overlapped}})
      .parameter("samples", std::int64_t{16})
      .parameter("parcel", size)
      .timeline(timeline.made());
}

TEST(CommunicationRules, NoticeBucketsThatMostlyStart) {
  EXPECT_THAT(
      text("buckets-too-small", {in_buckets(1, 10, 72)}),
      AllOf(HasSubstr("2 messages of gradients wait 10.00 ns on average before they start, "
                      "20% of the time"),
            HasSubstr("after the backward pass take 12%"), HasSubstr("try: a larger --parcel")));
  EXPECT_THAT(found("buckets-too-large", {in_buckets(1, 10, 72)}), IsEmpty());
  EXPECT_THAT(found("buckets-too-small", {in_buckets(1, 2, 64)}), IsEmpty()) << "4% of the time";
}

TEST(CommunicationRules, NoticeWhatRemainsBehindTheBackwardPass) {
  EXPECT_THAT(
      text("buckets-too-large", {in_buckets(25, 1, 90)}),
      AllOf(HasSubstr("are exchanged for 30% of the time (30.00 ns)"),
            HasSubstr("starting 2 messages takes 2%"), HasSubstr("try: a smaller --parcel")));
  EXPECT_THAT(found("buckets-too-small", {in_buckets(25, 1, 90)}), IsEmpty());
  EXPECT_THAT(found("buckets-too-large", {in_buckets(25, 1, 64)}), IsEmpty()) << "4% of the time";
}

TEST(CommunicationRules, AdviseOnlySizesThatWereFaster) {
  EXPECT_THAT(text("buckets-too-large", {in_buckets(25, 1, 90), in_buckets(5, 1, 64, 80e-9)}),
              HasSubstr("try: --parcel 5"));
  EXPECT_THAT(text("buckets-too-large", {in_buckets(25, 1, 90), in_buckets(5, 1, 64, 110e-9)}),
              Not(HasSubstr("try")));
}

TEST(CommunicationRules, AdviseNothingBelowTheSmallestSize) {
  EXPECT_THAT(text("buckets-too-large", {in_buckets(1, 1, 90)}),
              AllOf(HasSubstr("are exchanged"), Not(HasSubstr("try"))));
}

TEST(CommunicationRules, AdviseNoLargerSizeThanThatOfAllGradients) {
  EXPECT_THAT(text("buckets-too-small", {in_buckets(4, 10, 72).note("buckets", "1")}),
              AllOf(HasSubstr("2 messages of gradients"), Not(HasSubstr("try"))));
  EXPECT_THAT(text("buckets-too-small", {in_buckets(4, 10, 72).note("buckets", "2")}),
              HasSubstr("try: a larger --parcel"));
}

TEST(CommunicationRules, TakeSizeZeroForEverythingAtOnce) {
  EXPECT_THAT(text("buckets-too-large", {in_buckets(0, 1, 90)}),
              HasSubstr("try: a --parcel above 0"));
  EXPECT_THAT(text("buckets-too-large", {in_buckets(0, 1, 90), in_buckets(5, 1, 64, 80e-9)}),
              HasSubstr("try: --parcel 5"));
  EXPECT_THAT(text("buckets-too-large", {in_buckets(0, 1, 90), in_buckets(5, 1, 64, 110e-9)}),
              Not(HasSubstr("try")));
}

/// The same case, whose two messages together read and write `bytes`.
MadeCase in_buckets_of(double bytes, std::int64_t size, double seconds = 100e-9) {
  MadeCase made = in_buckets(size, 1, 90, seconds);
  Timeline timeline = made.made().profile->timeline.value();
  for (Task& task : timeline.graph.tasks) {
    if (task.kind == TaskKind::communication) task.work.bytes = bytes / 2;
  }
  return made.timeline(timeline);
}

/// --parcel takes whole MiB; of an all-reduce over two devices each byte is read and written twice.
TEST(CommunicationRules, AdviseNoSmallerSizeWhereTheSmallestHoldsAllGradients) {
  constexpr double mebibyte = 1 << 20;
  for (const std::int64_t size : {0, 25}) {
    EXPECT_THAT(text("buckets-too-large", {in_buckets_of(4 * mebibyte, size)}),
                AllOf(HasSubstr("are exchanged"), Not(HasSubstr("try"))));
    EXPECT_THAT(text("buckets-too-large", {in_buckets_of(4.1 * mebibyte, size)}),
                HasSubstr("try: a"));
  }
  EXPECT_THAT(text("buckets-too-large", {in_buckets_of(mebibyte, 0), in_buckets(5, 1, 64, 80e-9)}),
              HasSubstr("try: --parcel 5"))
      << "a measured one was faster";
}

/// Smaller buckets would be exchanged beside more of the backward pass, on the same core.
TEST(CommunicationRules, AdviseNoUntriedSmallerSizeWhereExchangesShareTheCores) {
  const MadeCase whole("whole", 80e-9, {{.compute = 80e-9}});
  const auto sharing = [](double overlapped) {
    return in_buckets(25, 1, 90, 100e-9, overlapped)
        .copy_lane("d0", 1)
        .speedup(0.8, "s/whole", 0.75);
  };
  ASSERT_THAT(text("copies-share-cores", {whole, sharing(20e-9)}), HasSubstr("11% slower"));
  EXPECT_THAT(text("buckets-too-large", {whole, sharing(20e-9)}),
              AllOf(HasSubstr("are exchanged for 30%"), Not(HasSubstr("try"))));
  EXPECT_THAT(text("buckets-too-large", {whole, sharing(5e-9)}),
              HasSubstr("try: a smaller --parcel"));
  EXPECT_THAT(text("buckets-too-large", {whole, sharing(20e-9), in_buckets(5, 1, 64, 80e-9)}),
              HasSubstr("try: --parcel 5"))
      << "a measured one was faster all the same";
}

TEST(CommunicationRules, WriteLittleAsLessThanOnePercent) {
  MadeCase made = in_buckets(25, 0, 90);
  EXPECT_THAT(text("buckets-too-large", {made}),
              HasSubstr("starting 2 messages takes less than 1%"));
}

/// Both would be about the same seconds, with different advice.
TEST(CommunicationRules, ExplainWhatFollowsTheBackwardPassOnce) {
  const auto exposed = [](double seconds) {
    MadeTimeline timeline;
    const LaneId compute = timeline.lane("d0");
    const LaneId copies = timeline.lane("d0", "copy");
    const TaskId backward = timeline.task(compute, {0, 70}, {.phase = "backward"});
    const TaskId sent =
        timeline.task(copies, {70, 80}, {.kind = TaskKind::communication, .after = {backward}});
    timeline.task(compute, {80, 100}, {.after = {sent}, .phase = "update"});
    return MadeCase("a", 100e-9, {{.compute = 80e-9, .communicating = seconds, .exposed = seconds}})
        .parameter("samples", std::int64_t{16})
        .parameter("parcel", std::int64_t{25})
        .timeline(timeline.made());
  };
  EXPECT_THAT(text("buckets-too-large", {exposed(10e-9)}), HasSubstr("for 10% of the time"));
  EXPECT_THAT(found("exposed-communication", {exposed(10e-9)}), IsEmpty());
  EXPECT_THAT(text("exposed-communication", {exposed(15e-9)}), HasSubstr("for 15% of the time"))
      << "a part of it is hidden by no backward pass either";
}

TEST(CommunicationRules, LeaveOutWhatIsExchangedBehindTheUpdate) {
  MadeTimeline timeline;
  const LaneId compute = timeline.lane("d0");
  const LaneId copies = timeline.lane("d0", "copy");
  const TaskId backward = timeline.task(compute, {0, 60}, {.phase = "backward"});
  const TaskId sent =
      timeline.task(copies, {60, 62}, {.kind = TaskKind::communication, .after = {backward}});
  const TaskId update = timeline.task(compute, {62, 70}, {.after = {sent}, .phase = "update"});
  timeline.task(copies, {70, 100}, {.kind = TaskKind::communication, .after = {update}});
  const MadeCase made = MadeCase("buckets", 100e-9, {{.compute = 70e-9}})
                            .parameter("parcel", std::int64_t{5})
                            .timeline(timeline.made());
  EXPECT_THAT(found("buckets-too-large", {made}), IsEmpty());
}

TEST(CommunicationRules, NoticePartsThatComputeSlowly) {
  const MadeCase whole = MadeCase("whole", 10, {{.compute = 10}, {}})
                             .parameter("samples", std::int64_t{4})
                             .layer("fc", 4);
  const auto parts = [](double seconds, double speedup = 1.25) {
    return MadeCase("parts", 8, {{.compute = seconds}, {.compute = seconds}})
        .parameter("samples", std::int64_t{4})
        .speedup(speedup, "s/whole/samples:4", speedup - 0.05)
        .layer("fc", 2 * seconds - 6);
  };
  EXPECT_THAT(
      text("batch-too-small", {whole, parts(8)}),
      AllOf(HasSubstr("its parts of a step compute at 62.5 MFLOP/s on a device, 38% less than a "
                      "whole step on one: small products, or"),
            HasSubstr("; all of it is lost in gemm of fc, which takes 2.50× as long"),
            HasSubstr("a larger --samples")));
  EXPECT_THAT(found("batch-too-small", {whole, parts(8)}), ElementsAre("s/parts/samples:4"));
  MadeCase several = parts(8);
  several.layer("head", 2);
  EXPECT_THAT(text("batch-too-small", {MadeCase(whole).layer("head", 1), several}),
              HasSubstr("; the largest part, 86%, is lost in gemm of fc"))
      << "6 of 7 seconds";
  EXPECT_THAT(found("batch-too-small", {whole, parts(5.2)}), IsEmpty()) << "4% less";
  EXPECT_THAT(found("batch-too-small", {whole, parts(6.2).loops("fc", 2, 0)}), IsEmpty())
      << "4% less without the operations that only the parts have";
  const auto with_update = [](MadeCase made, double seconds, double flops) {
    return made.loops("", seconds, flops);
  };
  EXPECT_THAT(text("batch-too-small", {with_update(whole, 2, 1e6), with_update(parts(8), 6, 2e6)}),
              HasSubstr("at 100 MFLOP/s on a device, 20% less than a whole step"))
      << "without the update, which each device runs in full";
  EXPECT_THAT(text("batch-too-small", {with_update(whole, 2, 1e6), with_update(parts(8), 6, 1e6)}),
              HasSubstr("at 62.6 MFLOP/s on a device"))
      << "each device updates its part";
  EXPECT_THAT(found("batch-too-small", {whole, parts(8, 1.6)}), IsEmpty())
      << "the samples lose 23% at most";
  const MadeCase beside_messages =
      MadeCase("parts", 8, {{.compute = 8, .overlapped = 2}, {.compute = 8}})
          .parameter("samples", std::int64_t{4})
          .speedup(1.25, "s/whole/samples:4", 1.2)
          .layer("fc", 10)
          .lanes("d0", {1}, 1)
          .copy_lane("d0", 1);
  EXPECT_THAT(found("batch-too-small", {whole, beside_messages}), IsEmpty());
  EXPECT_THAT(found("copies-share-cores", {whole, beside_messages}), Not(IsEmpty()));
}

}  // namespace
}  // namespace parbench::report
