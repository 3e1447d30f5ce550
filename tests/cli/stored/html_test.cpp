// The command `html` with the real binary: pages of real reports, and bad input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/process.h"

namespace parbench::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Html : public ::testing::Test {
 protected:
  [[nodiscard]] Finished parbench(std::vector<std::string> words) const {
    words.insert(words.begin(), PARBENCH_BINARY);
    return run(words, {folder_.path(), {}});
  }

  /// Standard error of a call that must end with 2.
  [[nodiscard]] std::string refusal(std::vector<std::string> words) const {
    words.insert(words.begin(), "html");
    const Finished finished = parbench(words);
    EXPECT_EQ(finished.exit_code, 2) << finished.err;
    EXPECT_THAT(finished.err, StartsWith("parbench: error: "));
    return finished.err;
  }

  void measure(const std::string& report) const {
    const Finished finished = parbench(
        {"--scenario", "selftest", "--duration", "1us", "--max-time", "0.05", "--report", report});
    ASSERT_EQ(finished.exit_code, 0) << finished.err;
  }

  TemporaryFolder folder_;
};

TEST_F(Html, WritesAPageOfSeveralReports) {
  measure("one.json");
  measure("two.json");
  const Finished finished = parbench({"html", "one.json", "two.json", "-o", "page.html"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.out, "page: page.html\n");
  EXPECT_THAT(folder_.read("page.html"), AllOf(StartsWith("<!doctype html>"), HasSubstr("one.json"),
                                               HasSubstr("two.json"), HasSubstr("</html>")));
  EXPECT_EQ(folder_.entries(), 3);
}

TEST_F(Html, WritesToStandardOutputAndIntoPipes) {
  measure("one.json");
  ASSERT_EQ(parbench({"html", "one.json", "-o", "page.html"}).exit_code, 0);
  const std::string page = folder_.read("page.html");
  EXPECT_EQ(parbench({"html", "one.json", "-o", "-"}).out, page);
  for (const std::string path : {"/dev/stdout", "/dev/fd/1"}) {
    const Finished piped = run({"bash", "-c", "set -o pipefail; \"$@\" | cat", "bash",
                                PARBENCH_BINARY, "html", "one.json", "-o", path},
                               {folder_.path(), {}});
    EXPECT_EQ(piped.exit_code, 0) << piped.err;
    EXPECT_EQ(piped.out, page) << "and nothing else";
  }
  const Finished appended = run({"bash", "-c", "echo before > all; \"$@\" >> all", "bash",
                                 PARBENCH_BINARY, "html", "one.json", "-o", "/dev/stdout"},
                                {folder_.path(), {}});
  EXPECT_EQ(appended.exit_code, 0) << appended.err;
  EXPECT_EQ(folder_.read("all"), "before\n" + page);
  const Finished full = parbench({"html", "one.json", "-o", "/dev/full"});
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_THAT(full.err, HasSubstr("cannot write /dev/full: No space left"));
}

TEST_F(Html, SaysWhatIsMissing) {
  EXPECT_THAT(refusal({}), HasSubstr("parbench html REPORT"));
  EXPECT_THAT(refusal({"one.json"}), HasSubstr("-o FILE.html"));
  EXPECT_THAT(refusal({"one.json", "-o"}), HasSubstr("-o needs a value"));
  EXPECT_THAT(refusal({"one.json", "-o", "a.html", "-o", "b.html"}),
              HasSubstr("-o was given 2 times; give it once"));
  EXPECT_THAT(refusal({"one.json", "-o", "a.html", "--quiet"}), HasSubstr("--quiet"));
}

TEST_F(Html, RefusesBadReportsAndWritesNothing) {
  EXPECT_THAT(refusal({"none.json", "-o", "page.html"}), HasSubstr("none.json"));
  folder_.write("cut.json", "{\"parbench\": {");
  EXPECT_THAT(refusal({"cut.json", "-o", "page.html"}), HasSubstr("truncated"));
  folder_.write("bytes.json", "{\"parbench\": \"\xFF\"}");
  EXPECT_THAT(refusal({"bytes.json", "-o", "page.html"}), HasSubstr("expected an object"));
  folder_.write("other.json", "{\"benchmarks\": []}");
  EXPECT_THAT(refusal({"other.json", "-o", "page.html"}), HasSubstr("not written by parbench"));
  folder_.write("deep.json", std::string(1000, '['));
  EXPECT_THAT(refusal({"deep.json", "-o", "page.html"}), HasSubstr("deeper"));
  EXPECT_EQ(folder_.entries(), 4);
}

TEST_F(Html, KeepsReportsAndExistingPages) {
  measure("one.json");
  EXPECT_THAT(refusal({"one.json", "-o", "./one.json"}), HasSubstr("is a report"));
  EXPECT_THAT(refusal({"one.json", "-o", "none/page.html"}), HasSubstr("none"));
  folder_.write("page.html", "before");
  folder_.write("cut.json", "{");
  EXPECT_THAT(refusal({"cut.json", "-o", "page.html"}), HasSubstr("cut.json"));
  EXPECT_EQ(folder_.read("page.html"), "before");
}

TEST_F(Html, HasAHelpPage) {
  const Finished page = parbench({"html", "--help"});
  EXPECT_EQ(page.exit_code, 0);
  EXPECT_THAT(page.out, AllOf(HasSubstr("parbench html REPORT… -o FILE.html"),
                              HasSubstr("The page to write")));
}

}  // namespace
}  // namespace parbench::test
