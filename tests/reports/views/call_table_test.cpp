// `parbench show --calls`: rates of calls and their shares of the devices' peaks.
#include "reports/views/call_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/reports/sample.h"

namespace parbench::report {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

/// 1 GFLOP/s, 2 GB/s and 4 GB/s.
std::vector<Peak> round_peaks() {
  return {{"gemm f32", 1e9, "FLOP/s", {}, "2026-01-02T03:04:05Z"},
          {"memory", 2e9, "B/s", {}, "2026-01-02T03:04:05Z"},
          {"copy", 4e9, "B/s", {}, "2026-01-02T03:04:05Z"}};
}

/// A case on two devices that computes for 3 s and copies for 1 s.
Report report_with_calls() {
  Report report = sample_report();
  report.cases = {measured_case("pipeline", "pipeline", {}, 4.0, 6)};
  TimelineMetrics& profile = report.cases.front().profile.emplace().metrics;
  profile.devices.resize(2);
  profile.devices[0].device = "cpu:0";
  profile.devices[1].device = "cpu:1";
  profile.calls = {
      {.name = "convolution_forward",
       .layer = "conv1",
       .tensors = "source 2x3x4x4",
       .kernel = "jit",
       .count = 12,
       .seconds = 3.0,
       .team_waiting = 0.6,
       .flops = 1.5e9,
       .bytes = 0.6e9},
      {.name = "copy", .kind = TaskKind::copy, .count = 4, .seconds = 1.0, .bytes = 1e9}};
  for (Device& device : report.devices) device.peaks.clear();
  return report;
}

Report report_with_peaks() {
  Report report = report_with_calls();
  for (Device& device : report.devices) device.peaks = round_peaks();
  return report;
}

TEST(CallTable, HasTheRatesOfCalls) {
  const std::string text = calls_table(report_with_calls());
  EXPECT_THAT(
      text, ContainsRegex("convolution_forward · conv1 +jit +12 +3.000 s +75.0% +20% +500 MFLOP/s "
                          "+200 MB/s\n"));
  EXPECT_THAT(text, ContainsRegex("copy +4 +1.000 s +25.0% +1.00 GB/s\n"));
}

TEST(CallTable, NamesACallWithoutALayerByItsTensors) {
  Report report = report_with_calls();
  report.cases[0].profile->metrics.calls[0].layer.clear();
  EXPECT_THAT(calls_table(report), ContainsRegex("convolution_forward · source 2x3x4x4 +jit"));
}

TEST(CallTable, AddsUpCallsThatTakeLittle) {
  Report report = report_with_calls();
  std::vector<CallMetrics>& calls = report.cases[0].profile->metrics.calls;
  calls.push_back({.name = "add", .count = 2, .seconds = 0.015});
  EXPECT_THAT(calls_table(report), ContainsRegex("add +2 +15.00 ms"));
  calls.push_back({.name = "relu", .count = 3, .seconds = 0.005});
  EXPECT_THAT(calls_table(report),
              AllOf(ContainsRegex("2 others +5 +20.00 ms +0.5%"), Not(HasSubstr("relu"))));
}

TEST(CallTable, SaysWhereTheExecutionWasFarFromTheSamples) {
  Report report = report_with_calls();
  EXPECT_THAT(calls_table(report), Not(HasSubstr("profiled run")));
  report.cases[0].profile->deviation = -0.25;
  EXPECT_THAT(calls_table(report), HasSubstr("took 25% less time than the median sample"));
}

TEST(CallTable, SaysNothingOfSharesWithoutPeaks) {
  EXPECT_THAT(calls_table(report_with_calls()),
              AllOf(Not(HasSubstr("of peak")), HasSubstr("parbench peaks")));
}

TEST(CallTable, HasTheSharesOfPeaks) {
  const std::string text = calls_table(report_with_peaks());
  EXPECT_THAT(text, ContainsRegex("500 MFLOP/s +50% +200 MB/s +10%\n"));
  EXPECT_THAT(text, ContainsRegex("1.00 GB/s +25%\n"));
}

TEST(CallTable, HasNoShareWherePeaksOfDevicesDiffer) {
  Report report = report_with_peaks();
  report.devices.back().peaks.front().value *= 2;
  const std::string text = calls_table(report);
  EXPECT_THAT(text, ContainsRegex("500 MFLOP/s +200 MB/s +10%\n")) << "of the memory still";
}

TEST(CallTable, TakesThePeakOfTheCasesFormat) {
  Report report = report_with_peaks();
  report.cases.front().dtype = "bf16";
  EXPECT_THAT(calls_table(report), ContainsRegex("500 MFLOP/s +200 MB/s +10%\n"));
}

TEST(CallTable, GivesCopiesOfDevicesWithMemoryOfTheirOwnNoShare) {
  Report report = report_with_peaks();
  for (Device& device : report.devices) {
    device.peaks.push_back({"d2h", 5e9, "B/s", {}, "2026-01-02T03:04:05Z"});
  }
  EXPECT_THAT(calls_table(report), ContainsRegex("1.00 GB/s\n"));
}

TEST(CallTable, CountsCasesWithoutAProfile) {
  Report report = report_with_calls();
  report.cases.push_back(measured_case("pipeline", "single", {}, 4.0, 6));
  EXPECT_THAT(calls_table(report), HasSubstr("1 case without calls: it was not profiled."));
  report.cases.back().notes = {{"no timeline", "interrupted"}};
  EXPECT_THAT(calls_table(report), HasSubstr("1 case without calls: interrupted."));
  report.cases.back().status = CaseStatus::failed;
  EXPECT_THAT(calls_table(report), HasSubstr("1 case without calls: not measured."));
}

}  // namespace
}  // namespace parbench::report
