// Runs that go on with another: what they take over, and what they refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "reports/io/file.h"
#include "tests/cli/waiting.h"
#include "tests/support/process.h"

namespace parbench::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::SizeIs;

class Resume : public ::testing::Test {
 protected:
  /// Runs a case until the time of the run is over, so that more samples can be added.
  void run_first(Words more = {}) const {
    Words words{PARBENCH_BINARY,    "--scenario", "selftest",     "--strategy", "spin",
                "--devices",        "cpu:0",      "--tasks",      "1",          "--min-samples",
                "100000",           "--report",   path_.string(), "--duration", "1ms,2ms",
                "--max-total-time", "1.5"};
    words.insert(words.end(), more.begin(), more.end());
    const Finished finished = run(words);
    ASSERT_EQ(finished.exit_code, 0) << finished.err;
    ASSERT_EQ(report::read_report(path_).cases.at(0).stopped_because, "total-time");
  }
  [[nodiscard]] Finished resume(Words more = {}) const {
    Words words{PARBENCH_BINARY, "--resume", path_.string()};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
  /// Standard error of a run that must end with 2 and leave the report as it is.
  [[nodiscard]] std::string refusal(const Words& more = {}) const {
    const std::string before = text_of(path_);
    const Finished finished = resume(more);
    EXPECT_EQ(finished.exit_code, 2) << finished.err;
    EXPECT_EQ(text_of(path_), before);
    return finished.err;
  }
  /// The refusal of the report after a change.
  [[nodiscard]] std::string refusal_after(const std::function<void(report::Report&)>& change) {
    const report::Report report = report::read_report(path_);
    report::Report changed = report;
    change(changed);
    report::write_report(path_, changed);
    std::string text = refusal();
    report::write_report(path_, report);
    return text;
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "report.json";
};

TEST_F(Resume, RefusesToMeasureSomeOfTheCasesOnly) {
  run_first();
  EXPECT_THAT(refusal({"--benchmark_filter=duration:1ms"}),
              HasSubstr("--resume cannot be combined with --benchmark_filter"));
}

TEST_F(Resume, RefusesSamplesOfOtherConditions) {
  run_first();
  EXPECT_THAT(refusal_after([](report::Report& report) { report.version = "0.0"; }),
              AllOf(HasSubstr("was measured under other conditions (parbench: 0.0 before, "),
                    HasSubstr("--rerun measures its cases again")));
  EXPECT_THAT(refusal_after([](report::Report& report) {
                report.machine.commit = "0123abc";
                report.machine.dirty = true;
              }),
              HasSubstr("(commit: 0123abc with changes before, "));
  EXPECT_THAT(refusal_after([](report::Report& report) { report.machine.compiler = "another"; }),
              HasSubstr("(compiler: another before, "));
  EXPECT_THAT(refusal_after([](report::Report& report) {
                report.machine.libraries.emplace_back("gone", "1.2");
              }),
              HasSubstr("(gone: 1.2 before, none now)"));
  EXPECT_THAT(refusal_after([](report::Report& report) {
                report.machine.environment.emplace_back("DNNL_PLANTED", "7");
              }),
              HasSubstr("(DNNL_PLANTED: 7 before, none now)"));
  EXPECT_THAT(refusal_after([](report::Report& report) { report.machine.cpu_model = "another"; }),
              HasSubstr("(CPU: another before, "));
}

TEST_F(Resume, KeepsLabelsAndTheCommitOfTheProject) {
  run_first({"--label", "branch=main", "--commit", "0123abc", "--commit-subject", "A subject"});
  EXPECT_THAT(refusal({"--commit", "4567def"}), HasSubstr("(commit: 0123abc before, 4567def now)"));
  const Finished finished = resume({"--min-samples", "6"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const report::Report report = report::read_report(path_);
  EXPECT_THAT(report.labels, ElementsAre(Pair("branch", "main")));
  EXPECT_EQ(report.machine.commit, "0123abc");
  EXPECT_EQ(report.machine.commit_subject, "A subject");
}

/// The last line of an output, which is a command.
std::string last_command(const std::string& out) {
  const std::size_t begin = out.rfind("\n  ");
  EXPECT_THAT(out, HasSubstr("\nnext, to "));
  return begin == std::string::npos ? "" : out.substr(begin + 3);
}

TEST_F(Resume, IsTheLastLineOfARunThatHadNoTimeForEnoughSamples) {
  const Finished first = run({PARBENCH_BINARY, "--scenario", "selftest", "--strategy", "spin",
                              "--devices", "cpu:0", "--tasks", "1", "--report", path_.string(),
                              "--duration", "600ms,601ms", "--max-total-time", "4"});
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const std::string command = last_command(first.out);
  ASSERT_THAT(command, HasSubstr(" --resume " + path_.string() + " "));
  const std::size_t before = report::read_report(path_).cases.at(0).samples.size();
  const Finished second = run({"/bin/sh", "-c", command});
  EXPECT_EQ(second.exit_code, 0) << command << second.err;
  EXPECT_GT(report::read_report(path_).cases.at(0).samples.size(), before);
}

TEST_F(Resume, IsARunOfTheTiedCasesWhereTheyCameToTheirEnd) {
  run_first();
  report::Report report = report::read_report(path_);
  Recommendation tie;
  for (report::CaseResult& one : report.cases) {
    one.stopped_because = "precision";
    tie.candidates.push_back({one.strategy, one.name});
  }
  std::ranges::reverse(
      tie.candidates);  // the recommended one is the slower: more samples may say so
  report.answers.at(0).recommendations = {tie};
  report::write_report(path_, report);
  const Finished shown = run({PARBENCH_BINARY, "show", path_.string()});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  std::string command = last_command(shown.out);
  command.pop_back();  // the line break
  ASSERT_THAT(command, HasSubstr(" --rerun " + path_.string() + " --"));
  // Takes as many samples as the time of the run allows, which need not be awaited.
  const Finished again = run({"/bin/sh", "-c", command + " --benchmark_list_tests"});
  EXPECT_EQ(again.exit_code, 0) << command << again.err;
  EXPECT_EQ(again.out, report.cases.at(0).name + '\n' + report.cases.at(1).name + '\n');
}

TEST_F(Resume, WritesTheSameReportHoweverItsPathIsSpelled) {
  run_first();
  const auto other = (folder_ / "." / "report.json").string();
  const Finished finished = resume({"--min-samples", "6", "--report", other});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
}

TEST_F(Resume, LeavesAtOnceWhatWasKnown) {
  run_first();
  const report::Report first = report::read_report(path_);
  ASSERT_TRUE(first.complete);
  ASSERT_THAT(first.answers, SizeIs(1));
  Process process({PARBENCH_BINARY, "--resume", path_.string(), "--max-total-time", "60"}, {});
  ASSERT_TRUE(wait_until(process, [&] { return !report::read_report(path_).complete; }))
      << process.err();
  process.signal(SIGKILL);
  EXPECT_EQ(process.wait().exit_code, 128 + SIGKILL);
  const report::Report killed = report::read_report(path_);
  EXPECT_EQ(killed.answers, first.answers);
  EXPECT_GE(killed.duration_seconds, first.duration_seconds);
  EXPECT_GE(killed.sampling_seconds, first.sampling_seconds);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_GE(killed.cases[i].samples.size(), first.cases[i].samples.size());
  }
}

}  // namespace
}  // namespace parbench::test
