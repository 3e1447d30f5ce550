// What a session's report takes from plans, and when its answer is preliminary.
#include "bench/sampling/results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/sampling/described.h"
#include "kernels/core/described_op.h"
#include "tests/bench/fake_scenario.h"
#include "tests/scenarios/fake_device.h"

namespace parbench {
namespace {

class NamedOp final : public DescribedOp {
 public:
  NamedOp(std::string_view name, std::string_view kernel, ChosenBy by = ChosenBy::library)
      : DescribedOp(name) {
    set_implementation(kernel, by);
  }
  void enqueue(Stream& /*stream*/, std::span<const BufferView> /*views*/) override {}
};

TEST(KernelsOf, CountsOperationsByKernelInTheOrderOfFirstUse) {
  test::FakeDevice device(0);
  const auto stream = device.make_stream(StreamKind::compute, 0, 1);
  NamedOp first("convolution_forward", "engine 1");
  NamedOp second("convolution_forward", "engine 2");
  NamedOp again("convolution_forward", "engine 1");
  NamedOp other("gemm", "engine 1");
  NamedOp nameless("fill", "");
  Plan plan;
  const LaneId lane = plan.add_lane("lane", *stream);
  plan.add({.name = "one", .lanes = {lane}}, {OpCall{&second, {}}, OpCall{&first, {}}});
  plan.add({.name = "two", .lanes = {lane}}, {CopyCall{}, OpCall{&again, {}}, OpCall{&other, {}},
                                              OpCall{&nameless, {}}, OpCall{&first, {}}});
  const std::vector<report::Kernel> want{{"convolution_forward", "engine 2", 1},
                                         {"convolution_forward", "engine 1", 3},
                                         {"gemm", "engine 1", 1}};
  EXPECT_EQ(kernels_of(plan), want);
}

TEST(KernelsOf, DistinguishesMeasuredChoicesFromUntunedOnes) {
  test::FakeDevice device(0);
  const auto stream = device.make_stream(StreamKind::compute, 0, 1);
  NamedOp measured("gemm", "engine 1", ChosenBy::measuring);
  NamedOp left("gemm", "engine 1", ChosenBy::heuristics);
  NamedOp own("fill", "kernel");
  Plan plan;
  const LaneId lane = plan.add_lane("lane", *stream);
  plan.add({.name = "all", .lanes = {lane}},
           {OpCall{&measured, {}}, OpCall{&left, {}}, OpCall{&own, {}}, OpCall{&measured, {}}});
  const std::vector<report::Kernel> want{{"gemm", "engine 1", 2, "measuring"},
                                         {"gemm", "engine 1", 1, "heuristics"},
                                         {"fill", "kernel", 1, ""}};
  EXPECT_EQ(kernels_of(plan), want);
}

TEST(TuningNote, CountsWhatIsLeftToTheHeuristics) {
  const report::Kernel measured{"gemm", "engine 1", 50, "measuring"};
  const report::Kernel left{"gemm", "engine 2", 3, "heuristics"};
  const report::Kernel own{"fill", "kernel", 1, ""};
  EXPECT_EQ(tuning_note({measured, own}), std::nullopt);
  EXPECT_EQ(tuning_note({own}), std::nullopt);
  const auto note = tuning_note({measured, left, own});
  ASSERT_TRUE(note.has_value());
  EXPECT_EQ(note->first, "autotune");
  EXPECT_TRUE(note->second.starts_with("3 of 53 kernels not chosen by measuring"));
}

struct PreliminaryAnswer : testing::Test {
  fake::FakeScenario scenario;
  std::vector<CaseSpec> specs;
  std::vector<report::CaseResult> cases;

  PreliminaryAnswer() { scenario.baseline_strategy.clear(); }

  /// A case with so many samples of each of so many processes.
  void add(const std::string& strategy, int samples, int processes = 1, std::int64_t n = 1) {
    const CaseSpec spec = fake::FakeScenario::spec(strategy, n);
    report::CaseResult one = described(spec);
    for (int process = 0; process < processes; ++process) {
      for (int i = 0; i < samples; ++i) {
        one.samples.push_back({.seconds = 1, .round = samples * process + i, .process = process});
      }
    }
    summarise_case(one);
    specs.push_back(spec);
    cases.push_back(std::move(one));
  }

  void add_without_time(const std::string& strategy, std::int64_t n = 1) {
    add(strategy, 0, 1, n);
    cases.back().stopped_because = report::total_time;
  }

