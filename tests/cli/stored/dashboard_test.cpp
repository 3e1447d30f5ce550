// The command `dashboard` with the real binary: sites of real reports, and bad input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <iterator>
#include <regex>
#include <thread>

#include "tests/support/process.h"

namespace parbench::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Dashboard : public ::testing::Test {
 protected:
  [[nodiscard]] Finished parbench(std::vector<std::string> words) const {
    words.insert(words.begin(), PARBENCH_BINARY);
    return run(words, {folder_.path(), {}});
  }

  /// Standard error of a call that must end with 2.
  [[nodiscard]] std::string refusal(std::vector<std::string> words) const {
    words.insert(words.begin(), "dashboard");
    const Finished finished = parbench(words);
    EXPECT_EQ(finished.exit_code, 2) << finished.err;
    EXPECT_THAT(finished.err, StartsWith("parbench: error: "));
    return finished.err;
  }

  void measure(const std::string& report) const {
    std::filesystem::create_directories(folder_ / "reports");
    const Finished finished = parbench({"--scenario", "selftest", "--duration", "1us", "--max-time",
                                        "0.05", "--report", "reports/" + report});
    ASSERT_EQ(finished.exit_code, 0) << finished.err;
  }

  static constexpr int many = 300;

  void write_many(const std::string& text) const {
    for (int i = 0; i < many; ++i) {
      folder_.write("reports/" + std::to_string(i) + ".json", text + std::string(i + 1U, '\n'));
    }
  }

  /// Of reports, in the site.
  [[nodiscard]] std::ptrdiff_t pages() const {
    std::error_code none_yet;
    return std::distance(std::filesystem::directory_iterator(folder_ / "site/report", none_yet),
                         {});
  }

  /// Once it has written some of many pages.
  void kill_a_build() const {
    Process build({PARBENCH_BINARY, "dashboard", "reports", "-o", "site"}, {folder_.path(), {}});
    while (pages() < 20 && build.running()) std::this_thread::yield();
    build.signal(SIGKILL);
    static_cast<void>(build.wait());
  }

  TemporaryFolder folder_;
};

TEST_F(Dashboard, ShowsTheProjectThatWasMeasured) {
  const Finished measured =
      parbench({"--scenario", "selftest", "--duration", "1us", "--max-time", "0.05", "--label",
                "branch=main", "--commit", "0123abcd", "--commit-subject", "Say more",
                "--commit-author", "A. Author", "--report", "reports/runs/a.json"});
  ASSERT_EQ(measured.exit_code, 0) << measured.err;
  const Finished shown = parbench({"show", "reports/runs/a.json"});
  EXPECT_THAT(shown.out, AllOf(HasSubstr("commit 0123abcd"), HasSubstr("branch main")));
  EXPECT_EQ(parbench({"html", "reports/runs/a.json", "-o", "page.html"}).exit_code, 0);
  EXPECT_THAT(folder_.read("page.html"),
              AllOf(HasSubstr("Say more"), HasSubstr("A. Author"), HasSubstr("label branch")));
  const Finished built = parbench(
      {"dashboard", "reports", "-o", "site", "--repository-url", "https://example.org/owner/name"});
  EXPECT_EQ(built.exit_code, 0) << built.err;
  std::string pages;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(folder_ / "site/history")) {
    if (entry.is_regular_file()) pages += text_of(entry.path());
  }
  EXPECT_THAT(pages, AllOf(HasSubstr("https://example.org/owner/name/commit/0123abcd"),
                           HasSubstr("Say more · A. Author"), HasSubstr("branch main")));
  EXPECT_THAT(refusal({"reports", "-o", "site", "--repository-url", "example.org"}),
              HasSubstr("--repository-url 'example.org' is not an address such as https://"));
}

