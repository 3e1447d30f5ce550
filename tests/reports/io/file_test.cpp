// Report files: all or nothing when written, refused with reasons when bad.
#include "reports/io/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <nlohmann/json.hpp>
#include <ostream>
#include <stdexcept>
#include <string>

#include "kernels/base/error.h"
#include "tests/reports/sample.h"
#include "tests/support/temporary_folder.h"

namespace parbench::report {
namespace {

namespace fs = std::filesystem;
using parbench::test::TemporaryFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// The message of the UsageError that an action throws.
std::string complaint(const std::function<void()>& action) {
  try {
    action();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no complaint";
}

std::string reading(const fs::path& path, const ReadLimits& limits = {}) {
  return complaint([&] { (void)read_report(path, limits); });
}

std::string checking(const fs::path& path, const fs::path& default_directory = "reports/runs") {
  return complaint([&] { check_writable(path, default_directory); });
}

TEST(WriteReport, IsReadBackEqual) {
  const TemporaryFolder directory;
  const Report report = sample_report();
  write_report(directory.path() / "r.json", report);
  EXPECT_EQ(read_report(directory.path() / "r.json"), report);
}

TEST(WriteFile, ReplacesTheOldFileAndLeavesNothingElse) {
  const TemporaryFolder directory;
  write_file(directory.write("r.json", "old and much longer"), "new");
  EXPECT_EQ(directory.read("r.json"), "new");
  EXPECT_EQ(directory.entries(), 1);
}

TEST(WriteFile, TakesATextInPieces) {
  const TemporaryFolder directory;
  std::string whole;
  write_file(directory.path() / "r.json", [&](std::ostream& out) {
    for (int i = 0; i < 100'000; ++i) {
      out << i << '\n';
      whole += std::to_string(i) + '\n';
    }
  });
  EXPECT_EQ(directory.read("r.json"), whole);
}

TEST(WriteFile, FollowsASymbolicLink) {
  const TemporaryFolder directory;
  directory.write("runs/real.json", "old");
  fs::create_symlink("runs/real.json", directory.path() / "latest.json");
  write_file(directory.path() / "latest.json", "new");
  EXPECT_TRUE(fs::is_symlink(directory.path() / "latest.json"));
  EXPECT_EQ(directory.read("runs/real.json"), "new");
}

TEST(WriteFile, NamesPathAndReason) {
  const TemporaryFolder directory;
  try {
    write_file(directory.path() / "nowhere/r.json", "text");
    FAIL() << "written";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("nowhere/r.json"), HasSubstr("No such file")));
  }
}

/// Stands in for a full disk: writes beyond the limit fail.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST(WriteFile, KeepsTheOldFileWhenTheDiskIsFull) {
  const TemporaryFolder directory;
  const fs::path path = directory.write("r.json", "old");
  {
    const FileSizeLimit limit(4096);
    EXPECT_THROW(write_file(path, std::string(10'000, 'x')), Error);
    EXPECT_THROW(write_file(path, [](std::ostream& out) { out << std::string(100'000, 'x'); }),
                 Error);
  }
  EXPECT_EQ(directory.read("r.json"), "old");
  EXPECT_EQ(directory.entries(), 1);
}

TEST(CheckWritable, LeavesNoTrace) {
  const TemporaryFolder directory;
  EXPECT_EQ(checking(directory.path() / "r.json"), "no complaint");
  EXPECT_EQ(directory.entries(), 0);
  directory.write("old.json", "old");
  EXPECT_EQ(checking(directory.path() / "old.json"), "no complaint");
  EXPECT_EQ(directory.read("old.json"), "old");
}

TEST(CheckWritable, MakesTheDefaultDirectoryOnly) {
  const TemporaryFolder directory;
  const fs::path runs = directory.path() / "reports/runs";
  EXPECT_EQ(checking(runs / "r.json", runs), "no complaint");
  EXPECT_TRUE(fs::is_directory(runs));
  EXPECT_EQ(checking(runs / "today/r.json", runs), "no complaint");
  EXPECT_THAT(checking(directory.path() / "typo/r.json", runs),
              AllOf(HasSubstr("typo does not exist"), HasSubstr("mkdir -p")));
  EXPECT_FALSE(fs::exists(directory.path() / "typo"));
  EXPECT_THAT(checking(directory.path() / "reports/runs-2/r.json", runs),
              HasSubstr("does not exist"));
}

TEST(CheckWritable, RefusesWhatIsNoFile) {
  const TemporaryFolder directory;
  EXPECT_THAT(checking(""), HasSubstr("empty"));
  EXPECT_THAT(checking(directory.path()), HasSubstr("is a directory"));
  EXPECT_THAT(checking(directory.path() / ""), HasSubstr("is a directory"));
  EXPECT_THAT(checking("/dev/null"), HasSubstr("not a file"));
}

TEST(CheckWritable, NamesWhatIsInTheWay) {
  const TemporaryFolder directory;
  const fs::path file = directory.write("file", "");
  EXPECT_NE(checking(file / "r.json"), "no complaint");
  EXPECT_THAT(checking(directory.path() / (std::string(300, 'n') + ".json")),
              HasSubstr("File name too long"));
  EXPECT_THAT(checking("/proc/r.json"), HasSubstr("no file can be created in /proc"));
}

/// An ordinary user for a while, since nothing is forbidden to root.
class OrdinaryUser {
 public:
  OrdinaryUser() : was_root_(::geteuid() == 0) {
    if (was_root_ && ::seteuid(65534) != 0) throw std::runtime_error("seteuid");
  }
  OrdinaryUser(const OrdinaryUser&) = delete;
  OrdinaryUser& operator=(const OrdinaryUser&) = delete;
  ~OrdinaryUser() {
    if (was_root_ && ::seteuid(0) != 0) ADD_FAILURE() << "still an ordinary user";
  }

 private:
  bool was_root_;
};

TEST(CheckWritable, RespectsPermissions) {
  const TemporaryFolder directory;
  const fs::path closed = directory.write("closed/old.json", "old").parent_path();
  const fs::path open = directory.write("open/old.json", "old").parent_path();
  fs::permissions(directory.path(), fs::perms(0755));
  fs::permissions(closed, fs::perms(0555));
  fs::permissions(open, fs::perms(0777));
  fs::permissions(open / "old.json", fs::perms(0444));
  {
    const OrdinaryUser user;
    EXPECT_THAT(checking(closed / "new.json"),
                AllOf(HasSubstr("closed"), HasSubstr("Permission denied")));
    EXPECT_THAT(checking(open / "old.json"), HasSubstr("cannot be replaced: Permission denied"));
    EXPECT_EQ(checking(open / "new.json"), "no complaint");
    EXPECT_THAT(checking(closed / "runs/new.json", closed / "runs"),
                HasSubstr("cannot be created: Permission denied"));
  }
  fs::permissions(closed, fs::perms(0755));
}

TEST(ClaimFile, TakesTheFirstFreeName) {
  const TemporaryFolder directory;
  const fs::path path = directory.path() / "r.json";
  EXPECT_EQ(claim_file(path), path);
  EXPECT_EQ(claim_file(path), directory.path() / "r-2.json");
  EXPECT_EQ(claim_file(path), directory.path() / "r-3.json");
  EXPECT_TRUE(fs::is_regular_file(path));
  EXPECT_EQ(directory.entries(), 3);
  EXPECT_THROW((void)claim_file(directory.path() / "nowhere/r.json"), Error);
}

TEST(SameFile, IsFoundByWhateverPath) {
  const TemporaryFolder directory;
  const fs::path path = directory.write("runs/r.json", "");
  fs::create_symlink("runs/r.json", directory.path() / "latest.json");
  EXPECT_TRUE(is_same_file(path, directory.path() / "runs/../runs/./r.json"));
  EXPECT_TRUE(is_same_file(path, directory.path() / "latest.json"));
  EXPECT_TRUE(is_same_file(directory.path() / "new.json", directory.path() / "runs/../new.json"));
  EXPECT_TRUE(is_same_file("new.json", fs::current_path() / "new.json"));
  EXPECT_FALSE(is_same_file(path, directory.path() / "r.json"));
}

TEST(ReadReport, RefusesWhatIsNoFile) {
  const TemporaryFolder directory;
  EXPECT_THAT(reading(directory.path() / "none.json"),
              AllOf(HasSubstr("none.json"), HasSubstr("no such file")));
  EXPECT_THAT(reading(directory.path()), HasSubstr("not a regular file"));
  EXPECT_THAT(reading("/dev/zero"), HasSubstr("not a regular file"));
  EXPECT_THAT(reading(directory.write("empty.json", "")), HasSubstr("empty"));
}

TEST(ReadReport, SaysThatAFileIsTruncated) {
  const TemporaryFolder directory;
  const std::string whole = to_text(to_json(sample_report()));
  for (const std::size_t kept : {whole.size() / 2, whole.size() - 3, std::size_t{1}}) {
    EXPECT_THAT(reading(directory.write("cut.json", std::string_view(whole).substr(0, kept))),
                AllOf(HasSubstr("cut.json"), HasSubstr("truncated")));
  }
}

TEST(ReadReport, SaysWhatIsNotJson) {
  const TemporaryFolder directory;
  const std::string message = reading(directory.write("r.json", "{\n  \"a\": hello}"));
  EXPECT_THAT(message, AllOf(HasSubstr("r.json"), HasSubstr("not JSON"), HasSubstr("line 2")));
  EXPECT_THAT(reading(directory.write("r.json", "{} {}")), HasSubstr("not JSON"));
  EXPECT_THAT(reading(directory.write("r.json", "{\"a\": NaN}")), HasSubstr("not JSON"));
  EXPECT_THAT(reading(directory.write("r.json", "[1e999]")), HasSubstr("overflow"));
  EXPECT_LT(reading(directory.write("r.json", "[\"" + std::string(100'000, 'x') + "\n\"]")).size(),
            400U);
}

TEST(ReadReport, SaysWhatIsNotUtf8) {
  const TemporaryFolder directory;
  EXPECT_THAT(reading(directory.write("r.json", "{\"caf\xE9\": 1}")),
              AllOf(HasSubstr("r.json"), HasSubstr("not UTF-8")));
}

TEST(ReadReport, SaysWhatIsNoReport) {
  const TemporaryFolder directory;
  EXPECT_THAT(reading(directory.write("r.json", "{\"context\": {}}")),
              AllOf(HasSubstr("r.json"), HasSubstr("not written by parbench")));
  EXPECT_THAT(reading(directory.write("r.json", "{\"context\": {}, \"benchmarks\": []}")),
              AllOf(HasSubstr("r.json"), HasSubstr("benchmarks: is empty")));
  EXPECT_THAT(reading(directory.write("r.json", R"({"parbench": {"schema_version": 99}})")),
              AllOf(HasSubstr("r.json"), HasSubstr("version 99")));
  EXPECT_THAT(reading(directory.write("r.json", R"({"parbench": {"schema_version": 2}})")),
              AllOf(HasSubstr("r.json"), HasSubstr("\"version\" is missing")));
}

TEST(ReadReport, KeepsToItsLimits) {
  const TemporaryFolder directory;
  const fs::path deep = directory.write("deep.json", std::string(1'000'000, '['));
  EXPECT_THAT(reading(deep), HasSubstr("deeper than 64 levels"));

  const fs::path many = directory.write("many.json", "[0" + std::string(2000, '0') + "]");
  EXPECT_THAT(reading(many, {.bytes = 1000}), HasSubstr("at most 1000 are read"));

  std::string list = "[0";
  for (int i = 0; i < 5000; ++i) list += ",0";
  EXPECT_THAT(reading(directory.write("list.json", list + "]"), {.values = 1000}),
              HasSubstr("more than 1000 values"));
}

TEST(ReadReport, RefusesAHugeFileWithoutReadingIt) {
  const TemporaryFolder directory;
  const fs::path path = directory.write("huge.json", "{");
  fs::resize_file(path, 500'000'001);  // sparse
  EXPECT_THAT(reading(path), AllOf(HasSubstr("500000001 bytes"), HasSubstr("at most 250000000"),
                                   HasSubstr("PARBENCH_MAX_REPORT_MB")));
}

/// An environment variable that is gone again at the end.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    ::setenv(name, value.c_str(), 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

TEST(ReportLimits, AreRaisedByTheEnvironment) {
  const ReadLimits usual = report_limits();
  const Variable variable("PARBENCH_MAX_REPORT_MB", "1000");
  EXPECT_EQ(report_limits().bytes, 1'000'000'000U);
  EXPECT_EQ(report_limits().values, 4 * usual.values);
  EXPECT_EQ(report_limits().depth, usual.depth);
}

TEST(ReportLimits, RefuseWhatIsNoSize) {
  for (const char* value : {"", "0", "-1", "1.5", "10MB", " 10", "99999999999999999999"}) {
    const Variable variable("PARBENCH_MAX_REPORT_MB", value);
    EXPECT_THAT(complaint([] { (void)report_limits(); }),
                AllOf(HasSubstr(std::string("PARBENCH_MAX_REPORT_MB='") + value + "'"),
                      HasSubstr("allowed: 1 to")));
  }
}

/// Numbers, texts, keys, lists and objects.
std::size_t values_in(const Json& json) {
  std::size_t count = 1;
  if (!json.is_structured()) return count;
  for (const Json& child : json) count += values_in(child) + (json.is_object() ? 1 : 0);
  return count;
}

TEST(ReadReport, NeedsNoneOfTheRowsForGoogleBenchmarksReaders) {
  const TemporaryFolder directory;
  const Report report = sample_report();
  write_report(directory.path() / "r.json", report);
  Json file = read_json(directory.path() / "r.json");
  const std::size_t needed = 2 + values_in(file["parbench"]);  // the file, the key of that part
  EXPECT_EQ(read_report(directory.path() / "r.json", {.values = needed}), report);
  EXPECT_THAT(reading(directory.path() / "r.json", {.values = needed - 1}), HasSubstr("values"));
  file["benchmarks"][0]["name"] = 1;
  write_file(directory.path() / "r.json", to_text(file));
  EXPECT_EQ(read_report(directory.path() / "r.json"), report);
}

TEST(ReadJson, RefusesAKeyThatAnObjectHasTwice) {
  const TemporaryFolder directory;
  const auto complaint_about = [&](const std::string& text) {
    return complaint([&] { (void)read_json(directory.write("keys.json", text)); });
  };
  for (const char* text : {R"({"a": 1, "a": 1})", R"([{"a": {}, "b": [], "a": 2}])",
                           R"({"b": {"a": {"a": 1}, "a": 2}})"}) {
    EXPECT_THAT(complaint_about(text), AllOf(HasSubstr("keys.json"), HasSubstr("'a' twice")));
  }
  EXPECT_EQ(complaint_about(R"([{"a": {"a": 1}, "b": {"a": 2}}, {"a": 3}])"), "no complaint");
}

TEST(ReadJson, TakesAnyJson) {
  const TemporaryFolder directory;
  const Json config = read_json(directory.write("config.json", R"({"split": [1, 3]})"));
  EXPECT_EQ(config["split"][1], 3);
}

}  // namespace
}  // namespace parbench::report