  /// What the answer's warning says; empty where it is not preliminary.
  [[nodiscard]] std::string warning(int processes = 1) const {
    const auto answer = answer_of(scenario, specs, cases, {.processes = processes});
    EXPECT_EQ(answer->preliminary, !answer->warnings.empty());
    EXPECT_THAT(answer->text, testing::Not(testing::HasSubstr("Preliminary")));
    return answer->preliminary ? answer->warnings.front() : "";
  }
};

/// A case of which other programs had the cores for such a share of the time.
report::CaseResult with_taken_cores(double share) {
  report::CaseResult one;
  one.conditions = {{.device = "cpu:0",
                     .min_clock_mhz = {},
                     .median_clock_mhz = {},
                     .max_temperature_celsius = {},
                     .max_power_watts = {},
                     .threads = report::ThreadUse{.denied = share, .others = 0.7}}};
  return one;
}

TEST_F(PreliminaryAnswer, IsQualifiedWhereOtherProgramsHadTheCores) {
  const auto warnings = [this] { return answer_of(scenario, specs, cases, {})->warnings; };
  add("a", 6);
  add("b", 6);
  add("c", 6);
  cases[0].conditions = with_taken_cores(0.09).conditions;
  EXPECT_THAT(warnings(), testing::IsEmpty());
  cases[1].conditions = with_taken_cores(0.4).conditions;
  cases[2].conditions = with_taken_cores(0.2).conditions;
  EXPECT_THAT(warnings(),
              testing::ElementsAre("Careful: other programs took up to 40% of the CPU time in 2 "
                                   "of 3 cases; repeat on a quiet machine."));
  add_without_time("d");
  EXPECT_THAT(warnings(), testing::Contains(testing::HasSubstr("in 2 of 3 cases;")))
      << "the case without a sample had no time to lose";
  cases[0].conditions = cases[1].conditions;
  EXPECT_THAT(warnings(), testing::Contains(testing::HasSubstr("in all 3 cases;")));
  specs.resize(2);
  cases.resize(2);
  EXPECT_THAT(warnings(), testing::Contains(testing::HasSubstr("in both cases;")));
}

report::Device device_on(const std::string& name, std::vector<int> cores) {
  report::Device device;
  device.name = name;
  device.cores = std::move(cores);
  return device;
}

TEST_F(PreliminaryAnswer, KnowsWhatOtherProgramsCanHaveCost) {
  scenario.baseline_strategy = "base";
  add("base", 6);
  add("a", 6);
  compare_cases(comparisons_of(scenario, specs), cases);
  const auto outcome = [&] {
    scenario.answered.clear();
    static_cast<void>(answer_of(scenario, specs, cases, {}));
    return scenario.answered.at(1);
  };
  EXPECT_FALSE(outcome().min_speedup.has_value());
  EXPECT_FALSE(outcome().max_speedup.has_value());
  cases[0].conditions = with_taken_cores(0.4).conditions;
  EXPECT_DOUBLE_EQ(outcome().load, 0.4);
  EXPECT_DOUBLE_EQ(scenario.answered.at(0).load, 0.4) << "of the baseline, which has no ratio";
  EXPECT_NEAR(outcome().min_speedup->value, 0.6, 1e-12);
  EXPECT_NEAR(outcome().min_speedup->interval->low, 0.6, 1e-12);
  EXPECT_FALSE(outcome().max_speedup.has_value());
  cases[0].conditions = with_taken_cores(0.04).conditions;
  cases[1].conditions = with_taken_cores(0.2).conditions;
  EXPECT_FALSE(outcome().min_speedup.has_value()) << "4% change no verdict";
  EXPECT_NEAR(outcome().max_speedup->value, 1.25, 1e-12);
}

/// Three of eight samples take 20% less than the bound.
TEST_F(PreliminaryAnswer, KnowsNoBoundThatManySamplesUndercut) {
  add("a", 8);
  cases[0].bound.emplace().seconds = 0.9;
  cases[0].bound->critical_path = 0.5;
  summarise_case(cases[0]);
  const auto outcome = [&] {
    scenario.answered.clear();
    static_cast<void>(answer_of(scenario, specs, cases, {}));
    return scenario.answered.at(0);
  };
  EXPECT_DOUBLE_EQ(outcome().efficiency, 0.9);
  EXPECT_DOUBLE_EQ(outcome().critical_path, 0.5);
  for (const std::size_t sample : {0, 1, 2}) cases[0].samples[sample].seconds = 0.72;
  summarise_case(cases[0]);
  EXPECT_DOUBLE_EQ(cases[0].efficiency, 0.9) << "the median is the same";
  EXPECT_EQ(outcome().efficiency, 0);
  EXPECT_EQ(outcome().critical_path, 0);
}

TEST_F(PreliminaryAnswer, KnowsTheProcessesOfItsCases) {
  add("a", 6);
  add("b", 2, 3);
  static_cast<void>(answer_of(scenario, specs, cases, {.processes = 3}));
  ASSERT_EQ(scenario.answered.size(), 2U);
  EXPECT_EQ(scenario.answered[0].processes, 0);
  EXPECT_EQ(scenario.answered[1].processes, 3);
}

TEST_F(PreliminaryAnswer, SaysThatDevicesShareCores) {
  const auto warnings = [this](const std::vector<std::vector<int>>& cores) {
    AnswerConditions conditions;
    for (std::size_t i = 0; i < cores.size(); ++i) {
      conditions.devices.push_back(device_on("cpu:" + std::to_string(i), cores[i]));
    }
    return answer_of(scenario, specs, cases, conditions)->warnings;
  };
  add("a", 6);
  EXPECT_THAT(warnings({{0}, {1}}), testing::IsEmpty());
  EXPECT_THAT(warnings({{0}, {1}, {0}, {1}}),
              testing::ElementsAre("Careful: the 4 devices share 2 cores, so these times and gains "
                                   "do not apply to devices with separate cores."));
}

TEST_F(PreliminaryAnswer, KnowsTheCoresOfItsCases) {
  add("a", 6);
  add("b", 6);
  specs[1].parameters.set("devices", std::int64_t{2});
  AnswerConditions conditions;
  conditions.devices = {device_on("cpu:0", {0}), device_on("cpu:1", {1}),
                        device_on("cpu:all", {0, 1})};
  conditions.devices.back().combines = {"cpu:0", "cpu:1"};
  static_cast<void>(answer_of(scenario, specs, cases, conditions));
  ASSERT_EQ(scenario.answered.size(), 2U);
  EXPECT_EQ(scenario.answered[0].cores, 1U);
  EXPECT_EQ(scenario.answered[1].cores, 2U);
}

TEST_F(PreliminaryAnswer, DoesNotBlameOtherProgramsForWhatAQuotaWithheld) {
  add("a", 6);
  cases[0].conditions = with_taken_cores(0.6).conditions;
  cases[0].quota_lost = 0.55;
  EXPECT_THAT(answer_of(scenario, specs, cases, {})->warnings,
              testing::ElementsAre(testing::HasSubstr("a CPU quota withheld up to 55%")));
}

TEST(ProfilingOrder, BeginsWithTheCasesOfTheAnswerAndTheirBaselines) {
  std::vector<report::CaseResult> cases;
  for (const char* name : {"a", "b", "c", "d"}) cases.emplace_back().name = name;
  EXPECT_THAT(profiling_order(cases, std::nullopt), testing::ElementsAre(0, 1, 2, 3));
  report::Answer answer;
  Recommendation& found = answer.recommendations.emplace_back();
  found.gaining = {"the third", "c"};
  EXPECT_THAT(profiling_order(cases, answer), testing::ElementsAre(2, 0, 1, 3));
  found.gain = {2, std::nullopt, "b"};
  EXPECT_THAT(profiling_order(cases, answer), testing::ElementsAre(1, 2, 0, 3));
  found.candidates = {{"all cores", "a"}};
  cases[3].status = report::CaseStatus::measured;
  cases[3].statistics.emplace();
  cases[3].speedup = Ratio{1.5, std::nullopt, "b"};
  cases[3].memory = {{"cpu:0", 1}, {"cpu:1", 1}};
  EXPECT_THAT(profiling_order(cases, answer), testing::ElementsAre(1, 2, 3, 0))
      << "the fastest that divides the work explains the answer";
}

TEST_F(PreliminaryAnswer, IsOneFromTheCaseWithTheFewestSamples) {
  add("a", 6);
  EXPECT_EQ(warning(), "");
  add("b", 5);
  EXPECT_EQ(warning(),
            "Preliminary: 1 of 2 cases has fewer than the 6 samples that an interval of 95% "
            "needs (fewest: 5).");
}

TEST_F(PreliminaryAnswer, CountsProcessesWhereThereAreSeveral) {
  add("a", 3, 8);
  EXPECT_EQ(warning(8), "");
  add("b", 3, 4);
  EXPECT_EQ(warning(8),
            "Preliminary: 1 of 2 cases has fewer than the 6 processes that an interval of 95% "
            "needs (fewest: 4).");
  add("c", 20);
  EXPECT_EQ(warning(8),
            "Preliminary: 2 of 3 cases have fewer than the 6 processes that an interval of 95% "
            "needs (fewest: 1).")
      << "20 samples of one process are one value";
  EXPECT_THAT(warning(3), testing::EndsWith("; --processes 6 gives them."));
}

TEST_F(PreliminaryAnswer, IsNotOneThatNoNumberOfSamplesGives) {
  add("a", 2);
  scenario.has_answer = false;
  EXPECT_EQ(warning(), "");
  add_without_time("b");
  EXPECT_EQ(
      warning(),
      "Preliminary: 1 of 2 cases measured; no time for 1 (among them all of strategy b); a longer "
      "--max-total-time measures them.");
}

TEST_F(PreliminaryAnswer, SaysThatCasesAreMissingAndThatSamplesAre) {
  add("a", 6);
  add_without_time("b");
  EXPECT_EQ(
      warning(),
      "Preliminary: 1 of 2 cases measured; no time for 1 (among them all of strategy b); a longer "
      "--max-total-time measures them.");
  add("c", 2);
  EXPECT_EQ(warning(),
            "Preliminary: 1 of 2 cases has fewer than the 6 samples that an interval of 95% needs "
            "(fewest: 2); 2 of 3 cases measured; no time for 1 (among them "
            "all of strategy b); a longer --max-total-time measures them.");
}

TEST_F(PreliminaryAnswer, NamesValuesThatNoCaseWasMeasuredWith) {
  add("a", 6);
  add("b", 6);
  add_without_time("a", 4000);
  EXPECT_THAT(warning(), testing::HasSubstr("no time for 1 (among them all of n 4000); a longer"));
  add_without_time("c", 8);
  EXPECT_THAT(warning(), testing::HasSubstr(
                             "no time for 2 (among them all of strategy c and all of n 4000); a"));
  add("b", 6, 1, 4000);
  EXPECT_THAT(warning(), testing::HasSubstr("no time for 2 (among them all of strategy c); a"));
  add_without_time("d", 8);
  EXPECT_THAT(warning(),
              testing::HasSubstr("no time for 3 (among them all of strategies c and d); a"));
}

TEST_F(PreliminaryAnswer, CountsCasesThatFailedOrWereSkipped) {
  add("a", 6);
  add("b", 0);
  EXPECT_THAT(answer_of(scenario, specs, cases, {})->warnings,
              testing::ElementsAre("1 of 2 cases measured; 1 not run."));
  cases.back().status = report::CaseStatus::failed;
  add("c", 0);
  cases.back().status = report::CaseStatus::skipped;
  EXPECT_THAT(answer_of(scenario, specs, cases, {})->warnings,
              testing::ElementsAre("1 of 3 cases measured; 1 failed, 1 skipped."));
  add_without_time("d");
  EXPECT_EQ(warning(),
            "Preliminary: 1 of 4 cases measured; no time for 1 (among them all of strategy d), 1 "
            "failed, 1 skipped; a longer --max-total-time measures them.");
}

/// What the answer's warnings say of baselines.
struct MissingBaselines : PreliminaryAnswer {
  MissingBaselines() { scenario.baseline_strategy = "base"; }

