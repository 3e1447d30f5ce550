// The validator is a program of its own, which takes a tenth of a second.
#include "tests/support/written_reports.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string_view>

#include "tests/support/process.h"

namespace parbench::test {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> possible_reports(const std::vector<std::string>& words,
                                       const fs::path& directory) {
  std::vector<fs::path> paths;
  constexpr std::string_view flag = "--report";
  constexpr std::string_view joined_flag = "--report=";
  for (auto word = words.begin(); word != words.end(); ++word) {
    if (word->starts_with(joined_flag))
      paths.push_back(directory / word->substr(joined_flag.size()));
    if (*word == flag && std::next(word) != words.end()) {
      paths.push_back(directory / *std::next(word));
    }
  }
  const fs::path usual = directory / "reports/runs";
  if (fs::is_directory(usual)) {
    // Another run beside this one may hold a temporary file there, which vanishes at any time.
    std::ranges::copy_if(fs::directory_iterator(usual), std::back_inserter(paths),
                         [](const fs::path& path) { return path.extension() == ".json"; });
  }
  return paths;
}

}  // namespace

void expect_valid(const std::vector<fs::path>& reports) {
  if (reports.empty()) return;
  std::vector<std::string> words{PARBENCH_PYTHON, "-B", VALIDATOR, REPORT_SCHEMA};
  for (const fs::path& path : reports) words.push_back(path.string());
  const Finished done = run(words);
  std::istringstream lines(done.out);
  for (const fs::path& path : reports) {
    std::string line;
    std::getline(lines, line);
    EXPECT_EQ(line, "valid") << path << done.err;
  }
}

void expect_valid_reports(const std::vector<std::string>& words, const fs::path& directory,
                          fs::file_time_type begin) {
  std::vector<fs::path> written = possible_reports(words, directory);
  std::erase_if(written, [&](const fs::path& path) {
    return !fs::is_regular_file(path) || fs::last_write_time(path) < begin;
  });
  expect_valid(written);
}

}  // namespace parbench::test
