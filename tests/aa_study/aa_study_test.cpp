// scripts/aa-study with a stand-in for parbench and Google Benchmark's real compare.py: what it
// runs, how it counts, and that it ends and goes on as it should.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "reports/io/file.h"
#include "tests/support/process.h"

namespace parbench::testing {
namespace {

using report::Json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class AaStudy : public ::testing::Test {
 protected:
  AaStudy() : surroundings_{folder_.path(), {{"LOG", (folder_ / "log").string()}}} {}

  [[nodiscard]] static std::vector<std::string> words(std::vector<std::string> flags = {}) {
    std::vector<std::string> all{PARBENCH_PYTHON, "-B",    STUDY_PY, "--root",   ".",
                                 "--quick",       "--raw", "raw",    "--output", "results",
                                 "--parbench",    STAND_IN};
    all.insert(all.end(), flags.begin(), flags.end());
    return all;
  }

  [[nodiscard]] Finished study(std::vector<std::string> flags = {}) const {
    return run(words(std::move(flags)), surroundings_);
  }

  [[nodiscard]] Json results() const { return report::read_json(folder_ / "results/results.json"); }
  [[nodiscard]] std::string page() const { return folder_.read("results/README.md"); }

  [[nodiscard]] std::vector<std::string> log() const {
    std::istringstream stream(folder_.read("log"));
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
  }

  void set(const std::string& name, const std::string& value) {
    surroundings_.environment.emplace_back(name, value);
  }

  /// That the study's results have of a kind of comparison.
  [[nodiscard]] Json row(const std::string& scenario, const std::string& change,
                         const std::string& method) const {
    const Json known = results();
    for (const Json& row : known["rows"]) {
      if (row["scenario"] == scenario && row["change"] == change && row["method"] == method) {
        return row;
      }
    }
    ADD_FAILURE() << "no row of " << scenario << ", " << change << ", " << method;
    return {};
  }

  TemporaryFolder folder_;
  Surroundings surroundings_;
};

TEST_F(AaStudy, ComparesUnchangedAndSlowerProgramsByEveryMethod) {
  const Finished finished = study();
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  for (const std::string method : {"ab", "reports", "compare.py"}) {
    EXPECT_EQ(row("selftest", "unchanged", method)["same"], 2) << method;
    EXPECT_EQ(row("matmul", "unchanged", method)["same"], 2) << method;
    EXPECT_EQ(row("selftest", "5 percent slower", method)["regressed"], 2) << method;
    EXPECT_EQ(row("selftest", "2.5 percent slower", method)["regressed"], 2) << method;
    EXPECT_EQ(row("selftest", "5 percent slower", method)["improved"], 0) << method;
  }
  EXPECT_EQ(row("selftest", "unchanged", "ab")["median_pairs"], 7);
  EXPECT_GT(row("selftest", "unchanged", "reports")["median_seconds"], 0);
  const Json known = results();
  for (const Json& target : known["targets"]) EXPECT_EQ(target["met"], true) << target;
  EXPECT_THAT(page(), AllOf(HasSubstr("A processor, 2 cores, 8 GiB"), HasSubstr("| yes |"),
                            HasSubstr("scripts/aa-study"), Not(HasSubstr("What went wrong"))));
  EXPECT_THAT(finished.out, HasSubstr("How often verdicts are right"));
}

TEST_F(AaStudy, RunsOneProgramAtATimeWithTheFlagsOfItsMethod) {
  ASSERT_EQ(study().exit_code, 0);
  const std::vector<std::string> lines = log();
  ASSERT_EQ(lines.size() % 2, 0);
  for (std::size_t i = 0; i < lines.size(); i += 2) {
    EXPECT_THAT(lines[i], HasSubstr("begin "));
    EXPECT_THAT(lines[i + 1], HasSubstr("end ")) << "another had begun";
    const bool is_run = lines[i].starts_with("begin run");
    EXPECT_EQ(lines[i].find("--processes 5") != std::string::npos, is_run) << lines[i];
  }
  const std::string slower = "--slowdown 2.5";
  EXPECT_EQ(std::ranges::count_if(lines,
                                  [&](const std::string& line) {
                                    return line.starts_with("begin run") &&
                                           line.find(slower) != std::string::npos;
                                  }),
            1)
      << "NEW alone is slower";
  EXPECT_EQ(std::ranges::count_if(lines,
                                  [&](const std::string& line) {
                                    return line.starts_with("begin ab") &&
                                           line.find(slower) > line.find(" --b ");
                                  }),
            4)
      << "and so is B";
}

TEST_F(AaStudy, GoesOnWhereItEnded) {
  ASSERT_EQ(study().exit_code, 0);
  const std::size_t once = log().size();
  ASSERT_EQ(study().exit_code, 0);
  EXPECT_THAT(log(), SizeIs(once)) << "everything was there";
  std::filesystem::remove(folder_ / "raw/matmul-unchanged-ab/000/result.json");
  folder_.write("raw/selftest-unchanged-ab/000/result.json", "{\"seconds\": 1");  // half written
  ASSERT_EQ(study().exit_code, 0);
  EXPECT_THAT(log(), SizeIs(once + 4)) << "two comparisons by ab were missing";
  ASSERT_EQ(study({"--comparisons", "2"}).exit_code, 0);
  EXPECT_THAT(log(), SizeIs(2 * once + 4));
  EXPECT_EQ(row("selftest", "unchanged", "ab")["comparisons"], 2);
}

TEST_F(AaStudy, DoesNotCountComparisonsOfTwoProgramsTogether) {
  ASSERT_EQ(study().exit_code, 0);
  set("PARBENCH_COMMIT", "another");
  const Finished finished = study();
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err,
              AllOf(HasSubstr("raw holds comparisons of another study"), HasSubstr("--raw")));
  EXPECT_EQ(study({"--raw", "new"}).exit_code, 0);
  EXPECT_EQ(results()["commit"], "another");
}

TEST_F(AaStudy, SaysWhatFailedAndKeepsWhatWasMeasured) {
  set("FAILS", "ab");
  const Finished finished = study();
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_EQ(row("selftest", "unchanged", "reports")["comparisons"], 1);
  EXPECT_EQ(row("selftest", "unchanged", "ab")["comparisons"], 0);
  EXPECT_EQ(results()["targets"][0]["met"], nullptr);
  EXPECT_THAT(page(), AllOf(HasSubstr("What went wrong"), HasSubstr("exited 2: a planted failure"),
                            HasSubstr("not measured")));
}

TEST_F(AaStudy, EndsWhenNothingWorks) {
  set("FAILS", "ab,run");
  EXPECT_EQ(study({"--comparisons", "5"}).exit_code, 1);
  EXPECT_THAT(results()["failures"], SizeIs(3));
  EXPECT_THAT(page(), HasSubstr("Nothing was measured."));
}

TEST_F(AaStudy, EndsAtItsTimeLimit) {
  set("HANGS", "ab");
  const Finished finished = study({"--time-limit", "1"});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(log(), SizeIs(1)) << "the one that hangs";
  EXPECT_EQ(results()["failures"], Json::array()) << "to end there is no failure of a program";
}

TEST_F(AaStudy, WritesWhatIsKnownWhenItIsInterrupted) {
  set("HANGS", "compare");
  Process process(words(), surroundings_);
  while (folder_.read("log").find("begin compare") == std::string::npos) {
    ASSERT_TRUE(process.running()) << process.err();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  process.signal(SIGTERM);
  EXPECT_EQ(process.wait().exit_code, 1);
  EXPECT_EQ(row("selftest", "unchanged", "ab")["comparisons"], 1);
  EXPECT_THAT(page(), HasSubstr("interrupted"));
}

TEST_F(AaStudy, RefusesNumbersThatAreNone) {
  EXPECT_EQ(study({"--comparisons", "0"}).exit_code, 2);
  EXPECT_EQ(study({"--time-limit", "-1"}).exit_code, 2);
  EXPECT_THAT(study({"--comparisons", "0"}).err, HasSubstr("--comparisons 0"));
}

}  // namespace
}  // namespace parbench::testing
