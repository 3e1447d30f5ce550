// Sites of made-up reports: what belongs to one line, what is skipped, what is removed.
#include "reports/dashboard/site.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <iterator>

#include "kernels/base/error.h"
#include "reports/dashboard/content_id.h"
#include "reports/dashboard/history.h"
#include "reports/dashboard/repository.h"
#include "reports/dashboard/summary.h"
#include "reports/io/file.h"
#include "reports/views/html/html_frame.h"
#include "tests/reports/sample.h"
#include "tests/support/temporary_folder.h"

namespace parbench::report {
namespace {

namespace fs = std::filesystem;
using parbench::test::text_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

/// The report of one day, with a case of some seconds.
Report report_of_day(int day, double seconds, const std::string& cpu = "A processor") {
  Report report;
  report.version = "0.1.0";
  report.started_utc = fmt::format("2024-{:02}-{:02}T10:00:00Z", 1 + day / 28, 1 + day % 28);
  report.complete = true;
  report.machine.host = "bench";
  report.machine.cpu_model = cpu;
  report.machine.cores_allowed = {0, 1};
  report.machine.commit = fmt::format("{:08x}{:032}", day + 0xabc0000, 0);
  report.cases = {measured_case("demo", "fast", {{"split", std::int64_t{5}}}, seconds, 8)};
  return report;
}

class Site : public ::testing::Test {
 protected:
  void add(const std::string& name, const Report& report) const {
    fs::create_directories((folder_ / ("reports/" + name)).parent_path());
    write_report(folder_ / ("reports/" + name), report);
  }
  /// A step of 10% at day 30, of 40 days.
  void add_step() const {
    for (int day = 0; day < 40; ++day) {
      const double noise = 1 + 0.01 * std::sin(12.9898 * day);
      add(fmt::format("{}.json", day), report_of_day(day, noise * (day < 30 ? 1.0 : 1.1)));
    }
  }
  [[nodiscard]] SiteSummary build(const Repository& repository = {}) const {
    return build_site(folder_ / "reports", folder_ / "site", repository);
  }
  /// The histories of the folder, as a build finds them.
  [[nodiscard]] std::vector<History> histories() const {
    ReportCollection reports;
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / "reports")) {
      if (!entry.is_regular_file()) continue;
      const std::string path = entry.path().string();
      reports.files[path] = path;
      reports.reports[path] = summarise_report(read_report(path), reports.identities);
    }
    return histories_of(reports);
  }
  [[nodiscard]] std::vector<fs::path> files(const std::string& sub_folder) const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / ("site/" + sub_folder))) {
      if (entry.is_regular_file()) found.push_back(entry.path());
    }
    return found;
  }
  [[nodiscard]] std::string history_page() const { return text_of(files("history").front()); }

  parbench::test::TemporaryFolder folder_;
};

TEST_F(Site, ListsAChangeWithTheCommitsBeforeAndAfter) {
  add_step();
  const SiteSummary built = build();
  EXPECT_EQ(built.changes, 1U);
  EXPECT_EQ(built.recent_changes, 1U);
  for (const std::string& page : {folder_.read("site/index.html"), history_page()}) {
    EXPECT_THAT(page, AllOf(HasSubstr("0abc001d00"), HasSubstr("0abc001e00"), HasSubstr("+10%")));
  }
}

TEST_F(Site, OldChangesAreOnTheirPageOnly) {
  add_step();
  add("late.json", report_of_day(30 + 91, 1.1));
  const SiteSummary built = build();
  EXPECT_EQ(built.changes, 1U);
  EXPECT_EQ(built.recent_changes, 0U);
  EXPECT_THAT(folder_.read("site/index.html"), HasSubstr("None in the 90 days"));
  EXPECT_THAT(history_page(), HasSubstr("0abc001e00"));
}

