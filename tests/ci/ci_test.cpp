// The scripts of scripts/ci as a workflow or somebody by hand calls them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "reports/io/file.h"
#include "reports/statistics/statistics.h"
#include "tests/support/process.h"

namespace parbench::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class Ci : public ::testing::Test {
 protected:
  using Environment = std::vector<std::pair<std::string, std::string>>;

  [[nodiscard]] Finished call(const std::string& script, std::vector<std::string> words,
                              const Environment& more = {}) const {
    words.insert(words.begin(), SOURCE_FOLDER "/scripts/ci/" + script);
    Environment environment{{"PARBENCH", STAND_INS "/stand_in_parbench"},
                            {"PARBENCH_BINARY", PARBENCH_BINARY},
                            {"PATH", STAND_INS ":/usr/bin:/bin"},
                            {"PYTHONDONTWRITEBYTECODE", "1"},
                            {"LOG", (folder_ / "log").string()},
                            {"GITHUB_STATE", (folder_ / "github.json").string()}};
    environment.insert(environment.end(), more.begin(), more.end());
    return run(words, {folder_.path(), environment});
  }

  struct Made {
    std::string started;
    std::string cpu = "A";
    bool complete = true;
    double seconds = 1;  // of its one case, in each of five launches
  };
  void add_report(const std::string& name, const Made& made) const {
    report::Report report;
    report.started_utc = made.started;
    report.complete = made.complete;
    report.machine.cpu_model = made.cpu;
    report.machine.commit = "0123456789abcdef";
    report::CaseResult& one = report.cases.emplace_back();
    one.name = "selftest/spin";
    one.scenario = "selftest";
    one.strategy = "spin";
    one.dtype = "f32";
    one.status = report::CaseStatus::measured;
    for (int launch = 0; launch < 5; ++launch) {
      const double seconds = made.seconds * (1 + 0.001 * launch);
      one.samples.push_back({.seconds = seconds,
                             .wall_seconds = seconds,
                             .iterations = 1,
                             .round = launch,
                             .process = launch});
    }
    one.statistics = summarise(one.samples);
    fs::create_directories((folder_ / name).parent_path());
    report::write_report(folder_ / name, report);
  }

  /// Output of git in a folder of the test's.
  [[nodiscard]] std::string git(const std::string& where, std::vector<std::string> words) const {
    words.insert(words.begin(), {"git", "-C", (folder_ / where).string(), "-c", "user.name=a", "-c",
                                 "user.email=a@b"});
    const Finished finished = run(words);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return finished.out;
  }

  /// A repository "clone" with the bare repository "remote.git" as its origin.
  void make_repositories() const {
    for (const char* folder : {"remote.git", "clone"}) fs::create_directory(folder_ / folder);
    static_cast<void>(git("remote.git", {"init", "-q", "--bare"}));
    static_cast<void>(git("clone", {"init", "-q"}));
    static_cast<void>(git("clone", {"commit", "-q", "--allow-empty", "-m", "Begin"}));
    static_cast<void>(git("clone", {"remote", "add", "origin", (folder_ / "remote.git").string()}));
  }

  [[nodiscard]] Finished publish(const std::string& report, const Environment& more = {}) const {
    return call("publish", {report, "--repository", (folder_ / "clone").string()}, more);
  }

  [[nodiscard]] std::string published(const std::string& path) const {
    return git("remote.git", {"show", "gh-pages:" + path});
  }

  void set_github(const nlohmann::json& state) const { folder_.write("github.json", state.dump()); }
  [[nodiscard]] std::vector<std::string> comments() const {
    std::vector<std::string> bodies;
    const auto state = nlohmann::json::parse(folder_.read("github.json"));
    for (const auto& comment : state["comments"]) bodies.push_back(comment["body"]);
    return bodies;
  }

  TemporaryFolder folder_;
};

