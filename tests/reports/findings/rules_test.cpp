// Each rule on cases made to trigger it, and on cases just beside them.
#include "reports/findings/rules.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "reports/findings/findings.h"
#include "tests/reports/findings/made_case.h"

namespace parbench::report {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

MadeCase one_stream() { return MadeCase("one", 10, {{.compute = 10}}).streams(1, 10); }

/// Two streams at once: `speedup` times as fast, calls `inflation` times as long.
MadeCase two_streams(double speedup, double inflation) {
  return MadeCase("two", 10 / speedup, {{.compute = 10 / speedup}})
      .streams(2, 10 * inflation)
      .speedup(speedup, "s/one", speedup - 0.01);
}

TEST(Rules, CallADeviceSaturatedWhenStreamsAtOnceTakeAsManyTimesAsLong) {
  EXPECT_THAT(found("saturated", {one_stream(), two_streams(1.02, 1.96)}), ElementsAre("s/two"));
  EXPECT_THAT(found("saturated", {one_stream(), two_streams(1.6, 1.25)}), IsEmpty());
  EXPECT_THAT(found("saturated", {one_stream(), two_streams(1.02, 1.1)}), IsEmpty())
      << "calls as long as before: it is something else that ate the gain";
  const MadeCase in_turn =
      two_streams(1.02, 1.96).threads({.core_wait = 0.3}).lanes("d0", {1, 1}, 1);
  EXPECT_THAT(found("saturated", {one_stream(), in_turn}), IsEmpty())
      << "they wait for the only core";
  EXPECT_EQ(text("saturated", {one_stream(), two_streams(1.02, 1.96)}),
            "s/two: 2.0 streams ran at once on average, and their calls took 1.96 times as long, "
            "so that one stream fills the device already; try: another device.");
  Report report = report_on_one_core({one_stream(), two_streams(1.02, 1.96)}, 1);
  report.machine.cores_online = 1;
  find_reasons(report);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings.front().advice, "") << "the device has all cores of the host";
  report.machine.cores_online = 2;
  find_reasons(report);
  EXPECT_EQ(report.findings.front().advice, "another device");
  const MadeCase loaded = two_streams(1.02, 1.96).threads({.denied = 0.3, .others = 1});
  EXPECT_THAT(found("saturated", {one_stream(), loaded}), IsEmpty()) << "load does this, too";
}

TEST(Rules, CallADeviceSaturatedOnlyWhereStreamsDidRunAtOnce) {
  const MadeCase in_turn =
      MadeCase("two", 10, {{.compute = 10}}).streams(1, 10).speedup(1, "s/one", 0.99);
  EXPECT_THAT(found("saturated", {one_stream(), in_turn}), IsEmpty());
}

TEST(Rules, SayThatStreamsPayOffWhenStreamsAtOnceGain) {
  EXPECT_THAT(found("streams-pay-off", {one_stream(), two_streams(1.6, 1.25)}),
              ElementsAre("s/two"));
  EXPECT_THAT(found("streams-pay-off", {one_stream(), two_streams(1.02, 1.96)}), IsEmpty());
  MadeCase unsure = two_streams(1.2, 1.5);
  unsure.speedup(1.2, "s/one", 0.9);
  EXPECT_THAT(found("streams-pay-off", {one_stream(), unsure}), IsEmpty())
      << "a gain whose interval holds 1 is none";
  EXPECT_THAT(text("streams-pay-off", {one_stream(), two_streams(1.9, 0.9)}),
              Not(HasSubstr("does not fill the device")))
      << "fewer threads a call, or caches: the profile does not say which";
  EXPECT_THAT(text("streams-pay-off", {one_stream(), two_streams(1.6, 1.25)}),
              HasSubstr("does not fill the device"));
  EXPECT_THAT(found("streams-pay-off", {one_stream(), two_streams(4, 0.6)}), IsEmpty())
      << "the baseline was disturbed";
  const MadeCase crowded =
      two_streams(1.6, 1.25).threads({.core_wait = 0.3}).lanes("d0", {1, 1, 1}, 2);
  EXPECT_THAT(found("streams-pay-off", {one_stream(), crowded}), IsEmpty())
      << "calls that wait for a core of their own seem to run at once";
}

