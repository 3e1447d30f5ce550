// Expansion of axes into cases, and the selection of strategies and axes.
#include "bench/run/case_expansion.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "bench/cli/parser.h"
#include "bench/commands/commands.h"
#include "bench/commands/run.h"
#include "bench/run/jobs.h"
#include "bench/sampling/described.h"
#include "reports/model/report.h"
#include "scenarios/models/models.h"
#include "tests/bench/cli/described_scenarios.h"
#include "tests/bench/run/known_case.h"

namespace parbench {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CaseExpansionTest : public ::testing::Test {
 protected:
  RunOptions parse(std::vector<std::string> words) {
    words.insert(words.begin(), "parbench");
    const Program program{scenarios_, words};
    return dynamic_cast<RunCommand&>(*parse_command_line(program, all_commands(program))).options();
  }

  std::vector<std::string> cases(const std::vector<std::string>& words, int devices = 1) {
    const RunOptions options = parse(words);
    std::vector<std::string> names;
    for (const Scenario* scenario : options.scenarios) {
      for (const CaseSpec& spec : expand(options, *scenario, {.device_count = devices}).cases)
        names.push_back(spec.name());
    }
    return names;
  }

  std::string error_of(const std::vector<std::string>& words) {
    try {
      (void)cases(words);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "no error";
  }

  ScenarioList scenarios_ = test::described_scenarios();
};

TEST_F(CaseExpansionTest, TakesThePresetWhereNothingIsGiven) {
  EXPECT_THAT(cases({"--scenario", "pipe"}),
              ElementsAre("pipe/single/batch:12", "pipe/pipeline/batch:12/split:1",
                          "pipe/pipeline/batch:12/split:6"));
}

TEST_F(CaseExpansionTest, CombinesAllValuesWithTheLastAxisFastest) {
  EXPECT_THAT(
      cases({"--scenario", "pipe", "--strategy", "pipeline", "--batch", "8,4", "--split", "2,2+2"}),
      ElementsAre("pipe/pipeline/batch:8/split:2", "pipe/pipeline/batch:8/split:2+2",
                  "pipe/pipeline/batch:4/split:2", "pipe/pipeline/batch:4/split:2+2"));
}

TEST_F(CaseExpansionTest, KeepsTheOrderOfScenariosAndPassesTheNumberOfDevices) {
  EXPECT_THAT(
      cases({"--scenario", "mat,pipe", "--strategy", "single,alone"}, 2),
      ElementsAre("mat/alone/n:64/batch:2/pause:1us/devices:2", "pipe/single/batch:12/devices:2"));
}

TEST_F(CaseExpansionTest, ValuesOfAnAxisMayFollowFromTheDevices) {
  scenarios_ = built_in_scenarios();
  const std::vector<std::string> words{"--scenario", "hybrid",  "--strategy",
                                       "divided",    "--model", "gpt-tiny"};
  EXPECT_THAT(cases(words, 2), ElementsAre(HasSubstr("layout:dp2"), HasSubstr("layout:pp2"),
                                           HasSubstr("layout:tp2")));
  EXPECT_EQ(cases(words, 4).size(), 6);
  std::vector<std::string> chosen = words;
  chosen.insert(chosen.end(), {"--layout", "pp2xtp2,dp4xpp1"});
  EXPECT_THAT(cases(chosen, 4), ElementsAre(HasSubstr("layout:pp2xtp2"), HasSubstr("layout:dp4")));
}

TEST_F(CaseExpansionTest, DropsPresetValuesThatDoNotFitAGivenOne) {
  EXPECT_THAT(cases({"--scenario", "pipe", "--strategy", "pipeline", "--batch", "4"}),
              ElementsAre("pipe/pipeline/batch:4/split:1"));
}

TEST_F(CaseExpansionTest, RefusesAGivenValueThatFitsNothing) {
  EXPECT_THAT(error_of({"--scenario", "pipe", "--split", "3,20"}),
              AllOf(HasSubstr("--split 20"), HasSubstr("batch of 12")));
}

TEST_F(CaseExpansionTest, RefusesAFlagThatChangesNoCase) {
  scenarios_ = built_in_scenarios();
  const auto words = [](std::vector<std::string> further) {
    std::vector<std::string> all{"--scenario", "data-parallel", "--model", "linear"};
    all.insert(all.end(), further.begin(), further.end());
    return all;
  };
  const auto error = [&](const std::vector<std::string>& further) {
    try {
      return fmt::format("{} cases", cases(words(further), 2).size());
    } catch (const UsageError& refused) {
      return std::string(refused.what());
    }
  };
  EXPECT_THAT(error({"--strategy", "sharded", "--zero", "1,2", "--prefetch", "2"}),
              AllOf(HasSubstr("--prefetch applies to none of the 2 cases"),
                    HasSubstr("(with --zero 3: "), HasSubstr("leave it out")));
  EXPECT_EQ(error({"--strategy", "sharded", "--zero", "1,2,3", "--prefetch", "2"}), "3 cases");
}

TEST_F(CaseExpansionTest, ReadsValuesStrictly) {
  const auto with = [&](const std::string& text) {
    return error_of({"--scenario", "pipe", "--split", text});
  };
  for (const char* text : {"0", "-1", "2.5", "1e3", " 1", "1 ", "0x1", "99999999999999999999",
                           "5000", "2+", "2++2", "2+0", "a"}) {
    EXPECT_THAT(with(text), AllOf(HasSubstr(std::string("--split '") + text + "'"),
                                  HasSubstr("from 1 to 4096")));
  }
}

TEST_F(CaseExpansionTest, SaysWhereAnAxisOrStrategyBelongs) {
  EXPECT_THAT(error_of({"--scenario", "mat", "--split", "3"}),
              AllOf(HasSubstr("--split"), HasSubstr("scenario pipe")));
  EXPECT_THAT(error_of({"--scenario", "pipe", "--strategy", "single", "--split", "3"}),
              AllOf(HasSubstr("--split"), HasSubstr("none of the chosen strategies"),
                    HasSubstr("pipeline")));
  EXPECT_THAT(
      error_of({"--scenario", "mat", "--strategy", "single"}),
      AllOf(HasSubstr("unknown strategy 'single' for scenario mat"), HasSubstr("scenario pipe")));
  EXPECT_THAT(error_of({"--scenario", "pipe", "--strategy", "pipelin"}),
              HasSubstr("did you mean 'pipeline'"));
}

TEST_F(CaseExpansionTest, SkipsScenariosWithoutTheStrategy) {
  EXPECT_THAT(cases({"--scenario", "all", "--strategy", "single"}),
              ElementsAre("pipe/single/batch:12"));
}

TEST_F(CaseExpansionTest, KeepsHiddenAxesOutOfTheName) {
  const RunOptions options =
      parse({"--scenario", "pipe", "--strategy", "single", "--slowdown", "12.5"});
  const auto specs = expand(options, *scenarios_.front(), {.device_count = 1}).cases;
  ASSERT_EQ(specs.size(), 1U);
  EXPECT_EQ(specs[0].name(), "pipe/single/batch:12");
  EXPECT_EQ(specs[0].hidden.real("slowdown"), 12.5);
  EXPECT_THAT(error_of({"--scenario", "pipe", "--slowdown", "1,2"}), HasSubstr("one value"));
}

TEST_F(CaseExpansionTest, FindsCasesOfAReportAgain) {
  const RunOptions first = parse({"--scenario", "all", "--strategy", "alone,pipeline", "--n", "100",
                                  "--batch", "6", "--pause", "2.5us", "--split", "2+4"});
  RunOptions options = parse({"--scenario", "all", "--slowdown", "3"});
  for (const auto& scenario : scenarios_) {
    for (const CaseSpec& spec : expand(first, *scenario, {.device_count = 1}).cases) {
      options.cases.push_back(known_case(spec));
    }
  }
  ASSERT_EQ(options.cases.size(), 2U);
  const auto pipe = expand(options, *scenarios_[0], {.device_count = 1}).cases;
  ASSERT_EQ(pipe.size(), 1U);
  EXPECT_EQ(pipe[0].name(), "pipe/pipeline/batch:6/split:2+4");
  EXPECT_EQ(pipe[0].hidden.real("slowdown"), 3.0);
  const auto mat = expand(options, *scenarios_[1], {.device_count = 1}).cases;
  ASSERT_EQ(mat.size(), 1U);
  EXPECT_EQ(mat[0].name(), "mat/alone/n:100/batch:6/pause:2.5us");
  EXPECT_EQ(mat[0].parameters.text("pause"), "2.5us");
}

/// An axis that a version does not know, or values that it gives another type, are another case.
TEST_F(CaseExpansionTest, TakesNoCaseForOneThatDiffersInAParameter) {
  RunOptions options = parse({"--scenario", "pipe"});
  const auto of = [&](const std::string& name, const Value& value) {
    CaseSpec spec =
        expand(parse({"--scenario", "pipe"}), *scenarios_[0], {.device_count = 1}).cases.front();
    RerunCase known = known_case(spec);
    known.spec.parameters.set(name, value);
    options.cases = {known};
    return expand(options, *scenarios_[0], {.device_count = 1}).cases;
  };
  EXPECT_EQ(of("batch", std::int64_t{12}).size(), 1U);
  EXPECT_THROW((void)of("batch", std::int64_t{13}), UsageError) << "not what the name says";
  EXPECT_THROW((void)of("layout", std::string("nhwc")), UsageError);
}

/// A scenario of parbench, with what a run of it leaves out and its cases.
class LeftOutOf {
 public:
  explicit LeftOutOf(std::string_view name)
      : scenario_(**std::ranges::find(scenarios_, name, &Scenario::name)) {}

