// Runs of the real binary in a folder of their own.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace parbench::test {

class Usage : public ::testing::Test {
 protected:
  [[nodiscard]] Finished parbench(std::vector<std::string> words) const {
    words.insert(words.begin(), PARBENCH_BINARY);
    return run(words, surroundings_);
  }

  /// Standard error of a run that must end with 2, before it measured or wrote anything.
  [[nodiscard]] std::string refusal(const std::vector<std::string>& words) const {
    const Finished finished = parbench(words);
    EXPECT_EQ(finished.exit_code, 2) << finished.err;
    EXPECT_THAT(finished.out, ::testing::IsEmpty());
    EXPECT_THAT(finished.err, ::testing::StartsWith("parbench: error: "));
    EXPECT_THAT(finished.err, ::testing::Not(::testing::HasSubstr("terminate")));
    EXPECT_THAT(finished.err, ::testing::Not(::testing::HasSubstr("what()")));
    return finished.err;
  }

  [[nodiscard]] std::string selftest_refusal(std::vector<std::string> words) const {
    words.insert(words.begin(), {"--scenario", "selftest"});
    return refusal(words);
  }

  /// The path that a run has printed.
  static std::string report_of(const Finished& finished) {
    const std::size_t line = finished.out.rfind("report: ");
    if (line == std::string::npos) throw std::runtime_error("no report: " + finished.out);
    const std::size_t begin = line + 8;
    return finished.out.substr(begin, finished.out.find('\n', begin) - begin);
  }

  [[nodiscard]] std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }

  TemporaryFolder folder_;
  Surroundings surroundings_{folder_.path(), {{"PARBENCH_HOME", folder_.path().string()}}};
};

}  // namespace parbench::test