TEST_F(Ci, RunMeasuresAndMakesThePage) {
  const Finished finished = call("run", {"--output", "results"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(folder_.read("log"), "--scenario all --processes 5 --report results/report.json\n");
  EXPECT_THAT(folder_.read("results/report.html"), StartsWith("<!doctype html>"));
}

TEST_F(Ci, RunTakesFlagsAndTellsOfFailedCases) {
  const Finished finished =
      call("run", {"--output", "results", "--processes", "2", "--", "--scenario", "matmul"},
           {{"RUN_EXIT", "1"}});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_EQ(folder_.read("log"), "--scenario matmul --processes 2 --report results/report.json\n");
  EXPECT_TRUE(fs::exists(folder_ / "results/report.html"));
}

TEST_F(Ci, CompareTakesTheLastGoodReportOfTheSameMachine) {
  add_report("new.json", {.started = "2026-05-05T10:00:00Z"});
  add_report("old/2026-05-01.json", {.started = "2026-05-01T10:00:00Z"});
  add_report("old/2026-05-02.json", {.started = "2026-05-02T10:00:00Z"});
  add_report("old/2026-05-03.json", {.started = "2026-05-03T10:00:00Z", .complete = false});
  add_report("old/2026-05-04.json", {.started = "2026-05-04T10:00:00Z", .cpu = "B"});
  folder_.write("old/2026-06-01.json", "{");
  const std::vector<std::string> words{"new.json", "--among", "old", "-o", "comparison.md"};
  Finished finished = call("compare", words);
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(folder_.read("comparison.md"), HasSubstr("BASE: old/2026-05-02.json"));
  add_report("new.json", {.started = "2026-05-05T10:00:00Z", .seconds = 2});
  finished = call("compare", words);
  EXPECT_EQ(finished.exit_code, 3) << finished.err;
  EXPECT_THAT(folder_.read("comparison.md"), HasSubstr("regressed"));
}

TEST_F(Ci, CompareSaysWhenThereIsNothingToCompareWith) {
  add_report("new.json", {.started = "2026-05-05T10:00:00Z"});
  add_report("old/other.json", {.started = "2026-05-04T10:00:00Z", .cpu = "B"});
  fs::copy(folder_ / "new.json", folder_ / "old/itself.json");
  const Finished finished = call("compare", {"new.json", "--among", "old", "-o", "comparison.md"});
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_THAT(folder_.read("comparison.md"), HasSubstr("No complete report of this class"));
}

TEST_F(Ci, CompareRefusesWhatIsNotThere) {
  EXPECT_EQ(call("compare", {"none.json", "--among", ".", "-o", "c.md"}).exit_code, 2);
  add_report("new.json", {.started = "2026-05-05T10:00:00Z"});
  const Finished finished = call("compare", {"new.json", "--among", "none", "-o", "c.md"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, HasSubstr("--among 'none' is no folder"));
}

TEST_F(Ci, CommentRenewsItsOwnCommentOnly) {
  const std::string marker = "<!-- parbench: comparison -->";
  set_github({{"pulls", nlohmann::json::array()},
              {"comments",
               {{{"id", 1}, {"body", "looks good"}, {"user", {{"login", "somebody"}}}},
                {{"id", 2}, {"body", marker + "\nmine!"}, {"user", {{"login", "somebody"}}}}}}});
  const std::vector<std::string> words{"text.md", "--repository", "o/n", "--pull", "7"};
  folder_.write("text.md", "first\n");
  Finished finished = call("comment", words);
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  folder_.write("text.md", "second\n");
  finished = call("comment", words);
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("comment renewed"));
  EXPECT_THAT(comments(), ElementsAre("looks good", marker + "\nmine!", marker + "\nsecond\n"));
}

TEST_F(Ci, CommentFindsThePullRequestOfABranchAtItsCommit) {
  set_github({{"pulls", {{{"number", 7}, {"label", "fork:topic"}, {"head", {{"sha", "abc"}}}}}},
              {"comments", nlohmann::json::array()}});
  folder_.write("text.md", "text");
  const auto comment = [&](const std::string& head, const std::string& commit) {
    return call("comment", {"text.md", "--repository", "o/n", "--head", head, "--commit", commit});
  };
  EXPECT_THAT(comment("fork:topic", "old").err, HasSubstr("no open pull request"));
  EXPECT_THAT(comment("fork:other", "abc").err, HasSubstr("no open pull request"));
  EXPECT_THAT(comments(), IsEmpty());
  EXPECT_THAT(comment("fork:topic", "abc").err, HasSubstr("pull request 7: comment written"));
  EXPECT_THAT(comments(), ElementsAre(HasSubstr("text")));
}

TEST_F(Ci, CommentIsCutToWhatGitHubTakes) {
  set_github({{"pulls", nlohmann::json::array()}, {"comments", nlohmann::json::array()}});
  folder_.write("text.md", std::string(100'000, 'x'));
  ASSERT_EQ(call("comment", {"text.md", "--repository", "o/n", "--pull", "7"}).exit_code, 0);
  EXPECT_LE(comments().at(0).size(), 65'536U);
  EXPECT_THAT(comments().at(0), HasSubstr("The rest is in the artifact"));
}

TEST_F(Ci, CommentTellsWhenGitHubRefuses) {
  folder_.write("text.md", "text");
  const Finished finished = call("comment", {"text.md", "--repository", "o/n", "--pull", "7"});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.err, HasSubstr("error: gh api"));
}

TEST_F(Ci, PublishMakesTheBranchAndAddsToIt) {
  make_repositories();
  add_report("one.json", {.started = "2026-05-01T10:00:00Z"});
  Finished finished = publish("one.json");
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(published("index.html"), StartsWith("<!doctype html>"));
  add_report("two.json", {.started = "2026-05-02T10:00:00Z"});
  finished = publish("two.json");
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("2 files: 2 reports"));
  EXPECT_THAT(git("remote.git", {"ls-tree", "--name-only", "gh-pages:reports"}),
              "2026-05-01T100000Z-0123456789.json\n2026-05-02T100000Z-0123456789.json\n");
  EXPECT_THAT(git("remote.git", {"ls-tree", "--name-only", "gh-pages"}),
              AllOf(HasSubstr("index.html"), HasSubstr(".nojekyll"), HasSubstr("assets")));
  EXPECT_EQ(git("clone", {"status", "--porcelain"}), "");
  EXPECT_THAT(git("clone", {"worktree", "list"}), Not(HasSubstr("pages")));
}

TEST_F(Ci, PublishWorksOnTopOfWhatOthersPushMeanwhile) {
  make_repositories();
  add_report("one.json", {.started = "2026-05-01T10:00:00Z"});
  ASSERT_EQ(publish("one.json").exit_code, 0);
  // The first push finds that another came first.
  folder_.write("remote.git/hooks/pre-receive",
                "#!/bin/sh\n[ -e pushed ] && exit 0\ntouch pushed\n"
                "echo 'somebody was faster' >&2\nexit 1\n");
  fs::permissions(folder_ / "remote.git/hooks/pre-receive", fs::perms::owner_all);
  add_report("two.json", {.started = "2026-05-02T10:00:00Z"});
  const Finished finished = publish("two.json");
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("trying again"));
  EXPECT_THAT(published("reports/2026-05-02T100000Z-0123456789.json"), HasSubstr("2026-05-02"));
}

TEST_F(Ci, PublishRefusesWhatIsNoReport) {
  make_repositories();
  folder_.write("other.json", "{\"parbench\": {\"started_utc\": \"../../x\", \"machine\": {}}}");
  EXPECT_THAT(publish("other.json").err, HasSubstr("is no time"));
  folder_.write("cut.json", "{");
  EXPECT_EQ(publish("cut.json").exit_code, 2);
  EXPECT_EQ(publish("none.json").exit_code, 2);
  EXPECT_EQ(git("remote.git", {"branch", "--list"}), "");
}

TEST_F(Ci, ReportsFetchesThoseOfTheBranch) {
  make_repositories();
  const std::vector<std::string> words{"--output", "earlier", "--repository",
                                       (folder_ / "clone").string()};
  Finished finished = call("reports", words);
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_TRUE(fs::is_empty(folder_ / "earlier"));
  add_report("one.json", {.started = "2026-05-01T10:00:00Z"});
  ASSERT_EQ(publish("one.json").exit_code, 0);
  finished = call("reports", words);
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(folder_.read("earlier/2026-05-01T100000Z-0123456789.json"), folder_.read("one.json"));
}

TEST(Workflows, AreReadableAndSafe) {
  const Finished finished = run({PARBENCH_PYTHON, STAND_INS "/workflows.py",
                                 SOURCE_FOLDER "/.github/workflows", SOURCE_FOLDER});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.out, "ok\n");
}

}  // namespace
}  // namespace parbench::testing
