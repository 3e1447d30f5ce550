// A run that is spread over fresh processes: what it measures, and what it makes of processes that
// fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "reports/io/file.h"
#include "tests/cli/waiting.h"
#include "tests/support/process.h"

namespace parbench::test {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;

/// Processes whose command line names a path.
std::vector<pid_t> processes_with(const std::filesystem::path& path) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "cmdline");
    std::string words;
    std::getline(file, words);  // which fails for a process that has just ended
    if (words.find(path.string()) == std::string::npos) continue;
    found.push_back(std::stoi(entry.path().filename().string()));
  }
  return found;
}

/// Whether a process of a run has begun to write its report.
bool has_report_of_process(const std::filesystem::path& temporary) {
  const auto files = std::filesystem::recursive_directory_iterator(temporary);
  return std::ranges::any_of(
      files, [](const auto& entry) { return entry.path().filename() == "process-1.json"; });
}

class Processes : public ::testing::Test {
 protected:
  Processes() { std::filesystem::create_directory(temporary_); }

  [[nodiscard]] Surroundings surroundings() const {
    return {{},
            {{"TMPDIR", temporary_.string()},
             {"FAULTY_COUNTER", (folder_ / "processes").string()},
             {"PARBENCH_PROCESS_SILENCE", silence_}}};
  }
  [[nodiscard]] Words words(const Words& more) const {
    Words all{"--devices", "cpu:0", "--report", path_.string()};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  [[nodiscard]] Words selftest(const Words& more) const {
    Words all = words(more);
    all.insert(all.begin(), {PARBENCH_BINARY, "--scenario", "selftest"});
    return all;
  }
  /// Three processes of two samples unless other flags follow.
  [[nodiscard]] Words faulty(const std::string& strategies) const {
    Words all = words({"--processes", "3", "--benchmark_repetitions=2"});
    all.insert(all.begin(), {FAULTY_BINARY, "--scenario", "faulty", "--strategy", strategies});
    folder_.write("processes", "");
    return all;
  }
  [[nodiscard]] Finished run_here(const Words& all) const { return run(all, surroundings()); }

  [[nodiscard]] report::Report written_report() const { return report::read_report(path_); }
  static const report::CaseResult& find(const report::Report& report, const std::string& strategy) {
    const auto found = std::ranges::find(report.cases, strategy, &report::CaseResult::strategy);
    if (found == report.cases.end()) throw std::out_of_range("no case of strategy " + strategy);
    return *found;
  }
  static std::set<int> processes_of(const report::CaseResult& one) {
    std::set<int> processes;
    for (const report::Sample& sample : one.samples) processes.insert(sample.process);
    return processes;
  }

  void expect_nothing_left() const {
    while (!processes_with(temporary_).empty()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "report.json";
  std::filesystem::path temporary_ = folder_ / "temporary";
  std::string silence_ = "600";
};

TEST_F(Processes, SpreadTheSamplesOverProcesses) {
  const std::filesystem::path rows = folder_ / "rows.json";
  const Finished finished = run_here(selftest(
      {"--processes", "3", "--benchmark_repetitions=2", "--benchmark_out=" + rows.string()}));
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out,
              AllOf(HasSubstr(" 3×2 "), HasSubstr("2 of 2 cases measured in 3 processes"),
                    HasSubstr("holds the median with 75% only")));
  const report::Report report = written_report();
  EXPECT_TRUE(report.complete);
  EXPECT_THAT(report.options, Contains(Pair("processes", report::Value(std::int64_t{3}))));
  ASSERT_THAT(report.processes, SizeIs(3));
  EXPECT_THAT(report.processes, Each(::testing::Field(&report::Process::exit_code, 0)));
  EXPECT_GT(report.sampling_seconds, 0);
  for (const report::CaseResult& one : report.cases) {
    ASSERT_THAT(one.samples, SizeIs(6));
    for (int i = 0; i < 6; ++i) {
      EXPECT_EQ(one.samples[i].process, i / 2);
      EXPECT_EQ(one.samples[i].round, i);
    }
    EXPECT_TRUE(one.verification->passed);
    EXPECT_DOUBLE_EQ(one.statistics->median_interval->confidence, 0.75);
  }
  EXPECT_TRUE(find(report, "parallel").speedup.has_value());
  ASSERT_THAT(report.answers, SizeIs(1));
  EXPECT_THAT(report.answers[0].text, HasSubstr("on one lane "));
  EXPECT_EQ(report::read_json(rows).at("benchmarks").size(), 2 * (6 + 4)) << "with aggregates";
  EXPECT_THAT(run({PARBENCH_BINARY, "show", path_.string()}).out, HasSubstr(" 3×2 "));
  EXPECT_TRUE(std::filesystem::is_empty(temporary_));
}

TEST_F(Processes, AreMeasuredAgainInTheSameWay) {
  ASSERT_EQ(run_here(selftest({"--processes", "2", "--benchmark_repetitions=1", "--strategy",
                               "spin", "--slowdown", "10"}))
                .exit_code,
            0);
  const std::filesystem::path first = path_;
  path_ = folder_ / "again.json";
  const Finished again =
      run_here({PARBENCH_BINARY, "--rerun", first.string(), "--report", path_.string()});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  const report::Report report = written_report();
  ASSERT_THAT(report.processes, SizeIs(2));
  EXPECT_THAT(report.cases[0].samples, SizeIs(2));
  EXPECT_THAT(report.cases[0].hidden_parameters, Contains(Pair("slowdown", report::Value(10.0))));
  EXPECT_EQ(report.cases[0].name, report::read_report(first).cases[0].name);
}

TEST_F(Processes, OfADryRunAreEstimatedTogether) {
  const Finished finished = run_here(selftest({"--processes", "4", "--dry-run"}));
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr(", in 4 processes\n"));
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(Processes, AWrongResultInOneOfThemFailsTheCase) {
  const std::filesystem::path rows = folder_ / "rows.json";
  Words all = faulty("right,wrong-second");
  all.push_back("--benchmark_out=" + rows.string());
  const Finished finished = run_here(all);
  EXPECT_EQ(finished.exit_code, 1) << finished.err;
  const report::Report report = written_report();
  EXPECT_FALSE(report.complete);
  const report::CaseResult& failed = find(report, "wrong-second");
  EXPECT_EQ(failed.status, report::CaseStatus::failed);
  EXPECT_THAT(failed.error, HasSubstr("in process 2 of 3: wrong result"));
  EXPECT_THAT(failed.samples, IsEmpty());
  EXPECT_THAT(processes_of(find(report, "right")), SizeIs(3));
  for (const auto& file : {path_, rows}) {
    EXPECT_THAT(text_of(file), AllOf(HasSubstr("\"run_name\": \"faulty/right"),
                                     Not(HasSubstr("\"run_name\": \"faulty/wrong-second"))));
  }
  EXPECT_THAT(finished.err, HasSubstr("process 2 of 3: faulty/wrong-second/size:1 failed"));
}

TEST_F(Processes, OneThatCrashesIsReportedAndTheOthersGoOn) {
  const Finished finished = run_here(faulty("right,crashes-second"));
  EXPECT_EQ(finished.exit_code, 1) << finished.err;
  const report::Report report = written_report();
  EXPECT_FALSE(report.complete);
  ASSERT_THAT(report.processes, SizeIs(3));
  EXPECT_EQ(report.processes[1].exit_code, 128 + SIGABRT);
  EXPECT_THAT(report.processes[1].error, HasSubstr("planted: this is the end"));
  EXPECT_EQ(report.processes[2].exit_code, 0);
  EXPECT_EQ(processes_of(find(report, "crashes-second")), (std::set{0, 2}));
  EXPECT_THAT(finished.out, AllOf(HasSubstr("! Process 2 was ended by signal 6 (Aborted)"),
                                  HasSubstr("planted: this is the end")));
}

TEST_F(Processes, TheNextOneProfilesWhereTheFirstCrashes) {
  EXPECT_EQ(run_here(faulty("right,crashes-first")).exit_code, 1);
  const report::Report report = written_report();
  EXPECT_EQ(report.processes.at(0).exit_code, 128 + SIGABRT);
  for (const report::CaseResult& one : report.cases) {
    EXPECT_EQ(processes_of(one), (std::set{1, 2})) << one.name;
    EXPECT_TRUE(one.profile.has_value()) << one.name;
  }
}

TEST_F(Processes, OneThatHangsIsEndedAndTheOthersGoOn) {
  silence_ = "4";
  const Finished finished = run_here(faulty("silent-second"));
  EXPECT_EQ(finished.exit_code, 1) << finished.err;
  const report::Report report = written_report();
  ASSERT_THAT(report.processes, SizeIs(3));
  EXPECT_THAT(report.processes[1].error, HasSubstr("reported no progress for 4 s"));
  EXPECT_EQ(processes_of(find(report, "silent-second")), (std::set{0, 2}));
  expect_nothing_left();
}

TEST_F(Processes, OneThatIsSilentForTooLongAndThenEndsInOrderHasFailed) {
  silence_ = "0.2";
  const Finished finished =
      run_here(selftest({"--strategy", "spin", "--duration", "1s", "--tasks", "1", "--processes",
                         "2", "--benchmark_repetitions=1"}));
  EXPECT_EQ(finished.exit_code, 1) << finished.err;
  const report::Report report = written_report();
  ASSERT_THAT(report.processes, SizeIs(2));
  for (const report::Process& process : report.processes) {
    EXPECT_EQ(process.exit_code, 128 + SIGTERM);
    EXPECT_THAT(process.error, HasSubstr("reported no progress for"));
  }
}

TEST_F(Processes, OneWithoutTimeForASampleDoesNotFailTheRun) {
  Words all = faulty("late-second");
  all.insert(all.end(), {"--max-total-time", "12"});
  const Finished finished = run_here(all);
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.err,
              HasSubstr("process 2 of 3: faulty/late-second/size:1 not measured: out of time"));
  const report::Report report = written_report();
  EXPECT_TRUE(report.complete);
  ASSERT_THAT(report.processes, SizeIs(3));
  EXPECT_EQ(report.processes[1].exit_code, 1);
  EXPECT_THAT(report.processes[1].error, IsEmpty());
  EXPECT_EQ(processes_of(find(report, "late-second")), (std::set{0, 2}));
}

TEST_F(Processes, AreLeftOutWhenTheTimeOfTheRunIsOver) {
  Words all = faulty("late-second");
  all.insert(all.end(), {"--max-total-time", "6"});
  const Finished finished = run_here(all);
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("1 of 3 processes not run: out of time"));
  const report::Report report = written_report();
  EXPECT_TRUE(report.complete);
  EXPECT_THAT(report.processes, SizeIs(2));
  EXPECT_EQ(processes_of(find(report, "late-second")), std::set{0});
}