TEST_F(Site, SaysThatThereAreTooFewReportsForAChange) {
  add("0.json", report_of_day(0, 1));
  add("1.json", report_of_day(1, 2));
  EXPECT_EQ(build().lengths.longest, 2U);
  for (const std::string& page : {folder_.read("site/index.html"), history_page()}) {
    EXPECT_THAT(page, AllOf(HasSubstr("Change detection needs 9 reports of a case on the same kind "
                                      "of machine; so far there are at most 2."),
                            Not(HasSubstr("None in")), Not(HasSubstr("No case changed"))));
  }
  for (int day = 2; day < 9; ++day) add(fmt::format("{}.json", day), report_of_day(day, 1));
  EXPECT_EQ(build().lengths.longest, 9U);
  for (const std::string& page : {folder_.read("site/index.html"), history_page()}) {
    EXPECT_THAT(page, Not(HasSubstr("Change detection needs")));
  }
  Report other = report_of_day(9, 1);
  other.cases[0].dtype = "bf16";
  add("9.json", other);
  EXPECT_EQ(build().lengths.too_short, 1U);
  for (const std::string& page : {folder_.read("site/index.html"), history_page()}) {
    EXPECT_THAT(page, HasSubstr("; 1 of 2 cases have fewer."));
  }
  EXPECT_THAT(folder_.read("site/index.html"), HasSubstr("None in the 90 days"));
  EXPECT_THAT(history_page(), HasSubstr("No case changed its level"));
}

TEST_F(Site, MachinesAreNeverMixed) {
  for (int day = 0; day < 20; ++day) {
    add(fmt::format("a{}.json", day), report_of_day(day, 1.0, "One processor"));
    add(fmt::format("b{}.json", day), report_of_day(day, 2.0, "Another processor"));
  }
  const SiteSummary built = build();
  EXPECT_EQ(built.histories, 2U);
  EXPECT_EQ(built.changes, 0U);
  EXPECT_THAT(files("history"), SizeIs(2));
  for (const History& history : histories()) {
    const bool one = history.machine_text.starts_with("One processor");
    ASSERT_THAT(history.series, SizeIs(1));
    ASSERT_THAT(history.series[0].points, SizeIs(20));
    for (const Point& point : history.series[0].points) {
      EXPECT_NEAR(point.median, one ? 1.0 : 2.0, 0.1);
    }
  }
}

TEST_F(Site, CasesWithOtherParametersOrFormatsAreOtherSeries) {
  Report first = report_of_day(0, 1);
  first.cases[0].dtype = "f32";
  Report second = report_of_day(1, 1);
  second.cases = {first.cases[0], first.cases[0], first.cases[0], first.cases[0]};
  for (std::size_t i = 0; i < second.cases.size(); ++i) second.cases[i].name += std::to_string(i);
  second.cases[1].dtype = "bf16";
  second.cases[2].parameters = {{"split", std::string("5")}};
  second.cases[3].graph = true;
  add("0.json", first);
  add("1.json", second);
  static_cast<void>(build());
  const auto all = histories();
  ASSERT_THAT(all, SizeIs(1));
  ASSERT_THAT(all[0].series, SizeIs(4));
  EXPECT_THAT(all[0].series[0].points, SizeIs(2));
  for (std::size_t i = 1; i < 4; ++i) EXPECT_THAT(all[0].series[i].points, SizeIs(1));
}

TEST_F(Site, FollowsAMovedReport) {
  add("a.json", report_of_day(0, 1));
  add("b.json", report_of_day(1, 1));
  static_cast<void>(build());
  fs::rename(folder_ / "reports/a.json", folder_ / "reports/c.json");
  static_cast<void>(build());
  EXPECT_THAT(history_page(), AllOf(HasSubstr("c.json"), Not(HasSubstr("a.json"))));
}

