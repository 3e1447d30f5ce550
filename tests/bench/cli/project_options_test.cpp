// Labels and the commit of a user's project, on the command line and in config files.
#include "bench/cli/project_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/bench/cli/parsing.h"

namespace parbench {
namespace {

using test::error_of;
using test::file_with;
using test::parse;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(ProjectOptions, AreLabelsAndACommit) {
  const RunOptions options =
      parse({"--scenario", "pipe", "--label", "branch=main", "--label=flags=-O3 -g=1", "--commit",
             "v1.2-3-g0123abc", "--commit-subject", "Say more", "--commit-author", "A. Author"});
  EXPECT_THAT(labels_of(options.project),
              ElementsAre(Pair("branch", "main"), Pair("flags", "-O3 -g=1")));
  EXPECT_EQ(options.project.commit, "v1.2-3-g0123abc");
  EXPECT_EQ(options.project.commit_subject, "Say more");
  EXPECT_EQ(options.project.commit_author, "A. Author");
}

TEST(ProjectOptions, StandInConfigFilesAsWell) {
  const std::string several =
      file_with(R"({"scenario": "pipe", "label": ["a=1", "b=2"], "commit": "0123abc"})");
  const RunOptions options = parse({"--config", several});
  EXPECT_THAT(labels_of(options.project), ElementsAre(Pair("a", "1"), Pair("b", "2")));
  EXPECT_EQ(options.project.commit, "0123abc");
  const std::string one = file_with(R"({"scenario": "pipe", "label": "a=1"})");
  EXPECT_THAT(labels_of(parse({"--config", one}).project), ElementsAre(Pair("a", "1")));
}

TEST(ProjectOptions, RefuseWhatIsNone) {
  const auto error = [](const std::string& flag, const std::string& value) {
    return error_of({"--scenario", "pipe", flag, value});
  };
  for (const std::string wrong : {"main", "=main", "branch="}) {
    EXPECT_THAT(error("--label", wrong),
                HasSubstr("--label '" + wrong +
                          "' is not a valid KEY=VALUE; give one such as branch=main"));
  }
  EXPECT_THAT(error_of({"--scenario", "pipe", "--label", "a=1", "--label", "a=2"}),
              AllOf(HasSubstr("--label 'a=2'"), HasSubstr("'a' is given twice")));
  EXPECT_THAT(error("--commit", "0123 abc"),
              HasSubstr("--commit '0123 abc' is not a valid commit"));
  EXPECT_THAT(error("--commit", std::string(200, 'a')), HasSubstr("is not a valid commit"));
  EXPECT_THAT(error("--commit-subject", "Say more"), HasSubstr("give --commit as well"));
  EXPECT_THAT(error("--commit-author", "A. Author"), HasSubstr("give --commit as well"));
}

}  // namespace
}  // namespace parbench
