// The cases of the real scenarios' presets: their names, parameters, figures and advice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "bench/commands/run.h"
#include "bench/run/case_expansion.h"
#include "bench/sampling/described.h"
#include "reports/model/report.h"
#include "scenarios/models/models.h"
#include "tests/bench/run/known_case.h"

namespace parbench {
namespace {

using ::testing::Contains;
using ::testing::Not;

/// The real scenarios, with either preset: what a report names can be found again.
class NamedCases : public ::testing::TestWithParam<Preset> {
 protected:
  static std::vector<CaseSpec> specs(const RunOptions& options, const Scenario& scenario) {
    return expand(options, scenario,
                  {.device_count = std::max(2, scenario.default_devices()), .has_all_cores = true})
        .cases;
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
/// one, and a model alone if it is a network.
bool is_of_another_graph(const Axis& axis, const CaseSpec& spec) {
  const Value* dag = spec.parameters.find("dag");
  if (dag == nullptr) return false;
  const std::vector<std::string> of_matrices{"features", "nodes", "draw"};
  const bool is_of_matrices = std::ranges::find(of_matrices, axis.name) != of_matrices.end();
  if (*dag == Value("network")) return is_of_matrices;
  if (axis.name == "draw") return *dag != Value("layered");
  if (axis.name == "nodes") return *dag == Value("mlp");
  return !is_of_matrices && axis.name != "dag" && axis.name != "batch";
}

/// Without stages there is no pipeline to choose for, and without replicas there are no gradients
/// to add up.
bool is_of_another_division(const Axis& axis, const CaseSpec& spec) {
  if (axis.name == "prefetch") {
    const Value* level = spec.parameters.find("zero");
    return level != nullptr && std::get<std::int64_t>(*level) < 3;
  }
  const Value* layout = spec.parameters.find("layout");
  if (layout == nullptr) return false;
  const auto lacks = [&](std::string_view factor) {
    return std::get<std::string>(*layout).find(factor) == std::string::npos;
  };
  const std::vector<std::string> of_stages{"split", "schedule", "partition"};
  if (std::ranges::find(of_stages, axis.name) != of_stages.end()) return lacks("pp");
  return axis.name == "bucket" && lacks("dp");
}

TEST_P(NamedCases, HaveAValueOfEveryAxisThatApplies) {
  for (const auto& scenario : built_in_scenarios()) {
    const int devices = std::max(2, scenario->default_devices());
    for (const CaseSpec& spec :
         expand(defaults(), *scenario, {.device_count = devices, .has_all_cores = true}).cases) {
      for (const Axis& axis : scenario->axes()) {
        if (!axis.applies_to(spec.strategy) || is_size_of_another_model(axis, spec)) continue;
        if (!axis.sets.empty()) continue;  // cases have the parameter that it sets
        if (is_of_another_graph(axis, spec) || is_of_another_division(axis, spec)) continue;
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
      spec.parameters.set("unknown", std::string("new"));
      const auto reference = reference_of(*scenario, spec);
      std::vector<CaseSpec> others;
      if (reference) others.push_back(*reference);
      for (const Metric& metric : scenario->metrics(spec)) {
        others.insert(others.end(), metric.others.begin(), metric.others.end());
      }
      for (const CaseSpec& other : others) {
        ++derived;
        ASSERT_NE(other.parameters.find("unknown"), nullptr) << spec.name() << ": " << other.name();
        EXPECT_EQ(other.parameters.text("unknown"), "new") << other.name();
      }
      for (CaseSpec candidate : cases) {
        candidate.parameters.set("unknown", std::string("old"));
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
    const std::vector<CaseSpec> cases = expand(options, *scenario, {.device_count = 2}).cases;
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
      const std::vector<CaseSpec> cases = expand(options, *scenario, {.device_count = 2}).cases;
      EXPECT_TRUE(std::ranges::any_of(cases, [&](const CaseSpec& spec) {
        const Value* value = spec.parameters.find(one.parameter);
        return value != nullptr && *value == Value(one.advised);
      })) << one.parameter;
    }
    count += known.size();
  }
  EXPECT_GE(count, 4U);
}

}  // namespace
}  // namespace parbench
