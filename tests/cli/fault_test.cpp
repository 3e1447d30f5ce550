// What a run leaves when something goes wrong in it: the exit code, and a report without numbers
// that are not to be trusted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>

#include "reports/io/file.h"
#include "tests/cli/waiting.h"
#include "tests/support/process.h"

namespace parbench::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Fault : public ::testing::Test {
 protected:
  [[nodiscard]] std::vector<std::string> words(const std::string& strategies) const {
    return {FAULTY_BINARY, "--scenario", "faulty",      "--strategy", strategies,
            "--devices",   "cpu:0",      "--max-time",  "60",         "--precision",
            "50",          "--report",   path_.string()};
  }

  [[nodiscard]] report::Report written_report() const { return report::read_report(path_); }

  static const report::CaseResult& find(const report::Report& report, const std::string& strategy) {
    for (const report::CaseResult& known : report.cases) {
      if (known.strategy == strategy) return known;
    }
    throw std::out_of_range("no case of strategy " + strategy);
  }

  /// A case went wrong, the one beside it did not.
  void expect_only_fails(const std::string& strategy, report::CaseStatus status,
                         const std::string& reason) const {
    const Finished finished = run(words("right," + strategy));
    EXPECT_EQ(finished.exit_code, 1) << finished.err;
    EXPECT_THAT(finished.out, HasSubstr(reason));
    const report::Report report = written_report();
    EXPECT_FALSE(report.complete);
    EXPECT_EQ(find(report, "right").status, report::CaseStatus::measured);
    const report::CaseResult& failed = find(report, strategy);
    EXPECT_EQ(failed.status, status);
    EXPECT_THAT(failed.error, HasSubstr(reason));
    EXPECT_FALSE(failed.statistics.has_value());
    EXPECT_THAT(failed.samples, IsEmpty());
    EXPECT_THAT(text_of(path_), Not(HasSubstr("\"run_name\": \"faulty/" + strategy)));
  }

  /// A case that is measured until it is interrupted.
  [[nodiscard]] std::vector<std::string> endless() const {
    std::vector<std::string> result = words("slow");
    result.insert(result.end(), {"--min-samples", "100000"});
    return result;
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "report.json";
};

TEST_F(Fault, AWrongResultHasNoNumber) {
  expect_only_fails("wrong", report::CaseStatus::failed, "wrong result");
}

TEST_F(Fault, AKernelThatThrowsInAWorkerEndsItsCaseOnly) {
  expect_only_fails("throws", report::CaseStatus::failed, "planted failure of a kernel");
}

TEST_F(Fault, TooLittleMemorySkipsTheCaseOnly) {
  expect_only_fails("memory", report::CaseStatus::skipped, "out of memory");
}

TEST_F(Fault, ALostDeviceEndsWhatNeedsItAndLeavesTheReason) {
  std::vector<std::string> command = words("right,loses");
  std::ranges::replace(command, "faulty", "faulty,later");
  const Finished finished = run(command);
  EXPECT_EQ(finished.exit_code, 1) << finished.err;
  const report::Report report = written_report();
  EXPECT_FALSE(report.complete);
  ASSERT_EQ(report.cases.size(), 4U) << "two of each scenario";
  for (const report::CaseResult& one : report.cases) {
    if (one.name == "faulty/loses/size:1") {
      EXPECT_EQ(one.status, report::CaseStatus::failed);
    } else {
      EXPECT_EQ(one.status, report::CaseStatus::not_run) << one.name;
      EXPECT_THAT(one.error, HasSubstr("its device was lost in faulty/loses/size:1: planted"));
    }
  }
  EXPECT_THAT(finished.out, HasSubstr("not run, its device was lost in faulty/loses/size:1"));
}

TEST_F(Fault, MeasuresWhatIsRight) {
  EXPECT_EQ(run(words("right")).exit_code, 0);
  EXPECT_TRUE(written_report().complete);
}

TEST_F(Fault, CtrlCLeavesAReportOfWhatWasDone) {
  Process process(endless());
  // Checkpoints replace the file whole, so it can be read at any time.
  ASSERT_TRUE(wait_until(process, [&] { return has_measured(path_); })) << process.err();
  process.signal(SIGINT);
  const Finished finished = process.wait();
  EXPECT_EQ(finished.exit_code, 130) << finished.err;
  EXPECT_THAT(finished.out,
              AllOf(HasSubstr("\nIncomplete: 1 of 1 case measured"), HasSubstr("report: ")));
  const report::Report report = written_report();
  EXPECT_FALSE(report.complete);
  const report::CaseResult& slow = find(report, "slow");
  EXPECT_EQ(slow.status, report::CaseStatus::measured);
  EXPECT_EQ(slow.stopped_because, "unfinished");
  EXPECT_THAT(slow.samples, Not(IsEmpty()));
  EXPECT_TRUE(slow.statistics.has_value());
}

TEST_F(Fault, SigtermLeavesAReportAndItsOwnExitCode) {
  Process process(endless());
  ASSERT_TRUE(wait_until(process, [&] { return has_measured(path_); })) << process.err();
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait().exit_code, 143);
  EXPECT_EQ(find(written_report(), "slow").stopped_because, "unfinished");
}

