// Scenarios of several devices with the real binary: what a user can do with any run works for
// them. Pages and dashboards of the same: tests/web/scenarios.test.mjs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/io/file.h"
#include "tests/cli/small_runs.h"

namespace parbench::test {
namespace {

using ::testing::HasSubstr;

class Scenarios : public ::testing::TestWithParam<SmallRun> {
 protected:
  void SetUp() override { require_two_cores(); }

  /// Adds these words to those of the run, which has to succeed.
  [[nodiscard]] std::string output(const Words& more) const {
    Words words = GetParam().words();
    words.insert(words.end(), more.begin(), more.end());
    const Finished finished = run(words, {folder_.path(), {}});
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return finished.out;
  }

  [[nodiscard]] report::Report measured(const std::string& file, Words more = {}) const {
    more.insert(more.end(), {"--report", file});
    static_cast<void>(output(more));
    return report::read_report(folder_ / file);
  }

  TemporaryFolder folder_;
};

TEST_P(Scenarios, ADryRunNamesTheCasesOfARun) {
  const std::string promised = output({"--dry-run"});
  for (const report::CaseResult& one : measured("run.json").cases) {
    EXPECT_THAT(promised, HasSubstr(one.name));
  }
}

TEST_P(Scenarios, CasesAreVerifiedAsGraphsToo) {
  int count = 0;
  for (const report::CaseResult& one : measured("run.json", {"--graph"}).cases) {
    if (one.samples.empty()) continue;
    ++count;
    EXPECT_TRUE(one.graph) << one.name;
    EXPECT_TRUE(one.verification && one.verification->passed) << one.name;
  }
  EXPECT_GT(count, 1);
}

TEST_P(Scenarios, AReportIsComparedWithItself) {
  static_cast<void>(measured("run.json"));
  const Finished finished =
      run({PARBENCH_BINARY, "compare", "run.json", "run.json"}, {folder_.path(), {}});
  EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
}

INSTANTIATE_TEST_SUITE_P(OfSeveralDevices, Scenarios, ::testing::ValuesIn(small_runs()), name_of);

}  // namespace
}  // namespace parbench::test
