// What a run leaves when something goes wrong in it: the exit code, and a report without numbers
// that are not to be trusted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "reports/file.h"
#include "tests/cli/process.h"

namespace parbench::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Fault : public ::testing::Test {
 protected:
  [[nodiscard]] std::vector<std::string> words(const std::string& strategies) const {
    return {FAULTY_BINARY, "--scenario",  "faulty", "--strategy", strategies,    "--max-time",
            "60",          "--precision", "50",     "--report",   path_.string()};
  }

  /// The report passes the schema by an independent validator.
  [[nodiscard]] report::Report valid_report() const {
    const Finished validated = run({PARBENCH_PYTHON, VALIDATOR, SCHEMA, path_.string()});
    EXPECT_EQ(validated.out, "valid\n") << validated.err;
    return report::read_report(path_);
  }

  static const report::Case& find(const report::Report& report, const std::string& strategy) {
    for (const report::Case& known : report.cases) {
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
    const report::Report report = valid_report();
    EXPECT_FALSE(report.complete);
    EXPECT_EQ(find(report, "right").status, report::CaseStatus::measured);
    const report::Case& failed = find(report, strategy);
    EXPECT_EQ(failed.status, status);
    EXPECT_THAT(failed.error, HasSubstr(reason));
    EXPECT_FALSE(failed.statistics.has_value());
    EXPECT_THAT(failed.samples, IsEmpty());
    EXPECT_THAT(text_of(path_), Not(HasSubstr("\"run_name\": \"faulty/" + strategy)));
  }

  /// Waits until a running program has done something; false when it ends before.
  static bool wait_until(Process& process, const auto& condition) {
    while (!condition()) {
      if (!process.running()) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
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

TEST_F(Fault, MeasuresWhatIsRight) {
  EXPECT_EQ(run(words("right")).exit_code, 0);
  EXPECT_TRUE(valid_report().complete);
}

TEST_F(Fault, CtrlCLeavesAReportOfWhatWasDone) {
  std::vector<std::string> slow = words("slow");
  slow.insert(slow.end(), {"--min-samples", "100000"});
  Process process(slow);
  ASSERT_TRUE(wait_until(process, [&] { return std::filesystem::exists(path_); }));
  process.signal(SIGINT);
  const Finished finished = process.wait();
  EXPECT_EQ(finished.exit_code, 130) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("report: "));
  EXPECT_FALSE(valid_report().complete);
}

TEST_F(Fault, AWaitThatPassesItsLimitEndsTheProgramWithItsReport) {
  Process process(words("right,hangs,slow"));
  const Finished finished = process.wait();
  EXPECT_EQ(finished.exit_code, 1) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("error: planted: the stream did not finish"));
  EXPECT_THAT(finished.err, Not(HasSubstr("stuck has ended"))) << "nobody waits for it";
  EXPECT_THAT(finished.out, HasSubstr("report: "));
  const report::Report report = valid_report();
  EXPECT_FALSE(report.complete);
  EXPECT_EQ(find(report, "hangs").status, report::CaseStatus::failed);
  EXPECT_EQ(find(report, "slow").status, report::CaseStatus::not_run);
}

TEST_F(Fault, ASecondCtrlCEndsAtOnce) {
  Process process(words("stuck"));
  const auto said = [&](const char* text) { return process.err().find(text) != std::string::npos; };
  ASSERT_TRUE(wait_until(process, [&] { return said("stuck has begun"); }));
  process.signal(SIGINT);
  ASSERT_TRUE(wait_until(process, [&] { return said("once more to end"); }));
  process.signal(SIGINT);
  const Finished finished = process.wait();
  EXPECT_EQ(finished.exit_code, 130);
  EXPECT_THAT(finished.out, IsEmpty()) << "an orderly end would have shown the table";
  const report::Report report = valid_report();
  EXPECT_FALSE(report.complete);
  EXPECT_EQ(find(report, "stuck").status, report::CaseStatus::not_run);
}

}  // namespace
}  // namespace parbench::testing
