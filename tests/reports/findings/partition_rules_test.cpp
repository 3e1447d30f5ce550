// Rules about where a model is cut into stages.
#include <gmock/gmock.h>

#include "reports/findings/rules.h"
#include "tests/reports/findings/made_case.h"

namespace parbench::report {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(Rules, NameTheOnlyPlaceWhereAModelCanBeCut) {
  const auto divided = [] {
    return MadeCase("a", 10, {{.compute = 6}, {.compute = 9}})
        .streams(2, 15)
        .parameter("cut", "published");
  };
  const MadeCase forced = divided().note("only cut", "head");
  EXPECT_THAT(
      text("only-cut", {forced}),
      AllOf(HasSubstr(
                "the model can only be cut at head, so there is no other partition into 2 stages"),
            HasSubstr("try: data parallelism")));
  const auto waiting = [](double first, double second, double host) {
    return MadeCase("a", 10, {{.compute = first, .waits = {.host = host}}, {.compute = second}})
        .note("only cut", "head");
  };
  EXPECT_THAT(text("only-cut", {waiting(6, 9, 2)}),
              AllOf(HasSubstr("at head"), Not(HasSubstr("try"))))
      << "launching takes 10%";
  EXPECT_THAT(text("only-cut", {waiting(7.2, 9, 0)}), Not(HasSubstr("try")))
      << "imbalance takes 9%";
  EXPECT_THAT(text("only-cut", {waiting(6.8, 9, 1.9)}), HasSubstr("try: data parallelism"));
  EXPECT_THAT(text("only-cut", {divided().note("only cut", "h.0+head")}),
              HasSubstr("at h.0+head, so there is no other partition into 3 stages"));
  EXPECT_THAT(found("only-cut", {divided()}), IsEmpty());
  EXPECT_THAT(text("unbalanced", {divided()}), HasSubstr("--cut even"));
  EXPECT_THAT(text("unbalanced", {forced}), AllOf(HasSubstr("20%"), Not(HasSubstr("--cut"))));
}

TEST(Rules, NameTheBusiestDeviceOfAnUnbalancedCase) {
  const MadeCase uneven = MadeCase("a", 10, {{.compute = 6}, {.compute = 9}})
                              .streams(2, 15)
                              .parameter("cut", "published");
  EXPECT_THAT(text("unbalanced", {uneven}),
              AllOf(HasSubstr("d1 computes 20% longer than the mean"), HasSubstr("--cut even")));
  const MadeCase balanced =
      MadeCase("a", 10, {{.compute = 6}, {.compute = 9}}).streams(2, 15).parameter("cut", "even");
  EXPECT_THAT(text("unbalanced", {balanced}), Not(HasSubstr("--cut")));
  EXPECT_THAT(text("unbalanced", {uneven, balanced}), Not(HasSubstr("--cut")))
      << "what was tried is no advice";
  EXPECT_THAT(
      found("unbalanced", {MadeCase("a", 10, {{.compute = 8}, {.compute = 9}}).streams(2, 17)}),
      IsEmpty());
  EXPECT_THAT(found("unbalanced", {MadeCase("a", 15, {{.compute = 6}, {.compute = 9}})}), IsEmpty())
      << "devices that compute in turn gain nothing by equal shares";
  EXPECT_THAT(found("unbalanced", {MadeCase("a", 10, {{.compute = 9}, {.moving = 1}})}), IsEmpty())
      << "a device that only copies is no stage";
}

TEST(Rules, FindNoUnevenShareOfLittleMemory) {
  const MadeCase uneven = MadeCase("a", 10, {{.compute = 9}, {.compute = 9}})
                              .memory({3, 1})
                              .parameter("cut", "even")
                              .micro_batches(2);
  const auto on_devices_of = [&](std::size_t bytes) {
    Report report = report_of({uneven});
    Device& device = report.devices.emplace_back();
    device.scenario = "s";
    device.name = "d0";
    device.memory_bytes = bytes;
    find_reasons(report);
    return report.findings.empty() ? "" : to_text(report.findings.front(), "a");
  };
  EXPECT_EQ(on_devices_of(300),
            "a: d0 holds 3 B, d1 holds 1 B; try: a partition that gives the fuller device less.");
  EXPECT_EQ(on_devices_of(301), "") << "less than 1% of its memory";
}

TEST(Rules, TakeLoadForNoImbalance) {
  const auto loaded = [](double denied) {
    return MadeCase("a", 10, {{.compute = 6}, {.compute = 9}})
        .streams(2, 15)
        .threads({.denied = denied, .others = 1});
  };
  EXPECT_THAT(found("unbalanced", {loaded(0.05)}), ElementsAre("s/a"));
  EXPECT_THAT(found("unbalanced", {loaded(0.3)}), IsEmpty());
  EXPECT_THAT(found("unbalanced", {loaded(0.3).parameter("cut", "published")}), IsEmpty())
      << "whatever divides its work";
  const MadeCase pair =
      MadeCase("a", 10, {{.compute = 6}, {.compute = 9}})
          .streams(2, 15)
          .threads({.core_wait = 0.08, .denied = 0.08, .others = 1, .threads = 2});
  EXPECT_THAT(found("unbalanced", {pair}), IsEmpty())
      << "15% of the time, of which two threads may have waited 16% for other programs";
}

}  // namespace
}  // namespace parbench::report