TEST_F(Site, ACopyOfAReportIsTheSameRun) {
  add("a.json", report_of_day(0, 1));
  fs::copy(folder_ / "reports/a.json", folder_ / "reports/b.json");
  const SiteSummary built = build();
  EXPECT_EQ(built.files, 2U);
  EXPECT_EQ(built.reports, 1U);
}

TEST_F(Site, RemovedReportsVanish) {
  add("a.json", report_of_day(0, 1));
  add("b.json", report_of_day(1, 1, "Another processor"));
  static_cast<void>(build());
  fs::remove(folder_ / "reports/b.json");
  const SiteSummary built = build();
  EXPECT_EQ(built.histories, 1U);
  EXPECT_THAT(files("report"), SizeIs(1));
  EXPECT_THAT(files("history"), SizeIs(1));
  EXPECT_THAT(folder_.read("site/index.html"), Not(HasSubstr("Another processor")));
}

TEST_F(Site, AMissingPageIsMadeAgain) {
  add("a.json", report_of_day(0, 1));
  static_cast<void>(build());
  fs::remove(files("report").front());
  static_cast<void>(build());
  EXPECT_THAT(files("report"), SizeIs(1));
}

TEST_F(Site, WhatABuildThatWasCutShortLeftIsRemovedAndNothingElse) {
  add("a.json", report_of_day(0, 1));
  static_cast<void>(build());
  folder_.write("site/report/.parbench-1-2.tmp", "half a page");
  folder_.write("site/report/" + std::string(32, 'f') + ".html", "a page of a report that is gone");
  folder_.write("site/CNAME", "bench.example");
  static_cast<void>(build());
  EXPECT_THAT(files("report"), SizeIs(1));
  EXPECT_EQ(folder_.read("site/CNAME"), "bench.example");
}

TEST_F(Site, ForeignFilesAreNotRemoved) {
  add("a.json", report_of_day(0, 1));
  static_cast<void>(build());
  const std::vector<std::string> others{
      "site/report/mine.html",     "site/report/" + std::string(32, 'F') + ".html",
      "site/report/x.tmp",         "site/report/deep/" + std::string(32, 'f') + ".html",
      "site/assets/logo.css",      "site/assets/jquery.js",
      "site/history/notes.html",   "site/history/2025/pipeline.html",
      "site/report/.parbench.tmp", "site/assets/" + std::string(32, 'f') + ".html"};
  for (const std::string& path : others) {
    fs::create_directories((folder_ / path).parent_path());
    folder_.write(path, path);
  }
  for (int i = 0; i < 2; ++i) {
    static_cast<void>(build());
    for (const std::string& path : others) EXPECT_EQ(folder_.read(path), path);
  }
}

TEST_F(Site, AFirstBuildThatWasCutShortIsBuiltAgain) {
  add("a.json", report_of_day(0, 1));
  static_cast<void>(build());
  fs::remove_all(folder_ / "site/history");
  fs::remove_all(folder_ / "site/report");
  folder_.write("site/index.html", site_generator);  // what a build writes first
  EXPECT_EQ(build().reports, 1U);
  EXPECT_THAT(files("report"), SizeIs(1));
}

