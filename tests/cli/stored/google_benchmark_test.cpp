// Commands that read reports, on what a real program with Google Benchmark writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "reports/io/file.h"
#include "tests/support/process.h"

namespace parbench::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using Words = std::vector<std::string>;
using Variables = std::vector<std::pair<std::string, std::string>>;

class OtherBenchmarks : public ::testing::Test {
 protected:
  [[nodiscard]] Finished run_words(const Words& words, Variables variables = {}) const {
    variables.emplace_back("TMPDIR", folder_.path().string());
    return run(words, {folder_.path(), variables});
  }
  [[nodiscard]] Finished parbench(Words words) const {
    words.insert(words.begin(), PARBENCH_BINARY);
    return run_words(words);
  }
  /// Runs the program, which writes a file.
  void measure(const std::string& file, const Variables& variables = {},
               const Words& flags = {"--benchmark_repetitions=10"},
               const std::string& program = OTHER_BENCHMARKS) const {
    Words words{program, "--benchmark_out=" + file, "--benchmark_context=commit=0123abcd"};
    words.insert(words.end(), flags.begin(), flags.end());
    const Finished finished = run_words(words, variables);
    ASSERT_EQ(finished.exit_code, 0) << finished.err;
  }

  TemporaryFolder folder_;
};

TEST_F(OtherBenchmarks, AreCompared) {
  measure("before.json");
  measure("after.json");
  const Finished same = parbench({"compare", "before.json", "after.json"});
  EXPECT_EQ(same.exit_code, 0) << same.err;
  EXPECT_THAT(same.out, AllOf(StartsWith("Undecided: 3 of 3 cases."),
                              HasSubstr("before.json · Google Benchmark · commit 0123abcd"),
                              HasSubstr("one process"), HasSubstr("--measure google-benchmark")));
  measure("slow.json", {{"NANOSECONDS", "150"}});
  const Finished slower = parbench({"compare", "before.json", "slow.json"});
  EXPECT_EQ(slower.exit_code, 3) << slower.err;
  EXPECT_THAT(slower.out, AllOf(StartsWith("2 of 3 cases regressed"), HasSubstr("50% slower"),
                                HasSubstr("other_benchmarks/sum/n:2000")));
  EXPECT_EQ(parbench({"compare", "slow.json", "before.json"}).exit_code, 0);
}

TEST_F(OtherBenchmarks, OfSeveralRunsAreDecidedWhereSingleRunsAreNot) {
  Words words{"compare"};
  for (const std::string run : {"old1.json", "old2.json", "old3.json", "old4.json"}) {
    measure(run);
    words.push_back(run);
  }
  words.emplace_back("--new");
  for (const std::string run : {"new1.json", "new2.json", "new3.json", "new4.json"}) {
    measure(run, {{"NANOSECONDS", "110"}});
    words.push_back(run);
  }
  EXPECT_EQ(parbench({"compare", "old1.json", "new1.json"}).exit_code, 0)
      << "10% are less than single runs may differ by";
  const Finished pooled = parbench(words);
  EXPECT_EQ(pooled.exit_code, 3) << pooled.err;
  EXPECT_THAT(pooled.out, AllOf(HasSubstr("regressed"), HasSubstr(" 10.0"),
                                HasSubstr("old1.json and 3 more"), HasSubstr("4 processes")));
}

TEST_F(OtherBenchmarks, FailWithTheirErrors) {
  measure("before.json");
  measure("broken.json", {{"BROKEN", "1"}});
  const Finished finished = parbench({"compare", "before.json", "broken.json"});
  EXPECT_EQ(finished.exit_code, 1) << finished.err;
  EXPECT_THAT(finished.out, AllOf(StartsWith("1 case failed in NEW: "), HasSubstr("planted")));
}