  [[nodiscard]] std::vector<std::string> warnings() const {
    return baseline_warnings(scenario, specs, cases);
  }
};

TEST_F(MissingBaselines, AreNamedWithTheCasesThatNeedThem) {
  add("base", 6);
  add("a", 6);
  EXPECT_THAT(warnings(), testing::IsEmpty());
  add("a", 6, 1, 16);
  EXPECT_THAT(warnings(),
              testing::ElementsAre("Gains are relative to base, which was not measured (not part "
                                   "of this run) for 1 case; their gains are unknown."));
}

TEST_F(MissingBaselines, SayWhyTheyAre) {
  add("a", 6);
  add("b", 6);
  EXPECT_THAT(warnings(),
              testing::ElementsAre("Gains are relative to base, which was not measured "
                                   "(not part of this run): the gains of a and b are unknown."));
  add_without_time("base");
  EXPECT_THAT(warnings(), testing::ElementsAre("Gains are relative to base, which was not measured "
                                               "(out of time): the gains of a and b are unknown."));
  cases.back().status = report::CaseStatus::failed;
  EXPECT_THAT(warnings(),
              testing::ElementsAre(
                  "Gains are relative to base, which failed: the gains of a and b are unknown."));
  const auto answer = answer_of(scenario, specs, cases, {});
  EXPECT_THAT(answer->warnings, testing::Contains(testing::HasSubstr("relative to base")));
}

}  // namespace
}  // namespace parbench