TEST_F(Processes, HaveFailedTogetherIfNoneHadTimeForASample) {
  const Finished finished = run_here(selftest({"--strategy", "spin", "--duration", "2s", "--tasks",
                                               "1", "--processes", "2", "--max-total-time", "2"}));
  EXPECT_EQ(finished.exit_code, 1) << finished.err;
  const report::Report report = written_report();
  EXPECT_FALSE(report.complete);
  EXPECT_TRUE(report::is_left_out_of_time(report.cases.at(0)));
}

TEST_F(Processes, SigtermToAllOfThemIsNoErrorOfTheirs) {
  Words all = faulty("slow");
  std::ranges::replace(all, std::string("--benchmark_repetitions=2"),
                       std::string("--benchmark_repetitions=100000"));
  Process process(all, surroundings());
  ASSERT_TRUE(wait_until(process, [&] { return has_report_of_process(temporary_); }));
  for (const pid_t one : processes_with(temporary_)) ::kill(one, SIGTERM);
  process.signal(SIGTERM);
  const Finished finished = process.wait();
  EXPECT_EQ(finished.exit_code, 143) << finished.err;
  EXPECT_THAT(finished.out, Not(HasSubstr("Process 1 was ended")));
  const report::Report report = written_report();
  ASSERT_THAT(report.processes, SizeIs(1));
  // The SIGINT that is forwarded to it may arrive first.
  EXPECT_THAT(report.processes[0].exit_code, AnyOf(143, 130));
  EXPECT_THAT(report.processes[0].error, IsEmpty());
}