TEST(Rules, NameTheLayerTheKernelAndItsShareOfReferenceKernels) {
  const MadeCase plain("a", 10, {{.compute = 8}});
  EXPECT_THAT(found("reference-kernel", {plain}), IsEmpty());
  MadeCase slow("a", 10, {{.compute = 8}});
  slow.on_reference("source 2x5x3x3", 4);
  EXPECT_THAT(text("reference-kernel", {slow}),
              AllOf(HasSubstr("convolution_backward_data"), HasSubstr("source 2x5x3x3"),
                    HasSubstr("ref:any takes 50%"), Not(HasSubstr("in all"))));
  slow.on_reference("source 2x7x3x3", 2);
  EXPECT_THAT(text("reference-kernel", {slow}), HasSubstr("take 75% in all"));
  MadeCase hardly("a", 10, {{.compute = 8}});
  hardly.on_reference("source 2x5x3x3", 0.07);
  EXPECT_THAT(found("reference-kernel", {hardly}), IsEmpty());
}

TEST(Rules, NameTheLayerThatTakesLongestOnLoopsOfParbench) {
  const auto made = [](double seconds, double flops) {
    return MadeCase("a", 10, {{.compute = 8}})
        .loops("conv", seconds, flops)
        .loops("conv", 0.2, 0)
        .loops("other", 0.5, 1e6);
  };
  EXPECT_EQ(
      text("general-loops", {made(1, 2e6)}),
      "s/a: conv takes 15% of the computing time in 2 calls, at 1.67 MFLOP/s beside 125 MFLOP/s of "
      "all operations: parbench's own loops compute this layer, not a library kernel.");
  EXPECT_THAT(found("general-loops", {made(0.5, 1e6)}), IsEmpty()) << "9% of the computing time";
  EXPECT_THAT(found("general-loops", {made(1, 2e8)}), IsEmpty()) << "as fast as all";
}

TEST(Rules, NoticeCopiesOnCoresThatCompute) {
  const MadeCase base("base", 10, {{.compute = 7.2}});
  const auto made = [](const MadeDevice& device, int copy_cores) {
    return MadeCase("a", 10, {device})
        .speedup(0.9, "s/base", 0.85)
        .lanes("d0", {1}, 1)
        .copy_lane("d0", copy_cores);
  };
  EXPECT_THAT(text("copies-share-cores", {base, made({.compute = 9, .overlapped = 4}, 1)}),
              AllOf(HasSubstr("d0 copies or communicates for 40% of the time while it computes"),
                    HasSubstr("computes 20% slower than its baseline")));
  const auto quiet = [&](const MadeDevice& device, int copy_cores) {
    return found("copies-share-cores", {base, made(device, copy_cores)}).empty();
  };
  EXPECT_TRUE(quiet({.compute = 9, .overlapped = 4}, 0)) << "a core of their own";
  EXPECT_TRUE(quiet({.compute = 9, .overlapped = 0.9}, 1)) << "hardly any while it computes";
  EXPECT_TRUE(quiet({.compute = 9, .moving = 1}, 1)) << "none while it computes";
  EXPECT_TRUE(quiet({.compute = 7.3, .overlapped = 4}, 1)) << "as fast as the baseline";
  const auto beside = [&](const MadeDevice& device) {
    MadeCase other = made(device, 1);
    other.parameter("parcel", std::int64_t{5});
    return found("copies-share-cores", {base, made({.compute = 9, .overlapped = 4}, 1), other});
  };
  EXPECT_THAT(beside({.compute = 9.1}), IsEmpty()) << "as slow without copies";
  EXPECT_THAT(beside({.compute = 8}), Not(IsEmpty())) << "faster without copies";
}

TEST(Rules, CallACaseLaunchBoundByHostOrQueue) {
  const MadeCase host("a", 10, {{.compute = 8, .waits = {.host = 2}}});
  EXPECT_THAT(text("launch-bound", {MadeCase(host).submitted(SubmitMode::one_thread)}),
              AllOf(HasSubstr("20%"), HasSubstr("host"), HasSubstr("--graph")));
  for (const SubmitMode mode : {SubmitMode::graph, SubmitMode::thread_per_lane}) {
    EXPECT_THAT(text("launch-bound", {MadeCase(host).submitted(mode)}), Not(HasSubstr("try")));
  }
  const MadeCase queue("a", 10, {{.compute = 8, .waits = {.queue = 2}}});
  EXPECT_THAT(text("launch-bound", {queue}), Not(HasSubstr("host")));
  EXPECT_THAT(text("launch-bound", {MadeCase(queue).submitted(SubmitMode::one_thread)}),
              HasSubstr("--graph"));
  const MadeCase waiting("a", 10, {{.compute = 8, .waits = {.dependency = 2}}});
  EXPECT_THAT(found("launch-bound", {waiting}), IsEmpty());
  const MadeCase little("a", 10, {{.compute = 9.1, .waits = {.host = 0.9}}});
  EXPECT_THAT(found("launch-bound", {little}), IsEmpty());
}