  [[nodiscard]] std::vector<std::string> names(const RunOptions& options, int devices = 2) const {
    std::vector<std::string> names;
    for (const LeftOut& one : all(options, devices)) names.push_back(one.what);
    return names;
  }
  [[nodiscard]] std::vector<LeftOut> all(const RunOptions& options, int devices = 2) const {
    return all(options, Scenario::Request{.device_count = devices});
  }
  [[nodiscard]] std::vector<LeftOut> all(const RunOptions& options,
                                         const Scenario::Request& devices) const {
    return expand(options, scenario_, devices).left_out;
  }
  [[nodiscard]] std::vector<std::string> cases(const RunOptions& options) const {
    std::vector<std::string> names;
    for (const CaseSpec& spec : expand(options, scenario_, {.device_count = 2}).cases) {
      names.push_back(spec.name());
    }
    return names;
  }
  [[nodiscard]] std::string lines(const RunOptions& options, int devices) const {
    return left_out_text({&scenario_, {}, {}, {}, all(options, devices)}, 80);
  }

 private:
  ScenarioList scenarios_ = built_in_scenarios();
  const Scenario& scenario_;
};

TEST(LeftOut, NamesStrategiesThatTheFlagsRuleOut) {
  const LeftOutOf branch("branch");
  RunOptions options;
  EXPECT_THAT(branch.names(options), IsEmpty());
  options.graph = true;
  EXPECT_THAT(branch.names(options),
              ElementsAre("threads", "graph-chain", "graph-one-stream", "graph-streams"));
  EXPECT_EQ(branch.lines(options, 1),
            "branch: strategies threads, graph-chain, graph-one-stream, graph-streams left\nout: "
            "the strategy defines how work is launched; leave out --graph\n");
  options.strategies = {"chain"};
  EXPECT_THAT(branch.names(options), IsEmpty()) << "others were not chosen";
}

TEST(LeftOut, SaysWhyABatchMakesNoPipeline) {
  const LeftOutOf pipeline("pipeline");
  const std::string reason =
      "--batch 1: one sample cannot be divided into micro-batches; use --batch 2 or more";
  RunOptions options;
  options.axes = {{"model", {"toy"}}, {"batch", {std::int64_t{1}}}};
  EXPECT_THAT(pipeline.all(options), ElementsAre(LeftOut{"pipeline", reason}));
  options.axes["batch"] = {std::int64_t{1}, std::int64_t{12}};
  EXPECT_THAT(pipeline.all(options), ElementsAre(LeftOut{"pipeline with batch 1", reason}));
  options.axes["batch"] = {std::int64_t{2}};
  EXPECT_THAT(pipeline.all(options), IsEmpty());
  RunOptions small = options;
  small.axes["model"] = {"resnet18"};
  small.axes["image"] = {std::int64_t{32}};
  ASSERT_THAT(pipeline.names(small), ElementsAre("pipeline"));
  EXPECT_THAT(pipeline.all(small).front().reason,
              HasSubstr("a micro-batch of 1 sample gives batch normalisations of resnet18"));
  EXPECT_THAT(pipeline.cases(options), Contains("pipeline/pipeline/model:toy/batch:2/split:1/"
                                                "devices:2"));
}

TEST(LeftOut, NamesLayoutsThatAModelHasTooFewUnitsFor) {
  const LeftOutOf hybrid("hybrid");
  RunOptions options;
  options.axes = {{"model", {"toy"}}};
  EXPECT_THAT(hybrid.all(options, 4),
              Contains(LeftOut{"divided with layout pp4",
                               "--layout: toy has 2 units, too few for the stages of pp4"}));
  EXPECT_THAT(hybrid.lines(options, 4), HasSubstr("hybrid: strategy divided with layout pp4 left"));
  options.axes["model"] = {"gpt-tiny"};
  EXPECT_THAT(hybrid.all(options, 4), IsEmpty());
  options.axes["model"] = {"toy", "gpt-tiny"};
  EXPECT_THAT(hybrid.names(options, 4), Contains("divided with model toy and layout pp4"));
}

TEST(LeftOut, LeavesNoValueThatAnotherAxisIsSetBy) {
  const LeftOutOf pipeline("pipeline");
  RunOptions options;
  options.axes = {{"model", {"toy"}}, {"micro-batches", {std::int64_t{2}, std::int64_t{4}}}};
  EXPECT_THAT(pipeline.cases(options),
              ElementsAre("pipeline/single/model:toy/batch:20",
                          "pipeline/model-parallel/model:toy/batch:20/devices:2",
                          "pipeline/pipeline/model:toy/batch:20/split:10/devices:2",
                          "pipeline/pipeline/model:toy/batch:20/split:5/devices:2"));
  EXPECT_THAT(pipeline.names(options), IsEmpty());
}

TEST(LeftOut, IsACombinationOfValuesThatTakePartApart) {
  const LeftOutOf matmul("matmul");
  RunOptions options;
  options.strategies = {"streams"};
  options.axes = {{"n", {std::int64_t{8}}},
                  {"count", {std::int64_t{2}, std::int64_t{4}}},
                  {"streams", {std::int64_t{2}, std::int64_t{4}}}};
  EXPECT_THAT(matmul.cases(options), ElementsAre("matmul/streams/n:8/count:2/streams:2",
                                                 "matmul/streams/n:8/count:4/streams:2",
                                                 "matmul/streams/n:8/count:4/streams:4"));
  EXPECT_THAT(matmul.names(options), ElementsAre("streams with count 2 and streams 4"));
  options.axes["n"] = {std::int64_t{8}, std::int64_t{16}};
  EXPECT_THAT(matmul.names(options), ElementsAre("streams with count 2 and streams 4"))
      << "whatever n is";
  options.axes["streams"] = {std::int64_t{2}, std::int64_t{8}};
  EXPECT_THROW((void)matmul.cases(options), UsageError) << "8 streams fit nothing";
}

TEST(LeftOut, HasAReasonForWhatNoOneCouldAskFor) {
  const LeftOutOf collectives("collectives");
  RunOptions options;
  options.strategies = {"ring"};
  options.axes = {{"collective", {std::string("all-reduce"), std::string("send-recv")}}};
  EXPECT_THAT(collectives.all(options),
              ElementsAre(LeftOut{"ring with collective send-recv",
                                  "--strategy ring: it does not do send-recv; use direct"}));
}

TEST(LeftOut, SaysWhichFlagAddsWhatThePresetLacks) {
  const LeftOutOf collectives("collectives");
  RunOptions options;
  options.axes = {{"collective", {std::string("all-reduce")}}};
  const LeftOut nccl{"nccl", "not part of the preset; --strategy nccl measures it"};
  EXPECT_THAT(collectives.all(options), Contains(nccl));
  options.strategies = {"nccl"};
  EXPECT_THAT(collectives.all(options), IsEmpty());
}

TEST(LeftOut, HasOneReasonWhereAllScenariosNeedMoreDevices) {
  RunOptions options;
  for (const char* name :
       {"matmul", "pipeline", "data-parallel", "tensor-parallel", "graph", "collectives"}) {
    const LeftOutOf scenario(name);
    const std::vector<LeftOut> found = scenario.all(options, 1);
    ASSERT_FALSE(found.empty()) << name;
    for (const LeftOut& one : found) {
      EXPECT_EQ(one.reason, "--strategy " + one.what +
                                " needs at least two devices, and this run has 1; give --devices 2 "
                                "or more");
    }
  }
}

TEST(LeftOut, AdvisesNoDevicesThatTheMachineHasNot) {
  const LeftOutOf graph("graph");
  EXPECT_THAT(graph.all({}, Scenario::Request{.device_count = 1, .more_devices = "buy a core"})
                  .front()
                  .reason,
              testing::EndsWith("and this run has 1; buy a core"));
}

TEST(LeftOut, SharesALineWhereTheReasonIsTheSame) {
  EXPECT_EQ(LeftOutOf("matmul").lines({}, 1),
            "matmul: strategies concurrent, column-sharded, row-sharded left out: they need\n"
            "at least two devices, and this run has 1; give --devices 2 or more\n");
}

TEST(Names, ShowEveryAxisThatIsSwept) {
  const LeftOutOf pipeline("pipeline");
  RunOptions options;
  options.strategies = {"single"};
  options.axes = {{"model", {"resnet50", "toy"}}, {"optimizer", {"sgd", "adam"}}};
  EXPECT_THAT(pipeline.cases(options),
              ElementsAre("pipeline/single/model:resnet50/batch:24/image:128/optimizer:sgd",
                          "pipeline/single/model:resnet50/batch:24/image:128/optimizer:adam",
                          "pipeline/single/model:toy/batch:20/optimizer:sgd",
                          "pipeline/single/model:toy/batch:20/optimizer:adam"));
  options.axes = {{"model", {"resnet50"}}};
  EXPECT_THAT(pipeline.cases(options), ElementsAre("pipeline/single/batch:24/image:128"));
}

TEST_F(CaseExpansionTest, RefusesCasesThatAreNoMore) {
  RunOptions options = parse({"--scenario", "pipe"});
  const auto refuses = [&](const std::string& name, const std::string& strategy,
                           const Parameters& parameters) {
    options.cases = {{name, {"pipe", strategy, parameters, {}}}};
    EXPECT_THROW((void)expand(options, *scenarios_[0], {.device_count = 1}).cases, UsageError)
        << name;
  };
  Parameters batch;
  batch.set("batch", std::int64_t{12});
  refuses("pipe/gone/batch:12", "gone", batch);
  refuses("pipe/single", "single", {});
  batch.set("devices", std::int64_t{2});
  refuses("pipe/single/batch:12/devices:2", "single", batch);
  options.cases = {{"mat/alone/n:1", {"mat", "alone", {}, {}}}};
  EXPECT_THAT(expand(options, *scenarios_[0], {.device_count = 1}).cases, IsEmpty());
}

}  // namespace
}  // namespace parbench
