// scripts/peers as its users run it: the JSON it leaves, its exit codes, and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "reports/io/file.h"
#include "tests/support/process.h"

namespace parbench::testing {
namespace {

using report::Json;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Le;
using ::testing::Not;

class Peers : public ::testing::Test {
 protected:
  [[nodiscard]] Finished peers(const std::vector<std::string>& flags) const {
    const std::string program = SOURCE_FOLDER "/scripts/peers.d/compare.py";
    std::vector<std::string> words{PARBENCH_PYTHON, "-B", program, "--binaries", BINARY_FOLDER};
    words.insert(words.end(), flags.begin(), flags.end());
    return run(words, {folder_.path(), {{"PARBENCH_HOME", folder_.path().string()}}});
  }

  /// What a run with bad flags says; it must end with 2 before it measures anything.
  [[nodiscard]] std::string refusal(const std::vector<std::string>& flags) const {
    const Finished finished = peers(flags);
    EXPECT_EQ(finished.exit_code, 2) << finished.err;
    EXPECT_THAT(finished.out, IsEmpty());
    EXPECT_THAT(finished.err, Not(HasSubstr("Traceback")));
    return finished.err;
  }

  [[nodiscard]] std::string output() const { return (folder_ / "peers.json").string(); }

  TemporaryFolder folder_;
};

void expect_consistent(const Json& row) {
  SCOPED_TRACE(row.dump());
  const double value = row.at("value").get<double>();
  EXPECT_TRUE(std::isfinite(value));
  EXPECT_GT(value, 0);
  if (!row.at("interval").is_null()) {
    EXPECT_LE(row.at("interval").at("low").get<double>(), value);
    EXPECT_GE(row.at("interval").at("high").get<double>(), value);
  }
  const Json& target = row.at("target");
  ASSERT_NE(target.at("at_least").is_null(), target.at("at_most").is_null());
  const bool reached = target.at("at_most").is_null() ? value >= target.at("at_least").get<double>()
                                                      : value <= target.at("at_most").get<double>();
  EXPECT_EQ(row.at("reached").get<bool>(), reached);
}

TEST_F(Peers, FindsThePublishedSettingWithEitherCut) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "a pipeline needs two cores";
  const Finished finished = peers({"--quick", "--only", "seed", "-o", output()});
  ASSERT_THAT(finished.exit_code, 0) << finished.err;
  const Json content = report::read_json(output());
  EXPECT_THAT(content.at("failures"), IsEmpty()) << content.at("failures").dump();
  ASSERT_EQ(content.at("rows").size(), 2);
  EXPECT_THAT(content.at("rows")[0].at("details").at("case").get<std::string>(),
              Not(HasSubstr("cut:")));
  EXPECT_THAT(content.at("rows")[1].at("details").at("case").get<std::string>(),
              HasSubstr("cut:balanced"));
}

TEST_F(Peers, WritesARowForEveryFigure) {
  const Finished finished = peers(
      {"--quick", "--strict", "--only", "convolution,executor,recording,overlap", "-o", output()});
  ASSERT_THAT(finished.exit_code, AnyOf(0, 1)) << finished.err;
  const Json content = report::read_json(output());

  EXPECT_EQ(content.at("schema_version"), 1);
  EXPECT_EQ(content.at("quick"), true);
  EXPECT_THAT(content.at("failures"), IsEmpty()) << content.at("failures").dump();
  EXPECT_GE(content.at("machine").at("cores_online").get<int>(), 1);
  EXPECT_THAT(content.at("busy_before").at("executor").get<double>(), AllOf(Ge(0), Le(1)));

  std::vector<std::string> names;
  bool missed = false;
  for (const Json& row : content.at("rows")) {
    expect_consistent(row);
    names.push_back(row.at("name").get<std::string>());
    missed = missed || !row.at("reached").get<bool>();
    EXPECT_THAT(finished.out, HasSubstr(row.at("what").get<std::string>()));
  }
  EXPECT_THAT(names, IsSupersetOf({"convolution/branch/cores:1", "convolution/resnet50/cores:1",
                                   "executor/cores:1", "recording/cores:1", "overlap/d2h/pinned"}));
  EXPECT_EQ(finished.exit_code, missed ? 1 : 0);
}

TEST_F(Peers, KeepsTheSecondsOfEveryPair) {
  const Finished finished = peers({"--quick", "--only", "executor", "-o", output()});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;  // whatever the figures are
  const Json content = report::read_json(output());
  for (const Json& row : content.at("rows")) {
    const Json& details = row.at("details");
    EXPECT_EQ(details.at("ours_seconds").size(), 7U);
    EXPECT_EQ(details.at("peer_seconds").size(), 7U);
    EXPECT_EQ(row.at("value"), details.at("ratio").at("value"));
  }
}

TEST_F(Peers, RefusesWhatDoesNotExist) {
  EXPECT_THAT(refusal({"--only", "executor,speed"}),
              AllOf(HasSubstr("--only"), HasSubstr("'speed'"), HasSubstr("convolution, executor")));
  EXPECT_THAT(refusal({"--quick", "--only", "executor", "-o", "/no/such/folder/x.json"}),
              AllOf(HasSubstr("-o"), HasSubstr("/no/such/folder/x.json")));
  EXPECT_THAT(refusal({"--only", "train", "--python", "/no/such/python", "-o", output()}),
              HasSubstr("PyTorch cannot be used with"));
}

TEST_F(Peers, SaysWhatCouldNotBeMeasured) {
  namespace fs = std::filesystem;
  fs::create_symlink(PEERS_BINARY, folder_ / "parbench-peers");  // parbench itself is not there
  const Finished finished = peers({"--quick", "--only", "overlap,executor", "-o", output(),
                                   "--binaries", folder_.path().string()});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.out, HasSubstr("overlap could not be measured"));
  const Json content = report::read_json(output());
  EXPECT_TRUE(content.at("failures").contains("overlap"));
  EXPECT_FALSE(content.at("rows").empty());
}