TEST_F(Processes, CtrlCLeavesWhatWasMeasuredAndNoProcess) {
  Words all = faulty("slow");  // 100 ms
  std::ranges::replace(all, std::string("--benchmark_repetitions=2"),
                       std::string("--benchmark_repetitions=5"));
  std::ranges::replace(all, std::string("3"), std::string("1000"));
  Process process(all, surroundings());
  ASSERT_TRUE(wait_until(process, [&] { return has_measured(path_); })) << process.err();
  process.signal(SIGINT);
  const Finished finished = process.wait();
  EXPECT_EQ(finished.exit_code, 130) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("report: "));
  const report::Report report = written_report();
  EXPECT_FALSE(report.complete);
  EXPECT_LT(report.processes.size(), 1000U);
  const report::CaseResult& slow = find(report, "slow");
  EXPECT_EQ(slow.status, report::CaseStatus::measured);
  EXPECT_GE(slow.samples.size(), 5U);
  expect_nothing_left();
  EXPECT_TRUE(std::filesystem::is_empty(temporary_));
}

TEST_F(Processes, DoNotOutliveTheProcessThatStartedThem) {
  Words all = faulty("slow");
  std::ranges::replace(all, std::string("--benchmark_repetitions=2"),
                       std::string("--benchmark_repetitions=100000"));
  Process process(all, surroundings());
  ASSERT_TRUE(wait_until(process, [&] { return !processes_with(temporary_).empty(); }));
  process.signal(SIGKILL);
  EXPECT_EQ(process.wait().exit_code, 128 + SIGKILL);
  expect_nothing_left();
}

}  // namespace
}  // namespace parbench::test
