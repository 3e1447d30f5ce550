// Expansion of axes into cases, and the selection of strategies and axes.
#include "bench/run/sweep.h"

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

namespace parbench {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class SweepTest : public ::testing::Test {
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
      for (const CaseSpec& spec : expand(options, *scenario, {.count = devices}))
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

TEST_F(SweepTest, TakesThePresetWhereNothingIsGiven) {
  EXPECT_THAT(cases({"--scenario", "pipe"}),
              ElementsAre("pipe/single/batch:12", "pipe/pipeline/batch:12/split:1",
                          "pipe/pipeline/batch:12/split:6"));
}

TEST_F(SweepTest, CombinesAllValuesWithTheLastAxisFastest) {
  EXPECT_THAT(
      cases({"--scenario", "pipe", "--strategy", "pipeline", "--batch", "8,4", "--split", "2,2+2"}),
      ElementsAre("pipe/pipeline/batch:8/split:2", "pipe/pipeline/batch:8/split:2+2",
                  "pipe/pipeline/batch:4/split:2", "pipe/pipeline/batch:4/split:2+2"));
}

TEST_F(SweepTest, KeepsTheOrderOfScenariosAndPassesTheNumberOfDevices) {
  EXPECT_THAT(
      cases({"--scenario", "mat,pipe", "--strategy", "single,alone"}, 2),
      ElementsAre("mat/alone/n:64/batch:2/pause:1us/devices:2", "pipe/single/batch:12/devices:2"));
}

TEST_F(SweepTest, DropsPresetValuesThatDoNotFitAGivenOne) {
  EXPECT_THAT(cases({"--scenario", "pipe", "--strategy", "pipeline", "--batch", "4"}),
              ElementsAre("pipe/pipeline/batch:4/split:1"));
}

TEST_F(SweepTest, RefusesAGivenValueThatFitsNothing) {
  EXPECT_THAT(error_of({"--scenario", "pipe", "--split", "3,20"}),
              AllOf(HasSubstr("--split 20"), HasSubstr("batch of 12")));
}

TEST_F(SweepTest, ReadsValuesStrictly) {
  const auto with = [&](const std::string& text) {
    return error_of({"--scenario", "pipe", "--split", text});
  };
  for (const char* text : {"0", "-1", "2.5", "1e3", " 1", "1 ", "0x1", "99999999999999999999",
                           "5000", "2+", "2++2", "2+0", "a"}) {
    EXPECT_THAT(with(text), AllOf(HasSubstr(std::string("--split '") + text + "'"),
                                  HasSubstr("from 1 to 4096")));
  }
}

TEST_F(SweepTest, SaysWhereAnAxisOrStrategyBelongs) {
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

TEST_F(SweepTest, SkipsScenariosWithoutTheStrategy) {
  EXPECT_THAT(cases({"--scenario", "all", "--strategy", "single"}),
              ElementsAre("pipe/single/batch:12"));
}

TEST_F(SweepTest, KeepsHiddenAxesOutOfTheName) {
  const RunOptions options =
      parse({"--scenario", "pipe", "--strategy", "single", "--slowdown", "12.5"});
  const auto specs = expand(options, *scenarios_.front(), {.count = 1});
  ASSERT_EQ(specs.size(), 1U);
  EXPECT_EQ(specs[0].name(), "pipe/single/batch:12");
  EXPECT_EQ(specs[0].hidden.real("slowdown"), 12.5);
  EXPECT_THAT(error_of({"--scenario", "pipe", "--slowdown", "1,2"}), HasSubstr("one value"));
}

/// A case as its report has it.
RerunCase known_case(const CaseSpec& spec) {
  CaseSpec read = spec;
  read.parameters = {};
  for (const Parameter& parameter : spec.parameters) {
    read.parameters.set(parameter.name, parameter.value);
  }
  return {spec.name(), read};
}

TEST_F(SweepTest, FindsCasesOfAReportAgain) {
  const RunOptions first = parse({"--scenario", "all", "--strategy", "alone,pipeline", "--n", "100",
                                  "--batch", "6", "--pause", "2.5us", "--split", "2+4"});
  RunOptions options = parse({"--scenario", "all", "--slowdown", "3"});
  for (const auto& scenario : scenarios_) {
    for (const CaseSpec& spec : expand(first, *scenario, {.count = 1})) {
      options.cases.push_back(known_case(spec));
    }
  }
  ASSERT_EQ(options.cases.size(), 2U);
  const auto pipe = expand(options, *scenarios_[0], {.count = 1});
  ASSERT_EQ(pipe.size(), 1U);
  EXPECT_EQ(pipe[0].name(), "pipe/pipeline/batch:6/split:2+4");
  EXPECT_EQ(pipe[0].hidden.real("slowdown"), 3.0);
  const auto mat = expand(options, *scenarios_[1], {.count = 1});
  ASSERT_EQ(mat.size(), 1U);
  EXPECT_EQ(mat[0].name(), "mat/alone/n:100/batch:6/pause:2.5us");
  EXPECT_EQ(mat[0].parameters.text("pause"), "2.5us");
}

/// An axis that a version does not know, or values that it gives another type, are another case.
TEST_F(SweepTest, TakesNoCaseForOneThatDiffersInAParameter) {
  RunOptions options = parse({"--scenario", "pipe"});
  const auto of = [&](const std::string& name, const Value& value) {
    CaseSpec spec = expand(parse({"--scenario", "pipe"}), *scenarios_[0], {.count = 1}).front();
    RerunCase known = known_case(spec);
    known.spec.parameters.set(name, value);
    options.cases = {known};
    return expand(options, *scenarios_[0], {.count = 1});
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
    return left_out(options, scenario_, {.count = devices});
  }
  [[nodiscard]] std::vector<std::string> cases(const RunOptions& options) const {
    std::vector<std::string> names;
    for (const CaseSpec& spec : expand(options, scenario_, {.count = 2})) {
      names.push_back(spec.name());
    }
    return names;
  }
  [[nodiscard]] std::string lines(const RunOptions& options, int devices) const {
    return left_out_text({&scenario_, {}, {}, all(options, devices)}, 80);
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
            "branch: strategies threads, graph-chain, graph-one-stream, graph-streams left\n"
            "out: launched in a way of its own; leave out --graph\n");
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
              HasSubstr("a micro-batch of 1 sample leaves batch normalisations of resnet18"));
  EXPECT_THAT(pipeline.cases(options), Contains("pipeline/pipeline/model:toy/batch:2/split:1/"
                                                "devices:2"));
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

TEST(LeftOut, SharesALineWhereTheReasonIsTheSame) {
  EXPECT_EQ(LeftOutOf("matmul").lines({}, 1),
            "matmul: strategies concurrent, column-sharded, row-sharded left out: needs at\n"
            "least two devices, and this run has 1; give --devices 2 or more\n");
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

/// The real scenarios, with either preset: what a report names can be found again.
class NamedCases : public ::testing::TestWithParam<Preset> {
 protected:
  static std::vector<CaseSpec> specs(const RunOptions& options, const Scenario& scenario) {
    return expand(options, scenario, {.count = std::max(2, scenario.default_devices())});
  }
  static std::vector<std::string> names(const RunOptions& options, const Scenario& scenario) {
    std::vector<std::string> result;
    for (const CaseSpec& spec : specs(options, scenario)) result.push_back(spec.name());
    return result;
  }

  static void expect_found_again(const RunOptions& options, const Scenario& scenario) {
    SCOPED_TRACE(scenario.name());
    const std::vector<std::string> first = names(options, scenario);
    RunOptions again = defaults();
    ASSERT_FALSE(first.empty());
    for (const CaseSpec& spec : specs(options, scenario)) {
      again.cases.push_back(known_case(spec));
    }
    EXPECT_EQ(names(again, scenario), first);
  }

  static RunOptions defaults() {
    RunOptions options;
    options.preset = GetParam();
    return options;
  }
};

/// A model has the sizes that it lists, and no others; few have a head that can be tied, and one
/// that ships has none of the options of files.
bool is_size_of_another_model(const Axis& axis, const CaseSpec& spec) {
  const Value* model = spec.parameters.find("model");
  if (model == nullptr) return false;
  if (std::ranges::find(file_option_names, axis.name) != file_option_names.end()) return true;
  const Model named = model_named(std::get<std::string>(*model));
  if (axis.name == "head") return !named.make_tied;
  const ModelSizes& own = named.sizes;
  return !own.contains(axis.name) && std::ranges::any_of(models(), [&](const Model& one) {
    return one.sizes.contains(axis.name);
  });
}

/// A graph has the parameters that its kind has: no draw unless it is random, no size unless it has
/// one.
bool is_of_another_graph(const Axis& axis, const CaseSpec& spec) {
  const Value* dag = spec.parameters.find("dag");
  if (dag == nullptr || *dag == Value("layered")) return false;
  return axis.name == "draw" || (axis.name == "nodes" && *dag == Value("mlp"));
}

TEST_P(NamedCases, HaveAValueOfEveryAxisThatApplies) {
  for (const auto& scenario : built_in_scenarios()) {
    const int devices = std::max(2, scenario->default_devices());
    for (const CaseSpec& spec : expand(defaults(), *scenario, {.count = devices})) {
      for (const Axis& axis : scenario->axes()) {
        if (!axis.applies_to(spec.strategy) || is_size_of_another_model(axis, spec)) continue;
        if (is_of_another_graph(axis, spec)) continue;
        const Parameters& values = axis.identity ? spec.parameters : spec.hidden;
        EXPECT_NE(values.find(axis.name), nullptr) << spec.name() << " lacks " << axis.name;
      }
    }
  }
}

TEST_P(NamedCases, OfEveryScenarioAreFoundAgain) {
  for (const auto& scenario : built_in_scenarios()) expect_found_again(defaults(), *scenario);
}

TEST_P(NamedCases, WithValuesThatDifferFromTheDefaultAreFoundAgain) {
  const ScenarioList scenarios = built_in_scenarios();
  const auto pipeline = std::ranges::find(scenarios, "pipeline", &Scenario::name);
  ASSERT_NE(pipeline, scenarios.end());
  RunOptions options = defaults();
  options.axes = {{"model", {"resnet50", "toy"}},
                  {"batch", {std::int64_t{20}}},
                  {"split", {std::int64_t{5}, "12+8"}}};
  expect_found_again(options, **pipeline);
  options.axes = {
      {"partition", {"balanced"}}, {"schedule", {"1f1b"}}, {"image", {std::int64_t{64}}}};
  options.strategies = {"pipeline"};
  for (const char* dtype : {"bf16", "tf32"}) {
    options.format = *number_format_named(dtype);
    expect_found_again(options, **pipeline);
  }
  options.graph = true;
  expect_found_again(options, **pipeline);
}

/// An axis that is added, and that a scenario does not mention where it derives one case from
/// another, stays in the derived case: cases that differ in it are not compared.
TEST_P(NamedCases, AreComparedOnlyWithCasesOfTheSameUnknownAxis) {
  std::size_t derived = 0;
  for (const auto& scenario : built_in_scenarios()) {
    const std::vector<CaseSpec> cases = specs(defaults(), *scenario);
    for (CaseSpec spec : cases) {
      spec.parameters.set("layout", std::string("new"));
      const auto reference = scenario->reference(spec);
      std::vector<CaseSpec> others;
      if (reference) others.push_back(*reference);
      for (const Metric& metric : scenario->metrics(spec)) {
        others.insert(others.end(), metric.others.begin(), metric.others.end());
      }
      for (const CaseSpec& other : others) {
        ++derived;
        ASSERT_NE(other.parameters.find("layout"), nullptr) << spec.name() << ": " << other.name();
        EXPECT_EQ(other.parameters.text("layout"), "new") << other.name();
      }
      for (CaseSpec candidate : cases) {
        candidate.parameters.set("layout", std::string("old"));
        EXPECT_FALSE(scenario->is_baseline_of(candidate, spec)) << candidate.name();
      }
    }
  }
  EXPECT_GT(derived, 0U);
}

INSTANTIATE_TEST_SUITE_P(Presets, NamedCases, ::testing::Values(Preset::quick, Preset::published),
                         [](const auto& instance) {
                           return instance.param == Preset::quick ? "quick" : "published";
                         });

/// A figure with a mistyped strategy or parameter would silently belong to no case.
TEST(PublishedFigures, BelongToOneCaseOfThePublishedPresetEach) {
  RunOptions options;
  options.preset = Preset::published;
  std::size_t figures = 0;
  for (const auto& scenario : built_in_scenarios()) {
    const std::vector<CaseSpec> cases = expand(options, *scenario, {.count = 2});
    for (const Published& figure : scenario->published()) {
      const auto belongs = [&](const CaseSpec& spec) { return figure.belongs_to(spec); };
      EXPECT_EQ(std::ranges::count_if(cases, belongs), 1)
          << scenario->name() << ' ' << figure.strategy << ' ' << figure.seconds;
    }
    const auto beside = published_beside(*scenario, cases);
    EXPECT_EQ(beside.size(), scenario->published().size());
    figures += beside.size();
    EXPECT_THAT(published_beside(*scenario, {}), ::testing::IsEmpty());
  }
  EXPECT_GE(figures, 20U);
}

/// Advice that the command line refuses would be worse than none.
TEST(Roles, AreGivenOnceAScenarioAndAdviseAllowedValues) {
  std::size_t count = 0;
  for (const auto& scenario : built_in_scenarios()) {
    std::vector<Role> known;
    for (const report::ParameterRole& one : roles_of(*scenario)) {
      EXPECT_THAT(known, Not(Contains(one.role))) << one.parameter;
      known.push_back(one.role);
      const auto axis = std::ranges::find(scenario->axes(), one.parameter, &Axis::name);
      ASSERT_NE(axis, scenario->axes().end()) << one.parameter;
      if (one.advised.empty()) continue;
      RunOptions options;
      options.axes[one.parameter] = {parse_value(*axis, one.advised)};
      const std::vector<CaseSpec> cases = expand(options, *scenario, {.count = 2});
      EXPECT_TRUE(std::ranges::any_of(cases, [&](const CaseSpec& spec) {
        const Value* value = spec.parameters.find(one.parameter);
        return value != nullptr && *value == Value(one.advised);
      })) << one.parameter;
    }
    count += known.size();
  }
  EXPECT_GE(count, 4U);
}

TEST_F(SweepTest, RefusesCasesThatAreNoMore) {
  RunOptions options = parse({"--scenario", "pipe"});
  const auto refuses = [&](const std::string& name, const std::string& strategy,
                           const Parameters& parameters) {
    options.cases = {{name, {"pipe", strategy, parameters, {}}}};
    EXPECT_THROW((void)expand(options, *scenarios_[0], {.count = 1}), UsageError) << name;
  };
  Parameters batch;
  batch.set("batch", std::int64_t{12});
  refuses("pipe/gone/batch:12", "gone", batch);
  refuses("pipe/single", "single", {});
  batch.set("devices", std::int64_t{2});
  refuses("pipe/single/batch:12/devices:2", "single", batch);
  options.cases = {{"mat/alone/n:1", {"mat", "alone", {}, {}}}};
  EXPECT_THAT(expand(options, *scenarios_[0], {.count = 1}), IsEmpty());
}

}  // namespace
}  // namespace parbench