TEST_F(Peers, APeerThatTalksNonsenseFailsItsMeasurementOnly) {
  namespace fs = std::filesystem;
  const fs::path program = folder_ / "parbench-peers";
  std::ofstream(program) << "#!/bin/sh\n"
                            "if [ \"$1\" = convolution ]; then echo nonsense; exit 0; fi\n"
                            "exec '" PEERS_BINARY "' \"$@\"\n";
  fs::permissions(program, fs::perms::owner_all);
  const Finished finished = peers({"--quick", "--only", "convolution,executor", "-o", output(),
                                   "--binaries", folder_.path().string()});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.out, HasSubstr("did not answer in JSON"));
  const Json content = report::read_json(output());
  EXPECT_TRUE(content.at("failures").contains("convolution"));
  EXPECT_FALSE(content.at("rows").empty());
}

TEST_F(Peers, ServesTrainingStepsOfTheWholeModel) {
  const std::string command = "printf '\\n\\n' | \"$0\" train --batch 2 --image 32";
  const Finished finished = run({"sh", "-c", command, PEERS_BINARY});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  std::istringstream lines(finished.out);
  std::string ready;
  std::getline(lines, ready);
  EXPECT_EQ(Json::parse(ready).at("parameters"), 25'557'032);
  EXPECT_GE(Json::parse(ready).at("threads"), 1);
  double first = 0;
  double second = 0;
  lines >> first >> second;
  EXPECT_GT(first, 0);
  EXPECT_GT(second, 0);
}

TEST_F(Peers, TakesTheMedianOfPairedRatios) {
  const std::string command =
      "echo '{\"peer\":[7,6,5,4,3,2,1],\"ours\":[1,1,1,1,1,1,1]}' | \"$0\" ratio";
  const Finished finished = run({"sh", "-c", command, PEERS_BINARY});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const Json ratio = Json::parse(finished.out);
  EXPECT_EQ(ratio.at("value"), 4);
  EXPECT_EQ(ratio.at("interval").at("low"), 1);
  EXPECT_EQ(ratio.at("interval").at("high"), 7);
}

TEST_F(Peers, NeedsPyTorchOnlyToMeasureIt) {
  namespace fs = std::filesystem;
  fs::copy(SOURCE_FOLDER "/scripts", folder_ / "scripts", fs::copy_options::recursive);
  std::ofstream(folder_ / "scripts/packages.txt") << "libc6\n";
  std::ofstream(folder_ / "scripts/packages-peers.txt") << "libc6\n";
  std::ofstream(folder_ / "scripts/packages-torch.txt") << "no-such-torch\n";
  const auto script = [&](std::vector<std::string> words) {
    words.insert(words.begin(), (folder_ / "scripts/peers").string());
    return run(words, {"/", {{"PARBENCH_NO_INSTALL", "1"}}});
  };
  const Finished all = script({});
  EXPECT_EQ(all.exit_code, 2);
  EXPECT_THAT(all.err, AllOf(HasSubstr("no-such-torch"), HasSubstr("apt-get install")));
  EXPECT_THAT(script({"--only", "train"}).err, HasSubstr("no-such-torch"));
  const Finished some = script({"--only", "executor"});  // there is no CMakePresets.json
  EXPECT_THAT(some.err, AllOf(Not(HasSubstr("no-such-torch")), HasSubstr("could not configure")));
}

}  // namespace
}  // namespace parbench::testing
