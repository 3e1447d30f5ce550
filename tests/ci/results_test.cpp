// scripts/test.d/results.py on what ctest and GoogleTest write, and scripts/lint.d/sources.py on a
// repository of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/process.h"

namespace parbench::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Results : public ::testing::Test {
 protected:
  /// Writes ctest's results, given the <testcase> elements.
  void processes(const std::string& cases) const {
    folder_.write("ctest.xml", "<testsuite>" + cases + "</testsuite>");
  }
  /// Writes GoogleTest's results of a process.
  void tests(const std::string& process, const std::string& cases) const {
    folder_.write(process + ".xml",
                  "<testsuites><testsuite>" + cases + "</testsuite></testsuites>");
  }
  [[nodiscard]] Finished count() const {
    return run({PARBENCH_PYTHON, SOURCE_FOLDER "/scripts/test.d/results.py",
                (folder_ / "ctest.xml").string(), folder_.path().string()});
  }

  TemporaryFolder folder_;
};

TEST_F(Results, CountTestsInsideOfProcesses) {
  processes(
      R"(<testcase name="a.1" status="run"/><testcase name="web" status="run"/>)"
      R"(<testcase name="page" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/></testcase>)");
  tests("a.1", R"(<testcase name="One" classname="S" status="run"/>)"
               R"(<testcase name="Two" classname="S" status="run"/>)"
               R"(<testcase name="Gpu" classname="S" status="run">)"
               "<skipped message=\"/x/y.cpp:12&#x0A;no GPU&#x0A;\"/></testcase>");
  const Finished finished = count();
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out,
              AllOf(HasSubstr("skipped: S.Gpu: no GPU\n"), HasSubstr("skipped: page: "),
                    EndsWith("\n3 passed, 0 failed, 2 skipped\n")));
}

TEST_F(Results, NameTestsThatFailed) {
  processes(R"(<testcase name="a.1" status="fail"/>)");
  tests("a.1",
        R"(<testcase name="One" classname="S" status="run"><failure message="x"/></testcase>)"
        R"(<testcase name="Two" classname="S" status="run"/>)");
  const Finished finished = count();
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_EQ(finished.out, "FAILED: S.One\n1 passed, 1 failed, 0 skipped\n");
}

TEST_F(Results, NameTheTestThatEndedItsProcess) {
  processes(R"(<testcase name="a.1" status="fail"><system-out>[ RUN      ] S.One)"
            "\n[       OK ] S.One (0 ms)\n[ RUN      ] S.Two\n</system-out></testcase>");
  const Finished finished = count();
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.out, AllOf(StartsWith("FAILED: S.Two ended a.1 "),
                                  EndsWith("\n0 passed, 1 failed, 0 skipped\n")));
}

TEST_F(Results, CountAProcessThatFailedBehindItsTests) {
  processes(R"(<testcase name="a.1" status="fail"/>)");
  tests("a.1", R"(<testcase name="One" classname="S" status="run"/>)");
  const Finished finished = count();
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.out,
              AllOf(HasSubstr("FAILED: a.1 "), EndsWith("1 passed, 1 failed, 0 skipped\n")));
}

TEST_F(Results, AreAnErrorWhereNoTestRan) {
  processes(R"(<testcase name="a.1" status="run"/>)");
  tests("a.1", "");
  const Finished finished = count();
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.err, HasSubstr("no test ran"));
}

class LintedSources : public ::testing::Test {
 protected:
  LintedSources() {
    folder_.write("compile_commands.json", "[]");
    folder_.write("repository/scripts/lint-wheels.txt", "");
    folder_.write("repository/h.h", "");
    folder_.write("repository/between.h", "#include \"h.h\"\n");
    folder_.write("repository/alone.cpp", "");
    folder_.write("repository/user.cpp", "#include \"between.h\"\n");
    folder_.write("repository/user2.cpp", "#include \"between.h\"\n");
    git({"init", "-q", "-b", "main"});
    commit();
  }

  void git(std::vector<std::string> words) const {
    words.insert(words.begin(),
                 {"git", "-C", repository(), "-c", "user.name=a", "-c", "user.email=a@b"});
    const Finished finished = run(words);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
  }
  void commit() const {
    git({"add", "."});
    git({"commit", "-q", "-m", "Change"});
  }
  /// What sources.py prints for these words.
  [[nodiscard]] std::string chosen(const std::vector<std::string>& words) const {
    std::vector<std::string> command{PARBENCH_PYTHON, SOURCE_FOLDER "/scripts/lint.d/sources.py",
                                     (folder_ / "compile_commands.json").string()};
    command.insert(command.end(), words.begin(), words.end());
    const Finished finished = run(command, {repository(), {}});
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return finished.out;
  }
  [[nodiscard]] std::string repository() const { return (folder_ / "repository").string(); }

  TemporaryFolder folder_;
};

TEST_F(LintedSources, AreAllWithoutAHistory) {
  EXPECT_THAT(chosen({"since"}), StartsWith("3 of 3 sources: this clone has no earlier commit"));
  EXPECT_THAT(chosen({"all"}), StartsWith("3 of 3 sources: all were asked for"));
}

TEST_F(LintedSources, AreThoseThatChangedAndTheirIncluders) {
  folder_.write("repository/alone.cpp", "int i;\n");
  commit();
  EXPECT_THAT(chosen({"since"}), AllOf(StartsWith("1 of 3 sources: changes since "),
                                       ContainsRegex("\nalone.cpp\t[0-9a-f]{40}\n$")));
  folder_.write("repository/h.h", "int j;\n");  // not committed
  EXPECT_THAT(chosen({"since"}),
              ContainsRegex("^3 of 3.*\nalone.cpp\t.*\nuser.cpp\t.*\nuser2.cpp\t"));
  EXPECT_THAT(chosen({"since", "HEAD"}), AllOf(StartsWith("2 of 3"), Not(HasSubstr("alone.cpp"))));
}

TEST_F(LintedSources, AreCountedFromWhereABranchBegan) {
  folder_.write("repository/alone.cpp", "int i;\n");
  commit();
  git({"update-ref", "refs/remotes/origin/main", "HEAD"});
  folder_.write("repository/user.cpp", "int k;\n");
  commit();
  EXPECT_THAT(chosen({"since"}), AllOf(StartsWith("1 of 3"), HasSubstr("\nuser.cpp\t")));
}

TEST_F(LintedSources, HaveAStateThatChangesWithWhatTheyInclude) {
  const std::string before = chosen({"user.cpp"});
  folder_.write("repository/alone.cpp", "int i;\n");
  EXPECT_EQ(chosen({"user.cpp"}), before);
  folder_.write("repository/h.h", "int j;\n");
  EXPECT_NE(chosen({"user.cpp"}), before);
}

}  // namespace
}  // namespace parbench::testing