TEST_F(Fault, ARunThatWasKilledCanBeResumedFromItsLatestCheckpoint) {
  Process process(endless());
  ASSERT_TRUE(wait_until(process, [&] { return has_measured(path_); })) << process.err();
  process.signal(SIGKILL);
  EXPECT_EQ(process.wait().exit_code, 128 + SIGKILL);
  const report::Report killed = written_report();
  EXPECT_FALSE(killed.complete);
  const std::vector<report::Sample> before = find(killed, "slow").samples;
  ASSERT_THAT(before, Not(IsEmpty()));

  const std::string wanted = std::to_string(std::max<std::size_t>(6, before.size() + 2));
  const Finished resumed =
      run({FAULTY_BINARY, "--resume", path_.string(), "--min-samples", wanted});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  const report::Report report = written_report();
  EXPECT_TRUE(report.complete);
  EXPECT_EQ(report.started_utc, killed.started_utc);
  EXPECT_GT(report.duration_seconds, killed.duration_seconds);
  const std::vector<report::Sample>& after = find(report, "slow").samples;
  ASSERT_GE(after.size(), before.size() + 2);
  EXPECT_TRUE(std::equal(before.begin(), before.end(), after.begin()));

  const Finished again = run({FAULTY_BINARY, "--resume", path_.string()});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.err, HasSubstr("nothing is left to measure; --rerun measures"));
}

TEST_F(Fault, AReportThatCannotBeWrittenTakesNothingElseWithIt) {
  const std::filesystem::path folder = folder_ / "removed";
  const std::filesystem::path out = folder_ / "rows.json";
  std::filesystem::create_directory(folder);
  path_ = folder / "report.json";
  std::vector<std::string> endless_words = endless();
  endless_words.push_back("--benchmark_out=" + out.string());
  const std::filesystem::path temporary = folder_ / "temporary";
  std::filesystem::create_directory(temporary);
  Process process(endless_words, {{}, {{"TMPDIR", temporary.string()}}});
  ASSERT_TRUE(wait_until(process, [&] { return has_measured(path_); })) << process.err();
  std::filesystem::remove_all(folder);
  process.signal(SIGINT);
  const Finished finished = process.wait();
  EXPECT_EQ(finished.exit_code, 130);
  EXPECT_THAT(finished.err, HasSubstr("parbench: error: cannot write " + path_.string()));
  EXPECT_THAT(finished.out, HasSubstr("slow"));
  path_ = temporary / "report.json";
  EXPECT_THAT(finished.out, HasSubstr("report: " + path_.string()));
  EXPECT_THAT(finished.err, HasSubstr("the report is in " + path_.string()));
  EXPECT_EQ(find(written_report(), "slow").status, report::CaseStatus::measured);
  EXPECT_FALSE(report::read_json(out).at("benchmarks").empty());
}

/// What becomes of a run whose standard output is not to be had.
struct Output {
  std::string name;
  std::string command;  // for the shell; "$@" is the run
};

class LostOutput : public Fault, public ::testing::WithParamInterface<Output> {};

TEST_P(LostOutput, FailsTheRunAndNoFile) {
  const std::filesystem::path out = folder_ / "rows.json";
  std::vector<std::string> command{"sh", "-c", GetParam().command, "sh"};
  const std::vector<std::string> measuring = words("right");
  command.insert(command.end(), measuring.begin(), measuring.end());
  command.push_back("--benchmark_out=" + out.string());
  const Finished finished = run(command, {folder_.path(), {}});
  EXPECT_EQ(text_of(folder_ / "code"), "1\n");
  EXPECT_THAT(finished.err, HasSubstr("parbench: error: standard output"));
  EXPECT_THAT(finished.err, HasSubstr(path_.string()));
  EXPECT_TRUE(written_report().complete);
  EXPECT_FALSE(report::read_json(out).at("benchmarks").empty());
}

INSTANTIATE_TEST_SUITE_P(Streams, LostOutput,
                         ::testing::Values(Output{"Full", "\"$@\" >/dev/full; echo $? >code"},
                                           Output{"Closed", "\"$@\" >&-; echo $? >code"},
                                           Output{"PipeWithoutReader",
                                                  "{ \"$@\"; echo $? >code; } | true"}),
                         [](const auto& instance) { return instance.param.name; });