/// A graph of a CPU device has the same streams, which sleep and wake.
TEST(Rules, AdviseNoGraphToStreamsOfCpuDevicesThatWake) {
  const auto advice = [](const Waits& waits, std::size_t devices) {
    std::vector<MadeDevice> made(devices, {.compute = 8, .waits = waits});
    Report report = report_of({MadeCase("a", 10, made).submitted(SubmitMode::one_thread)});
    for (int i = 0; std::cmp_less(i, devices); ++i) {
      Device& device = report.devices.emplace_back();
      device.scenario = "s";
      device.name = "d" + std::to_string(i);
      device.cores = {i};
    }
    find_reasons(report);
    return report.findings.empty() ? "nothing" : report.findings.front().advice;
  };
  EXPECT_EQ(advice({.host = 2}, 2), "launch it as a graph (--graph)");
  EXPECT_EQ(advice({.queue = 2}, 2), "a larger --samples");
  EXPECT_EQ(advice({.queue = 2}, 1), "");
}

TEST(Rules, NoticeCopiesThatHeldTheHost) {
  const MadeCase held = MadeCase("a", 10, {{.compute = 6, .moving = 4}}).copies(4, 3.9);
  EXPECT_THAT(text("copy-not-asynchronous", {held}),
              AllOf(HasSubstr("98%"), HasSubstr("try: copy from and to pinned memory")));
  EXPECT_THAT(text("copy-not-asynchronous", {MadeCase(held).parameter("host", "ordinary")}),
              HasSubstr("try: --host locked"));
  EXPECT_THAT(text("copy-not-asynchronous", {MadeCase(held).parameter("host", "locked")}),
              Not(HasSubstr("try")));
  const MadeCase free = MadeCase("a", 10, {{.compute = 6, .moving = 4}}).copies(4, 0.01);
  EXPECT_THAT(found("copy-not-asynchronous", {free}), IsEmpty());
  const MadeCase tiny = MadeCase("a", 10, {{.compute = 9.9, .moving = 0.1}}).copies(0.1, 0.1);
  EXPECT_THAT(found("copy-not-asynchronous", {tiny}), IsEmpty()) << "too short to matter";
}

