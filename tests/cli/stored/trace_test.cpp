// `--trace` of real runs, read as a viewer does, and their profiles recomputed from it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "reports/io/file.h"
#include "tests/support/process.h"

namespace parbench::test {
namespace {

using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Not;

class TraceRun : public ::testing::Test {
 protected:
  [[nodiscard]] Finished parbench(std::vector<std::string> words) const {
    words.insert(words.begin(), PARBENCH_BINARY);
    return run(words, surroundings_);
  }

  /// Measures with a trace and reads it.
  void trace(std::vector<std::string> words) {
    words.insert(words.end(), {"--trace", "trace.json", "--report", "report.json",
                               "--benchmark_repetitions=2", "--quiet"});
    const Finished measured = parbench(words);
    ASSERT_EQ(measured.exit_code, 0) << measured.err;
    EXPECT_THAT(measured.out, HasSubstr("trace: trace.json"));
    const Finished read =
        run({PARBENCH_PYTHON, TRACE_PY, "trace.json", "report.json"}, surroundings_);
    EXPECT_EQ(read.exit_code, 0) << read.out << read.err;
    report_ = report::read_report(folder_ / "report.json");
  }

  [[nodiscard]] std::vector<report::Profile> profiles() const {
    std::vector<report::Profile> found;
    for (const report::CaseResult& one : report_.cases) {
      if (one.profile) found.push_back(*one.profile);
    }
    return found;
  }

  void refuses(const std::vector<std::string>& words, const std::string& because) const {
    const Finished finished = parbench(words);
    EXPECT_EQ(finished.exit_code, 2) << finished.out;
    EXPECT_THAT(finished.err, HasSubstr(because));
  }

  TemporaryFolder folder_;
  Surroundings surroundings_{folder_.path(), {{"PARBENCH_HOME", folder_.path().string()}}};
  report::Report report_;
};

TEST_F(TraceRun, OfAPipelineHasTheProfilesOfTheReport) {
  trace({"--scenario", "pipeline", "--model", "toy", "--split", "1,4", "--batch", "16"});
  ASSERT_THAT(profiles(), ::testing::SizeIs(Gt(2U)));
  for (const report::Profile& profile : profiles()) {
    EXPECT_GT(profile.metrics.devices.front().compute, 0);
    EXPECT_GT(profile.metrics.span, 0);
  }
}

TEST_F(TraceRun, OfAnOverlapHasTheProfilesOfTheReport) {
  trace({"--scenario", "overlap", "--direction", "h2d"});
  const auto overlapped =
      std::ranges::find(report_.cases, "overlapped", &report::CaseResult::strategy);
  ASSERT_NE(overlapped, report_.cases.end());
  ASSERT_TRUE(overlapped->profile);
  EXPECT_GT(overlapped->profile->metrics.devices.front().copy, 0);
}

TEST_F(TraceRun, OfCollectivesHasTheProfilesAndBandwidthsOfTheReport) {
  trace({"--scenario", "collectives", "--collective", "all-reduce,send-recv", "--size", "4KiB"});
  EXPECT_THAT(profiles(), ::testing::SizeIs(4));
  for (const report::CaseResult& one : report_.cases) {
    ASSERT_FALSE(one.metrics.empty()) << one.name;
    const report::Metric& bus = one.metrics.front();
    EXPECT_EQ(bus.name, "bus bandwidth");
    EXPECT_EQ(bus.unit, "B");
    const auto [fastest, slowest] = std::ranges::minmax(one.samples, {}, &report::Sample::seconds);
    EXPECT_LE(bus.value, one.amount / fastest.seconds * 1.001) << "factor 1 with two devices";
    EXPECT_GE(bus.value, one.amount / slowest.seconds * 0.999);
  }
}

TEST_F(TraceRun, OfGraphsAndThreadsNests) {
  trace({"--scenario", "branch", "--image", "8", "--strategy",
         "chain,streams,threads,graph-streams", "--streams", "2"});
  EXPECT_THAT(profiles(), ::testing::SizeIs(Gt(2U)));
}

TEST_F(TraceRun, OfChosenCasesHasNoOthers) {
  const Finished measured =
      parbench({"--scenario", "pipeline", "--model", "toy", "--split", "1,4", "--batch", "16",
                "--trace", "trace.json", "--trace-case", "split:4", "--report", "report.json",
                "--benchmark_repetitions=2", "--quiet"});
  ASSERT_EQ(measured.exit_code, 0) << measured.err;
  const std::string trace = folder_.read("trace.json");
  EXPECT_THAT(trace, HasSubstr("split:4"));
  EXPECT_THAT(trace, Not(HasSubstr("split:1/")));
  EXPECT_THAT(trace, Not(HasSubstr("pipeline/single")));
  EXPECT_THAT(trace, HasSubstr(R"("layer":")")) << "calls name the layers of the model";
}

TEST_F(TraceRun, ProfilesWithoutATraceAsWell) {
  const Finished measured =
      parbench({"--scenario", "selftest", "--strategy", "spin", "--duration", "100us", "--report",
                "report.json", "--benchmark_repetitions=2"});
  ASSERT_EQ(measured.exit_code, 0) << measured.err;
  const report::Report report = report::read_report(folder_ / "report.json");
  ASSERT_TRUE(report.cases.at(0).profile);
  const report::Profile& profile = *report.cases.at(0).profile;
  EXPECT_GT(profile.executions, 1);
  EXPECT_GT(profile.metrics.devices.at(0).busy, 0.5e-3);
  EXPECT_EQ(profile.metrics.calls.at(0).name, "spin");
}

TEST_F(TraceRun, DoesNotProfileWithNoTimeline) {
  const Finished measured =
      parbench({"--scenario", "selftest", "--strategy", "spin", "--duration", "100us", "--report",
                "report.json", "--no-timeline", "--benchmark_repetitions=2"});
  ASSERT_EQ(measured.exit_code, 0) << measured.err;
  EXPECT_FALSE(report::read_report(folder_ / "report.json").cases.at(0).profile);
}

TEST_F(TraceRun, OfSeveralLaunchesIsTheFirstOnes) {
  const Finished measured =
      parbench({"--scenario", "selftest", "--strategy", "spin", "--duration", "100us", "--report",
                "report.json", "--processes", "2", "--benchmark_repetitions=2", "--quiet"});
  ASSERT_EQ(measured.exit_code, 0) << measured.err;
  EXPECT_TRUE(report::read_report(folder_ / "report.json").cases.at(0).profile);
}

TEST_F(TraceRun, RefusesWhatCannotBe) {
  const std::vector<std::string> base{"--scenario", "selftest", "--trace", "trace.json"};
  for (const std::string flag : {"--no-timeline", "--for-profiler", "--processes=2", "--dry-run"}) {
    std::vector<std::string> words = base;
    words.push_back(flag);
    refuses(words, "--trace cannot be combined with " + flag.substr(0, flag.find('=')));
  }
  refuses({"--scenario", "selftest", "--trace", "trace.json", "--trace-case", "nothing"},
          "--trace-case 'nothing' matches no case name; names are such as selftest/");
  refuses({"--scenario", "selftest", "--trace-case", "spin"}, "add --trace FILE.json");
  refuses({"--scenario", "selftest", "--trace", "missing/trace.json"}, "--trace ");
  refuses({"--scenario", "selftest", "--trace", "same.json", "--report", "same.json"},
          "which would be overwritten");
}

}  // namespace
}  // namespace parbench::test