TEST_F(Dashboard, BuildsASiteAndReadsOnlyWhatIsNewTheNextTime) {
  measure("one.json");
  measure("two.json");
  Finished finished = parbench({"dashboard", "reports", "-o", "site/"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out,
              AllOf(StartsWith("2 files: 2 reports\n"), HasSubstr("dashboard: site/index.html\n")));
  EXPECT_EQ(finished.err, "");
  EXPECT_THAT(folder_.read("site/index.html"),
              AllOf(StartsWith("<!doctype html>"), HasSubstr("selftest"), HasSubstr("</html>")));
  measure("three.json");
  finished = parbench({"dashboard", "reports", "-o", "site/"});
  EXPECT_THAT(finished.out, StartsWith("3 files: 3 reports\n"));
}

TEST_F(Dashboard, NamesAndSkipsWhatIsNoReport) {
  measure("one.json");
  folder_.write("reports/cut.json", "{");
  folder_.write("reports/\x1b[31m.json", "{}");
  Finished finished = parbench({"dashboard", "reports", "-o", "site"});
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_THAT(finished.err, AllOf(HasSubstr("parbench: skipped reports/cut.json: is truncated"),
                                  ::testing::Not(HasSubstr("\x1b"))));
  EXPECT_THAT(finished.out, HasSubstr("3 files: 1 report, 2 skipped\n"));
  finished = parbench({"dashboard", "reports", "-o", "site", "--strict"});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.out, HasSubstr("dashboard: site/index.html"));
  std::filesystem::copy(folder_ / "reports/one.json", folder_ / "reports/copy.json");
  EXPECT_THAT(parbench({"dashboard", "reports", "-o", "site"}).out,
              StartsWith("4 files: 1 report, 1 copy, 2 skipped\n"));
  std::filesystem::remove(folder_ / "reports/cut.json");
  std::filesystem::remove(folder_ / "reports/\x1b[31m.json");
  EXPECT_EQ(parbench({"dashboard", "reports", "-o", "site", "--strict"}).exit_code, 0);
}

TEST_F(Dashboard, SaysWhereReportsAre) {
  std::filesystem::create_directories(folder_ / "empty");
  EXPECT_THAT(parbench({"dashboard", "empty", "-o", "site"}).out,
              StartsWith("0 files: 0 reports\n"
                         "no report (*.json) in empty; name the folder of your reports (default: "
                         "reports/runs)\nhistories: 0 · changes: 0 (0 in the last 90 days of "
                         "reports)\n"));
}

/// Links of a page that lead nowhere.
std::vector<std::string> dead_links(const std::filesystem::path& page) {
  static const std::regex link("(?:href|src)=\"([^\"#:]+)[\"#]");
  const std::string text = text_of(page);
  std::vector<std::string> dead;
  for (std::sregex_iterator at(text.begin(), text.end(), link); at != std::sregex_iterator();
       ++at) {
    const std::string target = (*at)[1];
    if (!std::filesystem::exists(page.parent_path() / target)) dead.push_back(target);
  }
  return dead;
}

TEST_F(Dashboard, ABuildThatIsKilledLeavesASiteWhoseLinksWork) {
  measure("first.json");
  ASSERT_EQ(parbench({"dashboard", "reports", "-o", "site"}).exit_code, 0);
  const std::string text = folder_.read("reports/first.json");
  std::filesystem::remove(folder_ / "reports/first.json");  // its pages are needed until the end
  write_many(text);
  kill_a_build();
  int checked = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ / "site")) {
    if (entry.path().extension() != ".html") continue;
    EXPECT_THAT(dead_links(entry.path()), ::testing::IsEmpty()) << entry.path();
    ++checked;
  }
  EXPECT_GE(checked, 20);
  ASSERT_EQ(parbench({"dashboard", "reports", "-o", "site"}).exit_code, 0);
  EXPECT_EQ(pages(), many);
}

TEST_F(Dashboard, AFirstBuildThatIsKilledIsDoneAgainInItsFolder) {
  measure("first.json");
  write_many(folder_.read("reports/first.json"));
  kill_a_build();
  ASSERT_EQ(text_of(folder_ / "site/index.html").find("<body"), std::string::npos)
      << "killed before its end";
  const Finished again = parbench({"dashboard", "reports", "-o", "site"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(pages(), many + 1);
}

TEST_F(Dashboard, SaysWhatIsWrong) {
  EXPECT_THAT(refusal({}), HasSubstr("parbench dashboard DIR -o SITE"));
  EXPECT_THAT(refusal({"none", "-o", "site"}), HasSubstr("'none' does not exist"));
  EXPECT_THAT(refusal({"none"}), HasSubstr("-o SITE"));
  EXPECT_THAT(refusal({"one", "two", "-o", "site"}), HasSubstr("does not take two"));
  EXPECT_THAT(refusal({"one", "-o", "site", "--quiet"}), HasSubstr("--quiet"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "site"));
  measure("one.json");
  EXPECT_THAT(refusal({"reports", "-o", "/"}), HasSubstr("name a new or empty folder"));
}

TEST_F(Dashboard, HasAHelpPage) {
  const Finished page = parbench({"dashboard", "--help"});
  EXPECT_EQ(page.exit_code, 0);
  EXPECT_THAT(page.out, AllOf(HasSubstr("parbench dashboard DIR -o SITE [--strict]"),
                              HasSubstr("Exit 1 when a file was skipped")));
}

}  // namespace
}  // namespace parbench::test