TEST_F(Site, TheLimitOfFilesIsAskedEachTime) {
  add("a.json", report_of_day(0, 1));
  std::string text = folder_.read("reports/a.json");
  const std::string start = "\"parbench\": {";
  std::string values = "\"more\": [0";
  for (int i = 0; i < 50'000; ++i) values += ",0";  // 1 MB allows 40,000
  text.insert(text.find(start) + start.size(), values + "],");
  folder_.write("reports/a.json", text);
  ASSERT_EQ(::setenv("PARBENCH_MAX_REPORT_MB", "1", 1), 0);
  EXPECT_THAT(build().skipped, ElementsAre(HasSubstr("values")));
  ::unsetenv("PARBENCH_MAX_REPORT_MB");
  EXPECT_THAT(build().skipped, IsEmpty());
}

TEST_F(Site, NamesFilesThatAreNoReportsEachTime) {
  add("good.json", report_of_day(0, 1));
  folder_.write("reports/cut.json", "{\"parbench\": {");
  folder_.write("reports/deep/other.json", "{\"benchmarks\": []}");
  Report timeless = report_of_day(1, 1);
  timeless.started_utc = "yesterday";
  add("timeless.json", timeless);
  for (int i = 0; i < 2; ++i) {
    const SiteSummary built = build();
    EXPECT_EQ(built.reports, 1U);
    EXPECT_THAT(built.skipped,
                ElementsAre(AllOf(HasSubstr("cut.json"), HasSubstr("truncated")),
                            AllOf(HasSubstr("deep/other.json"), HasSubstr("not written by")),
                            AllOf(HasSubstr("timeless.json"), HasSubstr("'yesterday'"))));
  }
}

TEST_F(Site, LeavesOutAReportFromTheFuture) {
  add_step();
  Report report = report_of_day(0, 1);
  report.started_utc = "9999-12-31T23:59:59Z";
  add("wrong-clock.json", report);
  for (int i = 0; i < 2; ++i) {
    const SiteSummary built = build();
    EXPECT_EQ(built.reports, 40U);
    EXPECT_EQ(built.recent_changes, 1U);
    EXPECT_THAT(built.skipped,
                ElementsAre(AllOf(HasSubstr("wrong-clock.json"), HasSubstr("9999-12-31 23:59"))));
  }
  EXPECT_THAT(folder_.read("site/index.html"), Not(HasSubstr("9999")));
}

TEST_F(Site, NamesFilesOfOtherProgramsWithoutATime) {
  add("good.json", report_of_day(0, 1));
  folder_.write(
      "reports/timeless.json",
      R"({"context": {}, "benchmarks": [{"name": "BM", "real_time": 1, "time_unit": "ns"}]})");
  EXPECT_THAT(build().skipped,
              ElementsAre(AllOf(HasSubstr("timeless.json: has no date"), HasSubstr("\"date\""))));
}

TEST_F(Site, LeavesOutWhatWasMeasuredForAProfiler) {
  add("0.json", report_of_day(0, 1));
  Report profile = report_of_day(1, 1);
  profile.options = {{"for-profiler", std::string("true")}};
  add("1.json", profile);
  for (int i = 0; i < 2; ++i) {
    const SiteSummary built = build();
    EXPECT_EQ(built.reports, 1U);
    EXPECT_THAT(built.skipped,
                ElementsAre(AllOf(HasSubstr("1.json"), HasSubstr("--for-profiler"))));
  }
  EXPECT_THAT(files("report"), SizeIs(1));
}

TEST_F(Site, NumbersThatAreNoneStayInTheHistory) {
  Report report = report_of_day(0, 1);
  const double none = std::nan("");
  report.cases[0].statistics->median_interval = Interval{0.9, 1.1, none};
  report.cases[0].parameters = {{"split", none}};
  add("a.json", report);
  EXPECT_EQ(build().reports, 1U);
  EXPECT_THAT(histories().at(0).series.at(0).points, SizeIs(1));
}

TEST_F(Site, ScansNeitherHiddenFoldersNorItself) {
  add("good.json", report_of_day(0, 1));
  add(".git/hidden.json", report_of_day(1, 1));
  const fs::path inside = folder_ / "reports/site";
  static_cast<void>(build_site(folder_ / "reports", inside));
  folder_.write("reports/site/stray.json", "{}");
  const SiteSummary built = build_site(folder_ / "reports", inside);
  EXPECT_EQ(built.files, 1U);
  EXPECT_THAT(built.skipped, IsEmpty());
}

TEST_F(Site, AFolderWithoutReportsHasAnEmptySite) {
  fs::create_directory(folder_ / "reports");
  EXPECT_EQ(build().files, 0U);
  EXPECT_THAT(folder_.read("site/index.html"), HasSubstr("There is no history yet"));
}

TEST_F(Site, CasesWithoutANumberLeaveAGap) {
  add("0.json", report_of_day(0, 1));
  Report failed = report_of_day(1, 1);
  failed.cases[0].status = CaseStatus::failed;
  failed.cases[0].statistics.reset();
  add("1.json", failed);
  static_cast<void>(build());
  const auto all = histories();
  EXPECT_THAT(all[0].moments, SizeIs(2));
  EXPECT_THAT(all[0].series[0].points, SizeIs(1));
  EXPECT_THAT(history_page(), HasSubstr("no number"));
}

TEST_F(Site, LinksCommitsToTheirRepository) {
  add_step();
  Report described = report_of_day(41, 1.1);
  described.machine.commit = "v1 <b>&\"'";
  described.machine.commit_subject = "Say <more>";
  described.machine.commit_author = "A. Author";
  described.labels = {{"branch", "main"}, {"<key>", "<value>"}};
  add("described.json", described);
  static_cast<void>(build(Repository("https://example.org/owner/name.git")));
  const std::string before = fmt::format("{:08x}{:032}", 29 + 0xabc0000, 0);
  const std::string link = "<a href=\"https://example.org/owner/name/commit/";
  const std::string index = folder_.read("site/index.html");
  EXPECT_THAT(index, HasSubstr(link + before + "\">"));
  const std::string history = history_page();
  EXPECT_THAT(history,
              AllOf(HasSubstr(link + before + "\">"), HasSubstr(link + "v1%20%3Cb%3E%26%22%27\">"),
                    HasSubstr("Say &lt;more&gt; · A. Author"),
                    HasSubstr("branch main · &lt;key&gt; &lt;value&gt;")));
  EXPECT_THAT(history, Not(HasSubstr("<value>")));
  std::size_t linked = 0;
  for (const fs::path& page : files("report")) {
    linked += text_of(page).find(link) != std::string::npos ? 1U : 0U;
  }
  EXPECT_EQ(linked, 41U);
  static_cast<void>(build());
  EXPECT_THAT(history_page(), Not(HasSubstr("example.org")));
}

TEST(RepositoryLinks, AreOfWebAddressesOnly) {
  EXPECT_EQ(Repository("http://host:8080/~a/b/").commit_link("0a"),
            "http://host:8080/~a/b/commit/0a");
  EXPECT_EQ(Repository("https://example.org/a.git").commit_link(""), "");
  EXPECT_EQ(Repository().commit_link("0a"), "");
  for (const char* wrong :
       {"", "github.com/a/b", "javascript:alert(1)", "https://", "https:///a", "ftp://host/a",
        "https://host/\"a", "https://host/a b", "https://host/<a>", "git@github.com:a/b.git"}) {
    EXPECT_THROW(Repository{wrong}, UsageError) << wrong;
  }
}

TEST_F(Site, HostileNamesStayText) {
  const std::string hostile = "<script>alert(1)</script>\"'&/../../x";
  Report report = report_of_day(0, 1, hostile);
  report.machine.commit = "<b>";
  report.cases = {measured_case(hostile, hostile, {{hostile, hostile}}, 1, 8)};
  add("a.json", report);
  static_cast<void>(build());
  for (const std::string& page : {folder_.read("site/index.html"), history_page()}) {
    EXPECT_THAT(page, AllOf(Not(HasSubstr("<script>alert")), Not(HasSubstr("<b>")),
                            HasSubstr("&lt;script&gt;alert")));
  }
  EXPECT_THAT(files("history"), SizeIs(1));  // and nothing outside
}

TEST_F(Site, TakesAnEmptyFolderAndTheBranchOfASiteBeforeItsFirstBuild) {
  add("a.json", report_of_day(0, 1));
  fs::create_directory(folder_ / "site");
  EXPECT_EQ(build().reports, 1U);
  fs::create_directory(folder_ / "branch");
  fs::rename(folder_ / "reports", folder_ / "branch/reports");
  folder_.write("branch/.nojekyll", "");
  folder_.write("branch/.git", "gitdir: elsewhere");
  EXPECT_EQ(build_site(folder_ / "branch/reports", folder_ / "branch").reports, 1U);
}

TEST_F(Site, RefusesFoldersThatAreNotItsOwn) {
  add("a.json", report_of_day(0, 1));
  const auto refusal = [](const fs::path& reports, const fs::path& site) -> std::string {
    try {
      static_cast<void>(build_site(reports, site));
    } catch (const UsageError& error) {
      return error.what();
    }
    return "nothing was refused";
  };
  EXPECT_THAT(refusal(folder_ / "none", folder_ / "site"), HasSubstr("does not exist"));
  EXPECT_THAT(refusal(folder_ / "reports/a.json", folder_ / "site"), HasSubstr("is not a folder"));
  EXPECT_THAT(refusal(folder_ / "reports", folder_ / "reports/a.json"), HasSubstr("is a file"));
  EXPECT_THAT(refusal(folder_ / "reports", folder_ / "reports"), HasSubstr("folder of reports"));
  folder_.write("other/index.html", "another page");
  EXPECT_THAT(refusal(folder_ / "reports", folder_ / "other"),
              AllOf(HasSubstr("holds 'index.html'"), HasSubstr("name a new or empty folder")));
  EXPECT_EQ(folder_.read("other/index.html"), "another page");
  folder_.write("work/notes.txt", "other notes");
  EXPECT_THAT(refusal(folder_ / "reports", folder_ / "work"), HasSubstr("holds 'notes.txt'"));
  EXPECT_THAT(refusal(folder_ / "reports", "/"), HasSubstr("-o '/' holds"));
  EXPECT_THAT(fs::directory_iterator(folder_ / "work")->path().filename(), "notes.txt");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "work"), {}), 1) << "nothing is written";
}

