// What a dry run says of time and memory.
#include "bench/estimates/estimate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "bench/run/case_expansion.h"
#include "bench/sampling/profiling_pass.h"
#include "kernels/base/error.h"
#include "kernels/machine/machine.h"
#include "scenarios/framework/built_in.h"
#include "tests/bench/fake_scenario.h"
#include "tests/scenarios/fake_device.h"
#include "tests/support/widest_line.h"

namespace parbench {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Gt;
using testing::HasSubstr;
using testing::Le;
using testing::Lt;
using testing::Not;
using testing::SizeIs;

class EstimateTest : public testing::Test {
 protected:
  [[nodiscard]] RunEstimate estimate_of(const std::string& strategy, Context& context,
                                        int processes = 1, const SamplerOptions& sampling = {},
                                        bool profiles = false) const {
    RunOptions options;
    options.strategies = {strategy};
    const std::vector<CaseSpec> cases =
        expand(options, *selftest_, {.device_count = context.device_count()}).cases;
    return estimate(*selftest_, context, cases, sampling, processes, profiles);
  }

  [[nodiscard]] std::string text_of(const Context& context, const RunEstimate& run,
                                    std::size_t width = 80) const {
    return estimate_text(*selftest_, context, run, width);
  }

 private:
  std::unique_ptr<Scenario> selftest_ = make_selftest();
};

TEST_F(EstimateTest, OfTasksWithAKnownDurationIsTheirDuration) {
  const Machine machine;
  Context context(machine.open("cpu:0"), {.measures = false});
  const RunEstimate run = estimate_of("spin", context);
  ASSERT_THAT(run.cases, SizeIs(1));
  EXPECT_EQ(run.cases[0].error, "");
  EXPECT_GE(run.cases[0].execution_seconds, 10 * 0.001);
  EXPECT_LT(run.cases[0].execution_seconds, 10 * 0.0011);
}

TEST_F(EstimateTest, OfSeveralProcessesIsThatOfTheWholeRun) {
  const Machine machine;
  Context context(machine.open("cpu:0"), {.measures = false});
  const RunEstimate one = estimate_of("spin", context);
  const RunEstimate three = estimate_of("spin", context, 3);
  constexpr double tolerance = 1e-3;  // of what is measured for it
  EXPECT_NEAR(three.min_seconds, 3 * one.min_seconds, tolerance) << "each wants all its samples";
  const double preparation = one.max_seconds - SamplerOptions{}.max_seconds;
  EXPECT_NEAR(three.max_seconds, 3 * preparation + SamplerOptions{}.max_seconds, tolerance)
      << "each has its share of the time";
  EXPECT_THAT(text_of(context, three), HasSubstr(", in 3 processes\n"));
}

TEST_F(EstimateTest, IncludesTheProfilingPassOfOneProcess) {
  const Machine machine;
  Context context(machine.open("cpu:0"), {.measures = false});
  constexpr double tolerance = 1e-3;  // of what is measured for it
  for (const int processes : {1, 3}) {
    const RunEstimate without = estimate_of("spin", context, processes);
    const RunEstimate with = estimate_of("spin", context, processes, {}, true);
    const double profiling = profiling_seconds(with.cases.at(0).execution_seconds);
    EXPECT_GT(profiling, 20e-3) << "twice, and once before";
    EXPECT_NEAR(with.min_seconds, without.min_seconds + profiling, tolerance);
    EXPECT_NEAR(with.max_seconds, without.max_seconds + max_profiling_runs * profiling, tolerance);
  }
}

TEST_F(EstimateTest, IsOneTimeWhereBothEndsReadTheSame) {
  const Context context = test::fake_context(1, {.measures = false});
  RunEstimate run;
  run.min_seconds = 1.0;
  run.max_seconds = 1.3;
  EXPECT_THAT(text_of(context, run), HasSubstr("estimated time: 1 s\n"));
  run.max_seconds = 3;
  EXPECT_THAT(text_of(context, run), HasSubstr("estimated time: 1 s to 3 s\n"));
}

TEST_F(EstimateTest, SaysWhereTheTotalTimeIsTooShort) {
  const Machine machine;
  Context context(machine.open("cpu:0"), {.measures = false});
  SamplerOptions sampling;
  sampling.min_sample_seconds = 0;
  sampling.min_samples = 1000;
  sampling.max_seconds = 20;
  sampling.total_seconds = 5;
  const RunEstimate cut = estimate_of("spin", context, 1, sampling);
  EXPECT_DOUBLE_EQ(cut.min_seconds, 5);
  EXPECT_NEAR(cut.wanted_seconds, 10, 1) << "1000 samples of 10 ms";
  EXPECT_THAT(text_of(context, cut, 100),
              HasSubstr("estimated time: 5 s; too short for all cases: 1000 samples of each take "
                        "about 10 s\n"));
  sampling.total_seconds = 30;
  EXPECT_THAT(text_of(context, estimate_of("spin", context, 1, sampling)),
              Not(HasSubstr("too short")));
}

TEST_F(EstimateTest, NamesADeviceThatIsNoneOfTheRun) {
  const Context context = test::fake_context(1, {.measures = false});
  RunEstimate run;
  run.cases.push_back({.name = "whole", .error = {}, .device_bytes = {2048}, .device = "cpu:all"});
  run.cases.push_back({.name = "own", .error = {}, .device_bytes = {1024}, .device = {}});
  EXPECT_THAT(text_of(context, run),
              AllOf(HasSubstr("2.00 KiB on cpu:all; "), HasSubstr("1.00 KiB; ")));
}

TEST_F(EstimateTest, SaysWhatItsTimeIsMadeOf) {
  const Machine machine;
  Context context(machine.open("cpu:0"), {.measures = false});
  EXPECT_THAT(
      text_of(context, estimate_of("spin", context)),
      AllOf(HasSubstr("; 10.00 ms an execution\n"),
            HasSubstr("\n  Minimum: 6 samples of each case (--min-samples); maximum: --max-time")));
  SamplerOptions sampling;
  sampling.max_seconds = 20;
  sampling.total_seconds = 60;
  EXPECT_THAT(text_of(context, estimate_of("spin", context, 1, sampling)),
              HasSubstr("; maximum: --max-time for each."));
  sampling.total_seconds = 10;
  EXPECT_THAT(text_of(context, estimate_of("spin", context, 1, sampling)),
              HasSubstr("; maximum: --max-total-time.\n"));
  SamplerOptions fixed;
  fixed.fixed_samples = 3;
  fixed.fixed_iterations = 50;
  const RunEstimate run = estimate_of("spin", context, 1, fixed);
  EXPECT_NEAR(run.min_seconds, (3 * 50 + 3) * run.cases.at(0).execution_seconds, 1e-6);
  EXPECT_THAT(text_of(context, run),
              HasSubstr("\n  3 samples of 50 executions of each case. The time "
                        "includes 3 executions for\n"));
  EXPECT_THAT(text_of(context, run), Not(HasSubstr("--no-timeline")));
  const RunEstimate profiled = estimate_of("spin", context, 1, fixed, true);
  EXPECT_THAT(text_of(context, profiled), HasSubstr("(--no-timeline omits"));
}

TEST_F(EstimateTest, FitsItsWidth) {
  const Machine machine;
  Context context(machine.open("cpu:0"), {.measures = false});
  const RunEstimate run = estimate_of("spin", context);
  for (const std::size_t width : {60U, 80U, 100U}) {
    const std::size_t widest = test::widest_line(text_of(context, run, width));
    EXPECT_THAT(widest, AllOf(Le(width), Gt(width - 20)));
  }
  EXPECT_EQ(text_of(context, run, 400), text_of(context, run, 110)) << "longer lines are not read";
}

/// Two devices, each with enough for its own half of the case.
class ScarceMemoryTest : public EstimateTest {
 protected:
  static constexpr std::size_t half = Context::alignment + 1024;  // a counter and scratch
  Context context_ = test::fake_context(2, {.measures = false});
};

TEST_F(ScarceMemoryTest, IsTheSumOfDevicesThatShareIt) {
  for (int i = 0; i < 2; ++i) test::fake(context_, i).available = {"one for both", half};
  const RunEstimate run = estimate_of("parallel", context_);
  ASSERT_THAT(run.cases, SizeIs(1));
  const std::vector<std::size_t>& needed = run.cases[0].device_bytes;
  ASSERT_THAT(needed, ElementsAre(Lt(half), Lt(half)));
  EXPECT_EQ(run.cases[0].error, OutOfMemory("one for both", needed[0] + needed[1], half).what());
  EXPECT_EQ(run.min_seconds, 0) << "a run skips the case";
  EXPECT_THAT(text_of(context_, run), HasSubstr("; cannot run: out of memory on one for both"));
}

TEST_F(ScarceMemoryTest, IsThatOfEachDeviceWithItsOwn) {
  test::fake(context_, 0).available = {"the first", half};
  test::fake(context_, 1).available = {"the second", 100};
  const RunEstimate run = estimate_of("parallel", context_);
  ASSERT_THAT(run.cases, SizeIs(1));
  EXPECT_EQ(run.cases[0].error,
            OutOfMemory("the second", run.cases[0].device_bytes.at(1), 100).what());
}

/// Cases that are small beside their reference.
class LargeReference : public fake::FakeScenario {
 public:
  LargeReference() {
    reference_strategy = "reference";
    for (const char* strategy : {"reference", "first", "second"}) behaviours[strategy] = {};
  }
  [[nodiscard]] std::unique_ptr<Case> prepare(const CaseSpec& spec,
                                              Context& context) const override {
    const std::size_t blocks = spec.strategy == reference_strategy ? 10 : 1;
    (void)context.borrow(0, blocks * Context::alignment);
    return FakeScenario::prepare(spec, context);
  }
};

TEST(EstimateOfReferences, NamesOneThatFindsTooLittleMemory) {
  LargeReference scenario;
  Context context = test::fake_context(1, {.measures = false});
  test::fake(context, 0).available = {"the host", 5 * Context::alignment};
  std::vector<CaseSpec> specs{fake::FakeScenario::spec("first"),
                              fake::FakeScenario::spec("second")};
  specs[1].graph = true;  // compared with what is not captured
  const RunEstimate run = estimate(scenario, context, specs, SamplerOptions{});
  ASSERT_THAT(run.cases, SizeIs(2));
  for (const CaseEstimate& estimated : run.cases) {
    EXPECT_THAT(estimated.device_bytes, ElementsAre(Lt(5 * Context::alignment)));
    EXPECT_THAT(estimated.error, HasSubstr("its reference fake/reference/n:1: out of memory"));
  }
  EXPECT_EQ(run.min_seconds, 0) << "a run skips the cases";
  EXPECT_EQ(scenario.count("prepare fake/reference/n:1"), 1U);
}

TEST(EstimateOfReferences, LetsThoseThatFitBe) {
  LargeReference scenario;
  Context context = test::fake_context(1, {.measures = false});
  test::fake(context, 0).available = {"the host", 20 * Context::alignment};
  const std::vector<CaseSpec> specs{fake::FakeScenario::spec("reference"),
                                    fake::FakeScenario::spec("first")};
  for (const CaseEstimate& estimated : estimate(scenario, context, specs, SamplerOptions{}).cases) {
    EXPECT_EQ(estimated.error, "");
  }
}

TEST(EstimateOfGraphs, NamesCasesThatARunCannotCapture) {
  fake::FakeScenario scenario;
  scenario.behaviours["threads"].submit = SubmitMode::thread_per_lane;
  scenario.behaviours["two"].devices = {0, 1};
  scenario.behaviours["one"] = {};
  const auto context = fake::make_context(fake::make_devices({"fake", "strange"}));
  std::vector<CaseSpec> specs{fake::FakeScenario::spec("threads"), fake::FakeScenario::spec("two"),
                              fake::FakeScenario::spec("one")};
  for (CaseSpec& spec : specs) spec.graph = true;
  const RunEstimate run = estimate(scenario, *context, specs, SamplerOptions{});
  ASSERT_THAT(run.cases, SizeIs(3));
  EXPECT_THAT(run.cases[0].error, HasSubstr("which one thread launches"));
  EXPECT_THAT(run.cases[1].error, HasSubstr("work of one backend"));
  EXPECT_EQ(run.cases[2].error, "");
  for (const CaseEstimate& estimated : run.cases) {
    EXPECT_THAT(estimated.device_bytes, SizeIs(2)) << estimated.name;
  }
}

}  // namespace
}  // namespace parbench