TEST(Rules, BlameNoCopyForWhatAnyCallCosts) {
  const auto copying = [](int count, double bytes, double held) {
    return MadeCase("a", 1, {{.compute = 0.5, .moving = 0.4}}).copies(0.4, held, count, bytes);
  };
  EXPECT_THAT(found("copy-not-asynchronous", {copying(1000, 1 << 20, 0.3)}), ElementsAre("s/a"));
  EXPECT_THAT(found("copy-not-asynchronous", {copying(100'000, 1 << 20, 0.3)}), IsEmpty())
      << "3 us each: on a fast link that is the call, not the bytes";
  EXPECT_THAT(found("copy-not-asynchronous", {copying(1000, 4096, 0.3)}), IsEmpty())
      << "300 us each, but not for 4 KiB";
}

MadeCase split(std::int64_t micro_batches, double compute, double span = 10) {
  return MadeCase("pipeline", span, {{.compute = compute}, {.compute = compute}})
      .parameter("pieces", micro_batches);
}

TEST(Rules, CompareMicroBatchesWithTheLargestOfTheSameCase) {
  EXPECT_THAT(text("micro-batches-too-small", {split(20, 4), split(1, 5, 5.1)}),
              AllOf(HasSubstr("pieces:1: "), HasSubstr("20% less than with pieces 20"),
                    HasSubstr("try: larger micro-batches")));
  EXPECT_THAT(text("micro-batches-too-small", {split(20, 4), split(4, 4.2), split(1, 5, 5.1)}),
              AllOf(HasSubstr("20% less than with pieces 20"), Not(HasSubstr("try"))))
      << "a size between the two was measured";
  MadeCase largest = split(30, 4);
  largest.without_profile();
  EXPECT_THAT(text("micro-batches-too-small", {largest, split(20, 4), split(1, 5, 5.1)}),
              AllOf(HasSubstr("20% less than with pieces 20"), Not(HasSubstr("try"))))
      << "larger ones were measured";
  EXPECT_THAT(found("micro-batches-too-small", {split(20, 4), split(4, 4.2)}), IsEmpty());
  EXPECT_THAT(found("micro-batches-too-small", {split(20, 5), split(1, 4)}), IsEmpty())
      << "small micro-batches that are faster prove nothing";
  MadeCase other = split(1, 8);
  other.parameter("batch", std::int64_t{8});
  EXPECT_THAT(found("micro-batches-too-small", {split(20, 4), other}), IsEmpty())
      << "another batch is another case";
}

TEST(Rules, AskForLargerOrForSmallerMicroBatchesButNotForBoth) {
  const std::vector<MadeCase> waiting{split(20, 4), split(5, 5)};
  EXPECT_THAT(found("micro-batches-too-small", waiting), IsEmpty());
  EXPECT_THAT(found("too-few-micro-batches", waiting), Contains("s/pipeline/pieces:5"));
  const std::vector<MadeCase> small{split(20, 4), split(5, 7, 8)};
  EXPECT_THAT(found("micro-batches-too-small", small), ElementsAre("s/pipeline/pieces:5"));
  EXPECT_THAT(found("too-few-micro-batches", small), ElementsAre("s/pipeline/pieces:20"));
  EXPECT_THAT(found("too-few-micro-batches", {split(1, 5)}), IsEmpty())
      << "there is nothing smaller than one sample";
}

TEST(Rules, AdviseNoMicroBatchesThatLayersCannotCompute) {
  const auto with_min = [](MadeCase one, const std::string& samples) {
    return one.note("smallest micro-batch", samples);
  };
  EXPECT_THAT(text("too-few-micro-batches", {with_min(split(4, 7), "2 samples")}),
              HasSubstr("try: smaller micro-batches"));
  EXPECT_THAT(text("too-few-micro-batches", {with_min(split(2, 7), "2 samples")}),
              AllOf(HasSubstr("30%"), Not(HasSubstr("try"))));
  EXPECT_THAT(text("too-few-micro-batches", {split(4, 7).calls("batch_norm_forward")}),
              HasSubstr("and batch normalisation of fewer samples is acceptable"));
  EXPECT_THAT(text("too-few-micro-batches", {split(4, 7)}), Not(HasSubstr("normalisation")));
  EXPECT_THAT(text("micro-batches-too-small", {split(2, 4), split(1, 5, 5.1)}),
              AllOf(HasSubstr("20% less"), Not(HasSubstr("try"))))
      << "there is no size between the two";
}

TEST(Rules, NoticeBubbles) {
  EXPECT_THAT(text("too-few-micro-batches", {split(3, 7)}),
              AllOf(HasSubstr("30%"), HasSubstr("try: smaller micro-batches")));
  const MadeCase smaller = split(1, 9.5);
  for (const MadeCase& tried : {smaller, MadeCase(smaller).without_profile()}) {
    EXPECT_THAT(text("too-few-micro-batches", {split(3, 7), tried}),
                AllOf(HasSubstr("30%"), Not(HasSubstr("try"))));
  }
  EXPECT_THAT(text("too-few-micro-batches", {split(3, 7), split(6, 7, 8)}),
              AllOf(HasSubstr("30%"), Not(HasSubstr("try"))))
      << "larger ones are faster";
  EXPECT_THAT(text("too-few-micro-batches", {split(3, 7), split(6, 8, 10.2)}),
              AllOf(HasSubstr("30%"), Not(HasSubstr("try"))))
      << "larger ones are as fast within 3%";
  EXPECT_THAT(text("too-few-micro-batches", {split(3, 7), split(6, 8, 10.4)}),
              HasSubstr("try: smaller micro-batches"));
  const auto whole = [](double seconds) {
    return MadeCase("whole", seconds, {{.compute = 7}, {.compute = 7}});
  };
  EXPECT_THAT(text("too-few-micro-batches", {split(3, 7), whole(10.2)}), Not(HasSubstr("try")))
      << "without micro-batches it is as fast within 3%";
  EXPECT_THAT(text("too-few-micro-batches", {split(3, 7), whole(10.4)}), HasSubstr("try"));
  EXPECT_THAT(text("too-few-micro-batches", {split(3, 7), whole(9).parameter("cut", "even")}),
              HasSubstr("try"))
      << "with another partition";
  const MadeCase waking = MadeCase("pipeline", 10,
                                   {{.compute = 6.5, .waits = {.dependency = 2, .queue = 1}},
                                    {.compute = 6.5, .waits = {.dependency = 2, .queue = 1}}})
                              .parameter("pieces", std::int64_t{3});
  EXPECT_THAT(text("too-few-micro-batches", {waking}),
              AllOf(HasSubstr("25%"), Not(HasSubstr("try"))))
      << "each more waits for a lane to wake";
  const MadeCase single("single", 10, {{.compute = 10}});
  EXPECT_THAT(text("too-few-micro-batches", {single, split(3, 7).speedup(1.2, "s/single", 1.15)}),
              AllOf(HasSubstr("30%"), HasSubstr("try")));
  EXPECT_THAT(
      text("too-few-micro-batches", {MadeCase(single), split(3, 8.5).speedup(1, "s/single", 0.95)}),
      AllOf(HasSubstr("15%"), Not(HasSubstr("try"))))
      << "slower calls cost 35%";
  const auto ordered = [](MadeCase one, const std::string& order) {
    return one.parameter("order", order);
  };
  EXPECT_THAT(text("too-few-micro-batches",
                   {ordered(split(3, 7), "first"), ordered(split(1, 9.5), "frugal")}),
              Not(HasSubstr("try")))
      << "smaller ones were tried with another schedule";
  const MadeCase uneven = MadeCase("pipeline", 10, {{.compute = 5}, {.compute = 9}})
                              .parameter("pieces", std::int64_t{3});
  EXPECT_THAT(text("too-few-micro-batches", {uneven}),
              AllOf(HasSubstr("30% of the time: mostly imbalance"), Not(HasSubstr("try"))))
      << "smaller micro-batches leave the partition as it is";
  const MadeCase several = MadeCase("pipeline", 10, {{.compute = 7}, {.compute = 7}})
                               .parameter("pieces", std::string("1+1+1"));
  EXPECT_THAT(text("too-few-micro-batches", {several}),
              AllOf(HasSubstr("30%"), Not(HasSubstr("try"))))
      << "nothing is known of the sizes";
  EXPECT_THAT(found("too-few-micro-batches", {split(3, 9.5)}), IsEmpty());
  EXPECT_THAT(found("too-few-micro-batches", {MadeCase("a", 10, {{.compute = 5}, {.compute = 5}})}),
              IsEmpty())
      << "no micro-batches, no advice about them";
}

TEST(Rules, NoticeDevicesThatSlowEachOtherDown) {
  const MadeCase in_turn = MadeCase("turn", 8, {{.compute = 4}, {.compute = 4}}).streams(1, 8);
  const auto both = [](double seconds) {
    return MadeCase("both", seconds, {{.compute = seconds}, {.compute = seconds}})
        .streams(2, 2 * seconds)
        .speedup(8 / seconds, "s/turn", 8 / seconds - 0.1);
  };
  EXPECT_THAT(text("shared-bandwidth", {in_turn, both(5)}), HasSubstr("25% longer"));
  EXPECT_THAT(found("shared-bandwidth", {in_turn, both(4.2)}), IsEmpty());
  EXPECT_THAT(found("streams-pay-off", {in_turn, both(4.2)}), IsEmpty())
      << "two devices are no streams of one";
}

TEST(Rules, NoticeMemoryThatIsUneven) {
  const auto holding = [](std::size_t first, std::size_t second) {
    return MadeCase("a", 10, {{.compute = 9}, {.compute = 9}}).memory({first, second});
  };
  EXPECT_THAT(text("uneven-memory", {holding(3U << 20U, 1U << 20U)}),
              AllOf(HasSubstr("d0 holds 3.00 MiB"), HasSubstr("d1 holds 1.00 MiB")));
  EXPECT_THAT(text("uneven-memory", {holding(3, 1)}), Not(HasSubstr("try")));
  const auto cut = [&](int micro_batches) {
    return holding(3, 1)
        .parameter("cut", "even")
        .parameter("order", "first")
        .micro_batches(micro_batches);
  };
  EXPECT_THAT(text("uneven-memory", {cut(3)}),
              HasSubstr("fuller device less; --order frugal, which"));
  EXPECT_THAT(text("uneven-memory", {cut(3), holding(3, 2).parameter("cut", "other")}),
              Not(HasSubstr("fuller device")))
      << "other partitions were measured";
  EXPECT_THAT(text("uneven-memory", {cut(2)}), Not(HasSubstr("--order")))
      << "as many micro-batches as devices are kept in any order";
  EXPECT_THAT(
      text("uneven-memory", {holding(3, 1).parameter("cut", "even").parameter("order", "frugal")}),
      Not(HasSubstr("--order")))
      << "no advice to do what is done already";
  EXPECT_THAT(found("uneven-memory", {holding(3, 2)}), IsEmpty());
  Report report = report_of({holding(3, 1)});
  report.devices.emplace_back();
  report.devices.front().scenario = "s";
  report.devices.front().name = "d0";
  for (const auto& [memory, count] : {std::pair(300UL, 1UL), std::pair(301UL, 0UL)}) {
    report.devices.front().memory_bytes = memory;
    find_reasons(report);
    EXPECT_EQ(report.findings.size(), count) << "below 1% of its memory it has no consequence";
  }
  EXPECT_THAT(found("uneven-memory", {holding(3, 0)}), IsEmpty()) << "a device of no part in it";
}

TEST(Rules, AdviseNothingThatTheRunHasTried) {
  const MadeCase held = MadeCase("a", 10, {{.compute = 6, .moving = 4}}).copies(4, 3.9);
  const MadeCase locked = MadeCase("a", 9, {{.compute = 6}}).parameter("host", "locked");
  EXPECT_THAT(text("copy-not-asynchronous", {MadeCase(held).parameter("host", "ordinary"), locked}),
              AllOf(HasSubstr("not asynchronous"), Not(HasSubstr("try"))));
  const MadeCase other = MadeCase("b", 9, {{.compute = 6}}).parameter("host", "locked");
  EXPECT_THAT(text("copy-not-asynchronous", {MadeCase(held).parameter("host", "ordinary"), other}),
              HasSubstr("--host locked"))
      << "of another strategy";

  const auto ordered = [](const std::string& order) {
    return MadeCase("a", 10, {{.compute = 9}, {.compute = 9}})
        .micro_batches(3)
        .memory({3, 1})
        .parameter("order", order);
  };
  EXPECT_THAT(text("uneven-memory", {ordered("first")}), HasSubstr("--order frugal"));
  EXPECT_THAT(text("uneven-memory", {ordered("first"), ordered("frugal")}),
              AllOf(HasSubstr("d0 holds"), Not(HasSubstr("try"))));
}

TEST(Rules, AdviseNoGraphWhereOneOfTheSameParametersWasMeasured) {
  const MadeCase waiting = MadeCase("a", 10, {{.compute = 8, .waits = {.host = 2}}})
                               .submitted(SubmitMode::one_thread)
                               .parameter("n", std::int64_t{1});
  const auto graph = [](std::int64_t n) {
    return MadeCase("graph-a", 8, {{.compute = 8}}).submitted(SubmitMode::graph).parameter("n", n);
  };
  EXPECT_THAT(text("launch-bound", {waiting, graph(2)}), HasSubstr("--graph"));
  EXPECT_THAT(text("launch-bound", {waiting, graph(1)}), Not(HasSubstr("try")));
}

TEST(Rules, NoticeWhatAQuotaWithheld) {
  const MadeCase limited = MadeCase("a", 10, {{.compute = 8}}).quota_lost(0.4);
  EXPECT_THAT(text("cpu-quota", {limited}),
              AllOf(HasSubstr("withheld 40% of the CPU time"), HasSubstr("CPUQuota=")));
  EXPECT_THAT(found("cpu-quota", {MadeCase("a", 10, {{.compute = 8}}).quota_lost(0.009)}),
              IsEmpty());
  const MadeCase crowded =
      MadeCase("a", 10, {{.compute = 8}}).threads({.core_wait = 0.3}).lanes("d0", {1, 1, 1}, 2);
  EXPECT_THAT(found("more-threads-than-cores", {crowded}), ElementsAre("s/a"));
  EXPECT_THAT(found("more-threads-than-cores", {MadeCase(crowded).quota_lost(0.3)}), IsEmpty())
      << "they waited for the quota";
  EXPECT_THAT(found("saturated", {one_stream(), two_streams(1.02, 1.96).quota_lost(0.3)}),
              IsEmpty())
      << "calls are longer for its sake";
}

TEST(Rules, NoticeThrottledCases) {
  EXPECT_THAT(found("throttled", {MadeCase("a", 10, {{.compute = 9}}).throttled(3, 10)}),
              ElementsAre("s/a"));
  EXPECT_THAT(found("throttled", {MadeCase("a", 10, {{.compute = 9}}).throttled(1, 10)}),
              IsEmpty());
}

TEST(Rules, SayOnceWhatHoldsOfSeveralCases) {
  const std::vector<MadeCase> cases{MadeCase("a", 10, {{.compute = 8, .waits = {.host = 2}}}),
                                    MadeCase("b", 10, {{.compute = 5, .waits = {.host = 5}}}),
                                    MadeCase("c", 10, {{.compute = 10}})};
  EXPECT_THAT(found("launch-bound", cases), ElementsAre("s/b", "s/a"));
  EXPECT_THAT(text("launch-bound", cases), AllOf(HasSubstr("b: "), HasSubstr("(2 cases)")));
}

TEST(Rules, SkipCasesWithoutAProfile) {
  Report report =
      report_of({MadeCase("a", 10, {{.compute = 1, .waits = {.host = 9}}}).without_profile()});
  find_reasons(report);
  EXPECT_THAT(report.findings, IsEmpty());
}

TEST(Rules, SayNothingOfTheDeviceWhereStreamsWaitForTheHost) {
  const MadeCase waiting = MadeCase("two", 9.8, {{.compute = 6, .waits = {.host = 2}}})
                               .streams(2, 19.6)
                               .speedup(1.02, "s/one", 1);
  EXPECT_THAT(found("saturated", {one_stream(), waiting}), IsEmpty());
  EXPECT_THAT(found("launch-bound", {one_stream(), waiting}), ElementsAre("s/two"));
}

TEST(Rules, SayNoGainOfStreamsThatTheProfileContradicts) {
  EXPECT_THAT(found("streams-pay-off", {one_stream(), two_streams(1.6, 2.1)}), IsEmpty());
}

TEST(Findings, BeginWithTheCasesOfTheAnswerAndThenWithWhatExplainsMost) {
  const auto rules_of = [](const Report& report) {
    std::vector<std::pair<std::string, std::string>> list;
    for (const Finding& finding : report.findings) {
      list.emplace_back(finding.rule, finding.cases.front());
    }
    return list;
  };
  Report report =
      report_of({MadeCase("a", 10, {{.compute = 8, .waits = {.host = 2}}}),
                 MadeCase("b", 10, {{.compute = 5, .waits = {.host = 5}}}).throttled(6, 10)});
  find_reasons(report);
  EXPECT_THAT(rules_of(report),
              ElementsAre(std::pair("throttled", "s/b"), std::pair("launch-bound", "s/b")));
  EXPECT_DOUBLE_EQ(report.findings[1].share, 0.5);
  report.answers.push_back({.scenario = "s",
                            .question = "?",
                            .recommendations = {{.gaining = LabelledCase{"a", "s/a"}}}});
  find_reasons(report);
  EXPECT_THAT(rules_of(report),
              ElementsAre(std::pair("launch-bound", "s/a"), std::pair("throttled", "s/b")));
  EXPECT_DOUBLE_EQ(report.findings[0].share, 0.2);
}

TEST(Rules, NeedNoProfileForSamplesAndMemory) {
  const std::vector<MadeCase> cases{
      MadeCase("a", 10, {}).throttled(3, 10).memory({3, 1}).without_profile(),
      MadeCase("b", 10, {}).throttled(1, 10).memory({3, 2}).without_profile(),
      MadeCase("c", 10, {{.compute = 9}, {.compute = 9}}).throttled(4, 10).memory({5, 1})};
  EXPECT_THAT(found("throttled", cases), ElementsAre("s/c", "s/a"));
  EXPECT_THAT(found("uneven-memory", cases), ElementsAre("s/c", "s/a"));
}

TEST(Rules, CompareTheMemoryOfDevicesThatComputeAlone) {
  EXPECT_THAT(
      found("uneven-memory", {MadeCase("a", 10, {{.compute = 9}, {.moving = 1}}).memory({3, 1})}),
      IsEmpty());
}

TEST(Rules, AreNamedOnce) {
  std::vector<std::string_view> names;
  for (const Rule& rule : all_rules()) {
    EXPECT_THAT(names, Not(Contains(rule.name)));
    names.push_back(rule.name);
  }
}

}  // namespace
}  // namespace parbench::report