TEST(ChangesOf, LeavesOutWhatIsSmallerThanTheLeastChange) {
  const auto points = [](double step) {
    std::vector<Point> list;
    for (std::size_t i = 0; i < 60; ++i) {
      const double noise = 1 + 0.001 * std::sin(static_cast<double>(i * i));
      list.push_back({i, noise * (i < 30 ? 1 : 1 + step), {}});
    }
    return list;
  };
  EXPECT_THAT(changes_of(points(0.015)), IsEmpty());
  const auto changes = changes_of(points(0.03));
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_EQ(changes[0].at, 30U);
  EXPECT_NEAR(changes[0].size, 0.03, 0.001);
  EXPECT_LE(changes[0].interval.low, 0.03);
  EXPECT_GE(changes[0].interval.high, 0.03);
  EXPECT_NEAR(changes_of(points(-0.03)).at(0).size, -0.03, 0.001);
}

TEST(FileSlug, IsSafeAndDifferentForDifferentNames) {
  EXPECT_EQ(file_slug("pipeline"), "pipeline");
  EXPECT_NE(file_slug("Pipeline"), file_slug("pipeline"));
  EXPECT_THAT(file_slug("../../etc"), Not(HasSubstr(".")));
  EXPECT_THAT(file_slug("../../etc"), Not(HasSubstr("/")));
  EXPECT_NE(file_slug("a/b"), file_slug("a.b"));
  EXPECT_NE(file_slug(""), "");
}

/// RFC 4122's namespace for OIDs: python3 -c 'import uuid; print(uuid.uuid5(uuid.NAMESPACE_OID,
/// "a"))'
TEST(ContentId, IsTheNameBasedUuid) {
  EXPECT_EQ(content_id("a"), "d720e32d47655177b65b42dd7f6e6445");
  EXPECT_NE(content_id(""), content_id("a"));
}

}  // namespace
}  // namespace parbench::report
