// What holds for the answer of every scenario, whatever its cases take: it recommends what is
// expected to be the fastest, denies no gain that a row shows, and counts what it does not cover.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "bench/cli/parser.h"
#include "bench/commands/commands.h"
#include "bench/commands/run.h"
#include "bench/run/case_expansion.h"
#include "bench/sampling/described.h"
#include "bench/sampling/results.h"
#include "kernels/base/units/units.h"

namespace parbench {
namespace {

using report::CaseResult;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<CaseSpec> specs_of(const ScenarioList& scenarios, std::vector<std::string> words) {
  words.insert(words.begin(), {"parbench", "--scenario"});
  const Program program{scenarios, words};
  const auto command = parse_command_line(program, all_commands(program));
  const RunOptions& options = dynamic_cast<RunCommand&>(*command).options();
  return expand(options, *options.scenarios.front(),
                {.device_count = 2, .devices_are_cpus = true, .has_all_cores = true})
      .cases;
}

/// A run of made-up times.
struct MadeRun {
  std::vector<CaseSpec> specs;
  std::vector<CaseResult> cases;
  report::Answer answer;
};

/// Samples around a speed of its own for each case: some equal, some far apart, in few rounds or
/// many, with little noise or much. Some cases fail, or the time ends before them.
MadeRun made_run(const Scenario& scenario, const std::vector<CaseSpec>& specs,
                 std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  const auto one_of = [&](const auto& choices) {
    return choices[std::uniform_int_distribution<std::size_t>(0, choices.size() - 1)(random)];
  };
  const double spread = one_of(std::array{0.0, 0.01, 0.3});
  const double noise = one_of(std::array{0.001, 0.03, 0.2});
  const int rounds = one_of(std::array{1, 2, 3, 6, 12});
  const double missing = one_of(std::array{0.0, 0.3});
  std::vector<double> drift(static_cast<std::size_t>(rounds));
  for (double& one : drift) one = std::exp(0.1 * normal(random));
  MadeRun made;
  made.specs = specs;
  for (const CaseSpec& spec : specs) {
    CaseResult& one = made.cases.emplace_back(described(spec));
    const double seconds = std::exp(spread * normal(random));
    if (std::uniform_real_distribution<double>()(random) < missing) {
      one.stopped_because = report::total_time;
      if (random() % 3 == 0) one.status = report::CaseStatus::failed;
      continue;
    }
    for (int round = 0; round < rounds; ++round) {
      const double in_round = seconds * drift[static_cast<std::size_t>(round)];
      one.samples.push_back(
          {.seconds = in_round * std::exp(noise * normal(random)), .round = round});
    }
    summarise_case(one);
  }
  compare_cases(comparisons_of(scenario, specs), made.cases);
  if (auto answer = answer_of(scenario, specs, made.cases, {})) made.answer = *answer;
  return made;
}

/// Cases by the baseline that they have a speedup over. Without those that answers leave out: what
/// overlaps nothing, and graphs of branches without a graph of one stream beside them.
std::map<std::string, std::vector<const CaseResult*>> groups_of(const MadeRun& run) {
  std::map<std::string, std::vector<const CaseResult*>> groups;
  for (const CaseResult& one : run.cases) {
    if (!one.speedup || one.name.find("/prefetch:0") != std::string::npos) continue;
    if (one.strategy.find("chain") != std::string::npos) continue;
    groups[one.speedup->baseline].push_back(&one);
  }
  for (auto& [baseline, cases] : groups) {
    const bool has_graph = std::ranges::any_of(
        cases, [](const CaseResult* one) { return one->strategy == "graph-one-stream"; });
    if (has_graph) continue;
    std::erase_if(cases, [](const CaseResult* one) { return one->strategy.starts_with("graph-"); });
  }
  // A graph of one stream runs no branches together.
  std::erase_if(groups, [](const auto& group) {
    return std::ranges::all_of(
        group.second, [](const CaseResult* one) { return one->strategy == "graph-one-stream"; });
  });
  return groups;
}

/// A recommendation is about the group that has its case, or whose baseline that is.
const Recommendation* recommendation_of(const MadeRun& run, const std::string& baseline,
                                        const std::vector<const CaseResult*>& group) {
  for (const Recommendation& one : run.answer.recommendations) {
    const std::string& used = one.candidates.front().name;
    const bool is_own = used == baseline || std::ranges::any_of(group, [&](const CaseResult* c) {
                          return c->name == used;
                        });
    if (is_own) return &one;
  }
  return nullptr;
}

void expect_right_choice(const MadeRun& run, const Recommendation& found,
                         const std::string& baseline, const std::vector<const CaseResult*>& group) {
  const std::string& used = found.candidates.front().name;
  const bool is_baseline = used == baseline;
  double speed = 1;
  for (const CaseResult* one : group) {
    if (one->name == used) speed = one->speedup->value;
  }
  const Payoff payoff = payoff_of(found);
  EXPECT_EQ(payoff < Payoff::may_pay, is_baseline) << used;
  EXPECT_GE(speed * (1 + largest_tie), 1) << used << " is slower than the baseline";
  for (const CaseResult* one : group) {
    EXPECT_LE(one->speedup->value, speed * (1 + largest_tie) * (1 + 1e-12))
        << one->name << " beside " << used;
    if (payoff <= Payoff::shows_no_gain) {
      EXPECT_FALSE(one->speedup->above(1)) << one->name << ": " << run.answer.text;
    }
    if (one->name != used || is_baseline) continue;
    EXPECT_EQ(found.gain, one->speedup);
    const bool is_shown = one->speedup->above(1) && !is_low(one->speedup->interval);
    EXPECT_EQ(found.pays, is_shown) << used;
  }
}

/// The sentences of an answer about a single setting name what to use, its gain and how sure that
/// is.
void expect_text_of_one(const MadeRun& run) {
  if (run.answer.recommendations.size() != 1) return;
  const Recommendation& one = run.answer.recommendations.front();
  const std::string& text = run.answer.text;
  EXPECT_THAT(text, HasSubstr(one.candidates.front().label));
  if (text.starts_with("For ")) return;  // collectives: the table has the gains
  const std::string gain = format_ratio(*one.gain);
  EXPECT_THAT(text, HasSubstr(gain.substr(0, gain.find(' ')) + " as fast"));
  EXPECT_EQ(text.find("more samples are needed") != std::string::npos,
            payoff_of(one) == Payoff::may_pay)
      << text;
}

void expect_coverage(const MadeRun& run) {
  const auto measured =
      std::ranges::count(run.cases, report::CaseStatus::measured, &CaseResult::status);
  if (measured == std::ssize(run.cases)) return;
  const std::string counts = fmt::format("{} of {} cases measured; ", measured, run.cases.size());
  if (measured == 0) {
    EXPECT_THAT(run.answer.text, HasSubstr("Not decided: " + counts));
  } else {
    EXPECT_THAT(run.answer.warnings, Contains(HasSubstr(counts)));
  }
}

struct Answers : ::testing::TestWithParam<std::vector<std::string>> {
  ScenarioList scenarios = built_in_scenarios();
  const Scenario& scenario() const {
    return **std::ranges::find(scenarios, GetParam().front(), &Scenario::name);
  }
};

TEST_P(Answers, RecommendTheFastestDenyNoGainAndCountTheRest) {
  const std::vector<CaseSpec> specs = specs_of(scenarios, GetParam());
  std::mt19937_64 random(7);
  std::size_t groups = 0;
  std::set<Payoff> payoffs;
  for (int trial = 0; trial < 300; ++trial) {
    const MadeRun run = made_run(scenario(), specs, random);
    if (run.answer.text.empty()) continue;  // nothing was measured
    SCOPED_TRACE(fmt::format("trial {}: {}", trial, run.answer.text));
    EXPECT_THAT(run.answer.text, Not(HasSubstr("distinguished")));
    expect_coverage(run);
    expect_text_of_one(run);
    for (const auto& [baseline, group] : groups_of(run)) {
      const auto* found = recommendation_of(run, baseline, group);
      ASSERT_NE(found, nullptr) << "no recommendation beside " << baseline;
      expect_right_choice(run, *found, baseline, group);
      payoffs.insert(payoff_of(*found));
      ++groups;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(groups, 100U);
  EXPECT_EQ(payoffs.size(), 5U) << "every verdict was met";
}

/// Beside programs that had the cores for most of the time, ratios show nothing.
TEST_P(Answers, GiveNoVerdictWhereOtherProgramsHadTheCores) {
  const std::vector<CaseSpec> specs = specs_of(scenarios, GetParam());
  std::mt19937_64 random(7);
  int answers = 0;
  for (int trial = 0; trial < 100; ++trial) {
    MadeRun run = made_run(scenario(), specs, random);
    for (CaseResult& one : run.cases) {
      one.conditions = {{.device = "cpu:0",
                         .min_clock_mhz = {},
                         .median_clock_mhz = {},
                         .max_temperature_celsius = {},
                         .max_power_watts = {},
                         .threads = report::ThreadUse{
                             .core_wait = 0.495, .denied = 0.495, .others = 0.9, .threads = 2}}};
    }
    const auto answer = answer_of(scenario(), specs, run.cases, {});
    if (!answer || answer->recommendations.empty()) continue;
    SCOPED_TRACE(fmt::format("trial {}: {}", trial, answer->text));
    for (const Recommendation& one : answer->recommendations) {
      EXPECT_EQ(payoff_of(one), Payoff::undecided);
      EXPECT_DOUBLE_EQ(one.load, 0.495);
    }
    EXPECT_THAT(answer->text, ::testing::ContainsRegex("[Nn]o verdict"));
    EXPECT_THAT(answer->warnings, ::testing::Each(Not(HasSubstr("other programs"))))
        << "which the text says";
    EXPECT_THAT(answer->text, Not(HasSubstr("pay")));
    EXPECT_THAT(answer->text, Not(HasSubstr("Use ")));
    EXPECT_THAT(answer->text, Not(HasSubstr(" use ")));
    ++answers;
    if (HasFailure()) return;
  }
  EXPECT_GT(answers, 30);
}

INSTANTIATE_TEST_SUITE_P(
    OfAllScenarios, Answers,
    ::testing::Values(std::vector<std::string>{"branch"}, std::vector<std::string>{"matmul"},
                      std::vector<std::string>{"overlap"}, std::vector<std::string>{"pipeline"},
                      std::vector<std::string>{"pipeline", "--batch", "12,24"},
                      std::vector<std::string>{"data-parallel"},
                      std::vector<std::string>{"tensor-parallel"},
                      std::vector<std::string>{"hybrid"}, std::vector<std::string>{"inter-op"},
                      std::vector<std::string>{"graph"}, std::vector<std::string>{"collectives"}),
    [](const auto& chosen) {
      std::string name = fmt::format("{}_{}", chosen.index, chosen.param.front());
      std::ranges::replace(name, '-', '_');
      return name;
    });

}  // namespace
}  // namespace parbench