TEST_F(OtherBenchmarks, OfOneRepetitionAreUndecided) {
  measure("before.json", {}, {});
  measure("after.json", {{"NANOSECONDS", "150"}}, {});
  const Finished finished = parbench({"compare", "before.json", "after.json"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out,
              AllOf(StartsWith("Undecided: 3 of 3 cases."), Not(HasSubstr("regressed")),
                    HasSubstr("--benchmark_repetitions=10")));
}

TEST_F(OtherBenchmarks, AreComparedWhateverTheirProgramIsCalled) {
  std::filesystem::copy_file(OTHER_BENCHMARKS, folder_ / "renamed");
  measure("before.json");
  measure("after.json", {}, {"--benchmark_repetitions=10"}, "./renamed");
  const Finished finished = parbench({"compare", "before.json", "after.json"});
  EXPECT_EQ(finished.exit_code, 0) << finished.out;
  EXPECT_THAT(finished.out, StartsWith("Undecided: 3 of 3 cases."));
}

TEST_F(OtherBenchmarks, NeedTheirRepetitionsInTheFile) {
  measure("short.json", {},
          {"--benchmark_repetitions=3", "--benchmark_report_aggregates_only=true"});
  const Finished finished = parbench({"show", "short.json"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, AllOf(HasSubstr("short.json: benchmarks: has aggregates only"),
                                  HasSubstr("--benchmark_report_aggregates_only=false")));
}

TEST_F(OtherBenchmarks, HaveTablesAndPages) {
  measure("before.json");
  const Finished shown = parbench({"show", "before.json"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("other_benchmarks"), HasSubstr("sum"),
                               HasSubstr("Mitems/s"), HasSubstr("3 of 3 cases measured")));
  const Finished paged = parbench({"html", "before.json", "-o", "page.html"});
  EXPECT_EQ(paged.exit_code, 0) << paged.err;
  EXPECT_THAT(folder_.read("page.html"),
              AllOf(HasSubstr("Google Benchmark"), HasSubstr("fragile"), HasSubstr("0123abcd")));
  const Finished exported = parbench({"export", "before.json", "--format", "csv"});
  EXPECT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_THAT(exported.out, HasSubstr("sum/n:2000/iterations:1/manual_time"));
}

TEST_F(OtherBenchmarks, HaveADashboard) {
  std::filesystem::create_directory(folder_ / "runs");
  measure("runs/before.json");
  measure("runs/after.json", {{"NANOSECONDS", "101"}});
  const Finished finished = parbench({"dashboard", "runs", "-o", "site", "--strict"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, AllOf(HasSubstr("2 files: 2 reports"), HasSubstr("histories: 1")));
  EXPECT_THAT(folder_.read("site/index.html"),
              AllOf(HasSubstr("other_benchmarks"), HasSubstr("CPU")));
}

TEST_F(OtherBenchmarks, AreNotRunAgain) {
  measure("before.json");
  const Finished finished = parbench({"--rerun", "before.json"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, HasSubstr("was measured by Google Benchmark"));
}

TEST_F(OtherBenchmarks, RunInPairs) {
  const std::string program = "'" OTHER_BENCHMARKS "'";
  const Finished finished =
      parbench({"ab", "--measure", "google-benchmark", "--a", program, "--b",
                "NANOSECONDS=150 " + program, "--quiet", "--keep", "kept", "--width", "200"});
  EXPECT_EQ(finished.exit_code, 3) << finished.err;
  EXPECT_THAT(finished.out, AllOf(StartsWith("2 of 3 cases regressed"), HasSubstr("1 the same"),
                                  HasSubstr("5 pairs in ")));
  EXPECT_EQ(report::read_report(folder_ / "kept/pair-005-b.json").cases.size(), 3U);
  const Finished refused =
      parbench({"ab", "--measure", "google-benchmark", "--a", "true", "--b", program});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("--a 'true'"), HasSubstr("wrote no report"),
                                 HasSubstr("--benchmark_out=FILE")));
}

}  // namespace
}  // namespace parbench::test
