// Reports whose cases are measured again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/io/file.h"
#include "tests/cli/usage.h"

namespace parbench::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::StartsWith;

/// A real scenario at a size that takes no time.
struct Tiny {
  std::string scenario;
  std::vector<std::string> flags;
  std::string variant = {};  // distinguishes tests of one scenario
};

void PrintTo(const Tiny& tiny, std::ostream* out) { *out << tiny.scenario << tiny.variant; }

class Rerun : public Usage, public ::testing::WithParamInterface<Tiny> {};

TEST_P(Rerun, HasTheSameCasesAndIsComparable) {
  std::vector<std::string> words{"--scenario", GetParam().scenario, "--benchmark_repetitions=3",
                                 "--report", "first.json"};
  words.insert(words.end(), GetParam().flags.begin(), GetParam().flags.end());
  const Finished first = parbench(words);
  ASSERT_EQ(first.exit_code, 0) << first.out << first.err;
  const Finished again = parbench({"--rerun", "first.json", "--report", "again.json"});
  ASSERT_EQ(again.exit_code, 0) << again.out << again.err;
  const report::Report before = report::read_report(folder_ / "first.json");
  const report::Report after = report::read_report(folder_ / "again.json");
  EXPECT_EQ(before.sampling, after.sampling);
  ASSERT_FALSE(before.cases.empty());
  ASSERT_EQ(before.cases.size(), after.cases.size());
  for (std::size_t i = 0; i < before.cases.size(); ++i) {
    EXPECT_EQ(before.cases[i].name, after.cases[i].name);
    EXPECT_EQ(before.cases[i].parameters, after.cases[i].parameters);
    const bool computes = before.cases[i].scenario != "selftest";
    EXPECT_TRUE(!before.cases[i].kernels.empty() || !computes || before.cases[i].strategy == "copy")
        << before.cases[i].name << " does not say what it ran on";
    EXPECT_EQ(before.cases[i].graph, GetParam().variant == "_graph");
    EXPECT_EQ(before.cases[i].graph, after.cases[i].graph);
    EXPECT_EQ(after.cases[i].samples.size(), 3U) << after.cases[i].name;
  }
  const Finished compared =
      run({PARBENCH_PYTHON, "-B", PARBENCH_COMPARE_PY, "--no-color", "benchmarks",
           (folder_ / "first.json").string(), (folder_ / "again.json").string()});
  EXPECT_EQ(compared.exit_code, 0) << compared.err;
  for (const report::CaseResult& known : before.cases) {
    EXPECT_THAT(compared.out, HasSubstr(known.name + "_median "));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Scenarios, Rerun,
    ::testing::Values(
        Tiny{"branch", {"--batch", "1", "--image", "32", "--branches", "2"}},
        Tiny{"matmul", {"--n", "16", "--count", "3"}},
        Tiny{"overlap", {"--n", "16", "--count", "3"}},
        Tiny{"pipeline", {"--model", "toy", "--batch", "4", "--split", "1,3+1"}},
        Tiny{"selftest", {"--duration", "100us"}},
        Tiny{"branch", {"--batch", "1", "--image", "32", "--branches", "2", "--graph"}, "_graph"},
        Tiny{"matmul", {"--n", "16", "--count", "3", "--graph"}, "_graph"},
        Tiny{"overlap", {"--n", "16", "--count", "3", "--graph"}, "_graph"},
        Tiny{"pipeline",
             {"--model", "toy", "--batch", "4", "--split", "1,3+1", "--graph"},
             "_graph"},
        Tiny{"selftest", {"--duration", "100us", "--graph"}, "_graph"}),
    [](const auto& instance) { return instance.param.scenario + instance.param.variant; });

TEST_F(Usage, RunsAReportAgain) {
  const Finished first = parbench({"--scenario", "selftest", "--strategy", "spin", "--duration",
                                   "100us", "--max-time", "0.5", "--precision", "50"});
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const std::string trimmed = report_of(first);
  EXPECT_THAT(trimmed, StartsWith("reports/runs/")) << "in the working directory: relative";
  const Finished again = parbench({"--rerun", trimmed, "--report", "again.json"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  const report::Report before = report::read_report(folder_ / trimmed);
  const report::Report after = report::read_report(folder_ / "again.json");
  ASSERT_EQ(before.cases.size(), 1U);
  ASSERT_EQ(after.cases.size(), 1U);
  EXPECT_EQ(before.cases[0].name, after.cases[0].name);
  EXPECT_EQ(before.cases[0].parameters, after.cases[0].parameters);
  EXPECT_THAT(after.options, Contains(Pair("precision", report::Value(50.0))));
  EXPECT_THAT(after.options, Contains(Pair("max-time", report::Value(0.5))));
  EXPECT_TRUE(after.complete);
}

}  // namespace
}  // namespace parbench::test