TEST_F(Fault, AStandardErrorWithoutAReaderEndsNoMeasurement) {
  std::vector<std::string> command{"sh", "-c",
                                   "{ \"$@\" 3>&1 1>out 2>&3 3>&-; echo $? >code; } | true", "sh"};
  const std::vector<std::string> measuring = words("right,wrong");  // which leaves notes there
  command.insert(command.end(), measuring.begin(), measuring.end());
  static_cast<void>(run(command, {folder_.path(), {}}));
  EXPECT_EQ(text_of(folder_ / "code"), "1\n") << "the wrong case, and no signal";
  EXPECT_EQ(find(written_report(), "right").status, report::CaseStatus::measured);
  EXPECT_THAT(text_of(folder_ / "out"), HasSubstr("report: "));
}

TEST_F(Fault, AWaitThatPassesItsLimitEndsTheProgramWithItsReport) {
  Process process(words("right,hangs,slow"));
  const Finished finished = process.wait();
  EXPECT_EQ(finished.exit_code, 1) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("error: planted: the stream did not finish"));
  EXPECT_THAT(finished.err, Not(HasSubstr("stuck has ended"))) << "it is not waited for";
  EXPECT_THAT(finished.err, HasSubstr("the measured cases are in "));
  const report::Report report = written_report();
  EXPECT_FALSE(report.complete);
  EXPECT_EQ(find(report, "hangs").status, report::CaseStatus::failed);
  EXPECT_EQ(find(report, "slow").status, report::CaseStatus::not_run);
  EXPECT_THAT(run({PARBENCH_BINARY, "show", path_.string()}).out,
              HasSubstr("\nIncomplete: 0 of 3 cases measured, 1 failed, 2 not run"));
}

TEST_F(Fault, AWaitThatPassesItsLimitLeavesTheFindingsOfWhatWasMeasured) {
  std::vector<std::string> command = words("one-cut,hangs-later");
  std::ranges::replace(command, "faulty", "faulty,later");
  std::ranges::replace(command, "cpu:0", "2");
  command.emplace_back("--no-timeline");
  const Finished finished = run(command);
  EXPECT_EQ(finished.exit_code, 1) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("error: planted: the stream did not finish"));
  const report::Report report = written_report();
  EXPECT_EQ(find(report, "one-cut").status, report::CaseStatus::measured);
  // A machine that is busy has findings of its own.
  const auto found = std::ranges::find(report.findings, "only-cut", &report::Finding::rule);
  ASSERT_NE(found, report.findings.end());
  EXPECT_EQ(found->cases, std::vector<std::string>{"faulty/one-cut/size:1"});
}

TEST_F(Fault, AWaitThatPassesItsLimitNamesTheReportThatCouldBeWritten) {
  const std::filesystem::path folder = folder_ / "removed";
  std::filesystem::create_directory(folder);
  path_ = folder / "report.json";
  const std::filesystem::path temporary = folder_ / "temporary";
  std::filesystem::create_directory(temporary);
  std::vector<std::string> command = words("slow,hangs-later");
  std::ranges::replace(command, "faulty", "faulty,later");
  Process process(command, {{}, {{"TMPDIR", temporary.string()}}});
  ASSERT_TRUE(wait_until(process, [&] {
    return std::filesystem::exists(path_) &&
           text_of(path_).find("hangs-later") != std::string::npos;
  })) << process.err();
  std::filesystem::remove_all(folder);  // the first scenario is measured meanwhile
  const Finished finished = process.wait();
  EXPECT_EQ(finished.exit_code, 1) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("error: planted: the stream did not finish"));
  path_ = temporary / "report.json";
  EXPECT_THAT(finished.err, HasSubstr("the measured cases are in " + path_.string()));
  EXPECT_EQ(find(written_report(), "slow").status, report::CaseStatus::measured);
}

TEST_F(Fault, ASecondCtrlCEndsAtOnce) {
  Process process(words("stuck"));
  const auto said = [&](const char* text) { return process.err().find(text) != std::string::npos; };
  ASSERT_TRUE(wait_until(process, [&] { return said("stuck has begun"); }));
  process.signal(SIGINT);
  ASSERT_TRUE(wait_until(process, [&] { return said("Ctrl-C again to stop"); }));
  process.signal(SIGINT);
  const Finished finished = process.wait();
  EXPECT_EQ(finished.exit_code, 130);
  EXPECT_THAT(finished.out, IsEmpty()) << "an orderly end would have shown the table";
  const report::Report report = written_report();
  EXPECT_FALSE(report.complete);
  EXPECT_EQ(find(report, "stuck").status, report::CaseStatus::not_run);
}

}  // namespace
}  // namespace parbench::test
