// Scenario matmul: its plans, its verification, what it refuses and what it answers.
#include "scenarios/framework/requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "kernels/base/error.h"
#include "reports/text/text.h"
#include "scenarios/framework/built_in.h"
#include "tests/scenarios/answers/rivals.h"
#include "tests/scenarios/fake_device.h"
#include "tests/scenarios/plan_checks.h"

namespace parbench::test {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::vector<Parameter> tiny_products = {{"n", 7}, {"count", 3}};

class MatmulTest : public testing::TestWithParam<int> {
 public:
  std::unique_ptr<Scenario> scenario = make_matmul();
};

INSTANTIATE_TEST_SUITE_P(Devices, MatmulTest, testing::Values(2, 3));

TEST_P(MatmulTest, EveryStrategyIsRightAndFreeOfRaces) {
  const int devices = GetParam();
  Context context = fake_context(devices);
  for (const Strategy& strategy : scenario->strategies()) {
    const CaseSpec spec = spec_of(*scenario, strategy.name, tiny_products, devices);
    const auto subject = ready_case(*scenario, spec, context);
    EXPECT_TRUE(races(subject->plan()).empty()) << strategy.name;
    EXPECT_TRUE(subject->check()) << strategy.name << ": wrong before it ran, and not found";
    run_in_order(subject->plan());
    EXPECT_EQ(subject->check(), std::nullopt) << strategy.name;
    const auto reference_spec = parbench::reference_of(*scenario, spec);
    if (!reference_spec) continue;
    const auto outputs = subject->outputs();
    const std::vector<float> got = all_outputs(*subject);
    const auto reference = ready_case(*scenario, *reference_spec, context);
    run_in_order(reference->plan());
    ASSERT_EQ(reference->outputs().size(), outputs.size()) << strategy.name;
    EXPECT_EQ(reference->outputs().front().name, outputs.front().name);
    const std::vector<float> want = all_outputs(*reference);
    ASSERT_EQ(got.size(), want.size()) << strategy.name;
    for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-5) << i;
  }
}

TEST_P(MatmulTest, ComparableStrategiesDoTheSameWork) {
  const int devices = GetParam();
  Context context = fake_context(devices);
  const double flops = 2.0 * 7 * 7 * 7 * 3 * devices;
  for (const Strategy& strategy : scenario->strategies()) {
    const CaseSpec spec = spec_of(*scenario, strategy.name, tiny_products, devices);
    const auto subject = ready_case(*scenario, spec, context);
    const bool one_device = strategy.name == "alone" || strategy.name == "streams";
    const double expected = one_device ? flops / devices : flops;
    EXPECT_DOUBLE_EQ(subject->amount().value, expected) << strategy.name;
    if (strategy.name != "row-sharded") {  // whose additions are work too
      EXPECT_DOUBLE_EQ(subject->plan().graph().work().flops, expected) << strategy.name;
    }
  }
}

TEST_P(MatmulTest, SequentialTakesTheDevicesInTurn) {
  const int devices = GetParam();
  Context context = fake_context(devices);
  const auto in_turn =
      ready_case(*scenario, spec_of(*scenario, "sequential", tiny_products, devices), context);
  const Plan& plan = in_turn->plan();
  EXPECT_TRUE(
      is_ordered(plan, task_named(plan, "product 2 on 0"), task_named(plan, "product 0 on 1")));
  const auto at_once =
      ready_case(*scenario, spec_of(*scenario, "concurrent", tiny_products, devices), context);
  EXPECT_FALSE(is_ordered(at_once->plan(), task_named(at_once->plan(), "product 2 on 0"),
                          task_named(at_once->plan(), "product 0 on 1")));
}

TEST_P(MatmulTest, ShardedProductsOverlapWithCommunication) {
  const int devices = GetParam();
  Context context = fake_context(devices);
  for (const char* strategy : {"column-sharded", "row-sharded"}) {
    const auto subject =
        ready_case(*scenario, spec_of(*scenario, strategy, tiny_products, devices), context);
    const Plan& plan = subject->plan();
    int communication = 0;
    for (const Task& task : plan.graph().tasks) {
      if (task.kind != TaskKind::communication) continue;
      ++communication;
      if (task.name.starts_with("product 0")) {
        EXPECT_FALSE(
            is_ordered(plan, task_named(plan, task.name), task_named(plan, "product 1 on 0")))
            << strategy << ": " << task.name;
      }
    }
    const int steps = devices * (devices - 1);
    EXPECT_EQ(communication, 3 * devices * (strategy[0] == 'c' ? steps : 3 * steps)) << strategy;
  }
}

TEST_P(MatmulTest, StreamsDealOutTheProductsOfOneDevice) {
  Context context = fake_context(GetParam());
  const CaseSpec spec =
      spec_of(*scenario, "streams", {{"n", 7}, {"count", 3}, {"streams", 2}}, GetParam());
  EXPECT_EQ(spec.name(), "matmul/streams/n:7/count:3/streams:2");
  const auto subject = ready_case(*scenario, spec, context);
  ASSERT_EQ(subject->plan().graph().lanes.size(), 2);
  EXPECT_EQ(subject->plan().graph().tasks[1].lanes.front(), 1);
  EXPECT_EQ(subject->plan().graph().tasks[2].lanes.front(), 0);
  EXPECT_EQ(scenario->reference(spec)->name(), "matmul/alone/n:7/count:3/device:0");
}

TEST_P(MatmulTest, EveryShareOfTheWorkHasItsBaseline) {
  const int devices = GetParam();
  const auto spec = [&](const std::string& strategy) {
    return spec_of(*scenario, strategy, {{"n", 7}, {"count", 3}, {"streams", 2}}, devices);
  };
  CaseSpec second = spec("alone");
  second.parameters.set("device", std::int64_t{1});
  EXPECT_TRUE(scenario->comparable(spec("streams")));
  EXPECT_TRUE(scenario->is_baseline_of(spec("alone"), spec("streams")));
  EXPECT_FALSE(scenario->is_baseline_of(second, spec("streams")));
  EXPECT_FALSE(scenario->is_baseline_of(spec("sequential"), spec("streams")));
  EXPECT_TRUE(scenario->is_baseline_of(spec("sequential"), spec("concurrent")));
  EXPECT_FALSE(scenario->is_baseline_of(spec("alone"), spec("concurrent")));
  EXPECT_EQ(scenario->baseline_strategy_of(spec("concurrent")), "sequential");
  EXPECT_EQ(scenario->baseline_strategy_of(spec("streams")), "alone");
  EXPECT_FALSE(scenario->comparable(spec("alone")));
}

TEST_P(MatmulTest, ShardedResultsAreAsManyAsInTheOtherStrategies) {
  const int devices = GetParam();
  Context context = fake_context(devices);
  const auto results_of = [&](const std::string& strategy) {
    const auto subject =
        ready_case(*scenario, spec_of(*scenario, strategy, tiny_products, devices), context);
    std::set<std::pair<const Buffer*, std::size_t>> addresses;
    for (std::size_t i = 0; i < subject->plan().calls().size(); ++i) {
      const Task& task = subject->plan().graph().tasks[i];
      const auto* op = std::get_if<OpCall>(&subject->plan().calls()[i].front());
      if (op == nullptr || op->op->name() != "gemm") continue;
      if (task.name.ends_with(" on 0")) addresses.emplace(op->views[2].buffer, op->views[2].offset);
    }
    return addresses.size();
  };
  EXPECT_EQ(results_of("sequential"), 3);
  EXPECT_EQ(results_of("column-sharded"), 3);
  EXPECT_EQ(results_of("row-sharded"), 3);
}

TEST_P(MatmulTest, ShardedProductsThatFollowEachOtherDiffer) {
  const int devices = GetParam();
  Context context = fake_context(devices);
  for (const std::int64_t count : {1, 2, 3, 4, 6}) {
    const auto subject = ready_case(
        *scenario, spec_of(*scenario, "column-sharded", {{"n", 7}, {"count", count}}, devices),
        context);
    std::map<std::size_t, std::size_t> operand_in;  // by result, the latest
    std::optional<std::size_t> before;
    for (std::size_t i = 0; i < subject->plan().calls().size(); ++i) {
      const Task& task = subject->plan().graph().tasks[i];
      if (!task.name.ends_with(" on 0")) continue;
      const auto& product = std::get<OpCall>(subject->plan().calls()[i].front());
      const std::size_t operand = product.views[0].offset;
      const std::size_t result = product.views[2].offset;
      EXPECT_NE(before, operand) << task.name << " of " << count;
      if (operand_in.contains(result)) {
        EXPECT_NE(operand_in[result], operand) << task.name << " of " << count;
      }
      before = operand_in[result] = operand;
    }
    run_in_order(subject->plan());
    EXPECT_EQ(subject->check(), std::nullopt) << count;
  }
}

// The last product of each result is checked, and all that its collective does.
TEST_P(MatmulTest, ASkippedTaskOfAShardedProductIsFound) {
  const int devices = GetParam();
  Context context = fake_context(devices);
  const int last_turn = 3 * devices - 3;
  for (const char* strategy : {"column-sharded", "row-sharded"}) {
    const CaseSpec spec = spec_of(*scenario, strategy, tiny_products, devices);
    const std::size_t tasks = ready_case(*scenario, spec, context)->plan().graph().tasks.size();
    int left_out = 0;
    for (std::size_t skipped = 0; skipped < tasks; ++skipped) {
      const auto subject = ready_case(*scenario, spec, context);
      const Plan partial = without_calls_of(subject->plan(), skipped);
      const std::string& name = partial.graph().tasks[skipped].name;
      if (std::stoi(name.substr(std::string("product ").size())) < last_turn) continue;
      run_in_order(subject->plan());  // what it leaves must not pass for what is missing
      run_in_order(partial);
      EXPECT_TRUE(subject->check()) << strategy << " without " << name;
      ++left_out;
    }
    EXPECT_GE(left_out, 3 * devices);
  }
}

struct MatmulRequests : testing::Test {
  std::unique_ptr<Scenario> scenario = make_matmul();
  Scenario::Request request;

  std::string refusal() {
    try {
      (void)requested_case(*scenario, request);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "was accepted";
  }
};

TEST_F(MatmulRequests, ADeviceThatIsNotThere) {
  request.spec = spec_of(*scenario, "alone", tiny_products, 2);
  request.spec.parameters.set("device", std::int64_t{2});
  request.device_count = 2;
  EXPECT_EQ(requested_case(*scenario, request), std::nullopt);
  request.given = {"device"};
  EXPECT_THAT(refusal(), HasSubstr("--device 2 does not exist"));
}

TEST_F(MatmulRequests, MoreStreamsThanProducts) {
  request.spec = spec_of(*scenario, "streams", tiny_products, 1);
  request.spec.parameters.set("streams", std::int64_t{4});
  EXPECT_EQ(requested_case(*scenario, request), std::nullopt);
  request.given = {"streams"};
  EXPECT_THAT(refusal(), HasSubstr("--streams 4 is more than the 3 products"));
}

TEST_F(MatmulRequests, StrategiesThatNeedTwoDevices) {
  for (const char* strategy : {"concurrent", "column-sharded", "row-sharded"}) {
    request.spec = spec_of(*scenario, strategy, tiny_products, 2);
    request.device_count = 1;
    EXPECT_EQ(requested_case(*scenario, request), std::nullopt) << strategy;
  }
}

TEST_F(MatmulRequests, AMatrixTooSmallToDivide) {
  request.spec = spec_of(*scenario, "row-sharded", tiny_products, 2);
  request.spec.parameters.set("n", std::int64_t{2});
  request.device_count = 3;
  request.given = {"n"};
  EXPECT_THAT(refusal(), HasSubstr("--n 2 cannot be divided between 3 devices"));
}

TEST_F(MatmulRequests, RowShardedNeedsF32) {
  Context context = fake_context(2);
  CaseSpec spec = spec_of(*scenario, "row-sharded", tiny_products, 2);
  spec.dtype = DType::bf16;
  EXPECT_THROW((void)scenario->prepare(spec, context), Unsupported);
}

struct MatmulAnswer : MatmulRequests {
  [[nodiscard]] CaseOutcome outcome(const std::string& strategy, double seconds, double speedup,
                                    std::int64_t n = 64) const {
    CaseOutcome one;
    one.spec = spec_of(*scenario, strategy, {{"n", n}, {"count", 10}, {"streams", 2}}, 2);
    one.median_seconds = seconds;
    if (speedup > 0) one.speedup = {speedup, Interval{speedup - 0.01, speedup + 0.01, 0.97}};
    return one;
  }
};

TEST_F(MatmulAnswer, BothQuestionsAndTheirSettings) {
  const std::vector<CaseOutcome> outcomes{outcome("alone", 1.0, 0),
                                          outcome("sequential", 2.0, 0),
                                          outcome("concurrent", 1.02, 1.96),
                                          outcome("streams", 0.8, 1.24),
                                          outcome("column-sharded", 1.1, 1.8),
                                          outcome("row-sharded", 1.3, 1.5)};
  const Conclusion made = scenario->answer(outcomes, within(0));
  EXPECT_EQ(made.text,
            "Use concurrent: 1.96× as fast as one device after the other (1.95–1.97). Use 2 "
            "streams: 1.24× "
            "as fast as one stream (1.23–1.25).");
  ASSERT_EQ(made.recommendations.size(), 2);
  EXPECT_EQ(made.recommendations[0].setting, "several devices");
  EXPECT_EQ(made.recommendations[1].setting, "streams");
  const Conclusion one_case = scenario->answer({outcome("alone", 1.0, 0)}, within(0));
  EXPECT_EQ(one_case.text, "Not decided: too little was measured to compare.");
  EXPECT_FALSE(one_case.is_answered);
}

/// Both whole answers of several settings would take more than three lines.
TEST_F(MatmulAnswer, AnswersBothQuestionsWhateverTheirLength) {
  std::vector<CaseOutcome> outcomes;
  for (const std::int64_t n : {64, 128}) {
    for (const auto& [strategy, speedup] :
         {std::pair("alone", 0.0), std::pair("sequential", 0.0), std::pair("concurrent", 1.9),
          std::pair("streams", 1.2)}) {
      outcomes.push_back(outcome(strategy, 1, speedup, n));
      auto& gain = outcomes.back().speedup;
      if (gain) gain->interval = Interval{gain->value - 0.1, gain->value + 0.1, 0.5};
    }
  }
  EXPECT_EQ(scenario->answer(outcomes, within(0)).text,
            "Several devices may pay at every setting that was compared. Streams on one device may "
            "pay at every setting that was compared; largest recommended gain: 2 streams at n 64, "
            "1.20× as fast as one stream (1.10–1.30 at 50% confidence); more samples are needed to "
            "show it with 95% confidence.");
}

TEST_F(MatmulAnswer, SaysWhichQuestionLacksABaseline) {
  const std::vector<CaseOutcome> devices{outcome("sequential", 2.0, 0),
                                         outcome("concurrent", 1.02, 1.96)};
  const std::string pays =
      "Use concurrent: 1.96× as fast as one device after the other (1.95–1.97).";
  std::vector<CaseOutcome> cases = devices;
  cases.push_back(outcome("streams", 0.8, 0));
  EXPECT_EQ(scenario->answer(cases, within(0)).text,
            pays + " Streams on one device: not decided, as one stream was not measured.");
  EXPECT_EQ(scenario->answer(devices, within(0)).text, pays) << "without a case of streams";
  const Conclusion none =
      scenario->answer({outcome("concurrent", 1.02, 0), outcome("streams", 0.8, 0)}, within(0));
  EXPECT_EQ(
      none.text,
      "Several devices: not decided, as one device after the other was not measured. Streams on "
      "one device: not decided, as one stream was not measured.");
  EXPECT_FALSE(none.is_answered);
  EXPECT_EQ(scenario
                ->answer({outcome("sequential", 2.0, 0), outcome("alone", 1.0, 0),
                          outcome("streams", 0.8, 1.25)},
                         within(0))
                .text,
            "Use 2 streams: 1.25× as fast as one stream (1.24–1.26). Several devices: not "
            "decided, only one device after the other was measured.");
}

/// With an interval of its median, as a share of it to both sides.
CaseOutcome within_share(CaseOutcome one, double share, double confidence = 0.97) {
  one.interval =
      Interval{(1 - share) * one.median_seconds, (1 + share) * one.median_seconds, confidence};
  return one;
}

TEST_F(MatmulAnswer, RemarksOnABaselineThatIsSlowerThanItsParts) {
  const CaseOutcome first = within_share(outcome("alone", 1.0, 0), 0.02);
  CaseOutcome second = first;
  second.spec.parameters.set("device", std::int64_t{1});
  const CaseOutcome concurrent = outcome("concurrent", 1.5, 1.6);
  const auto made = [&](const CaseOutcome& in_turn) {
    return scenario->answer({first, second, in_turn, concurrent}, within(0));
  };
  const Conclusion slow = made(within_share(outcome("sequential", 2.4, 0), 0.02));
  EXPECT_EQ(slow.text,
            "Use concurrent: 1.60× as fast as one device after the other (1.59–1.61). One device "
            "after the other takes 20% longer than the same products alone, which overstates the "
            "gain by as much.");
  ASSERT_FALSE(slow.recommendations.empty());
  EXPECT_EQ(slow.recommendations.front().remark, "1.33× over the products alone");
  for (const CaseOutcome& in_turn :
       {outcome("sequential", 2.4, 0), within_share(outcome("sequential", 2.4, 0), 0.02, 0.5),
        within_share(outcome("sequential", 2.4, 0), 0.2),
        within_share(outcome("sequential", 2.1, 0), 0.02)}) {
    EXPECT_THAT(made(in_turn).text, Not(HasSubstr("products alone"))) << "perhaps below 5%";
    EXPECT_EQ(made(in_turn).recommendations.front().remark, "");
  }
  for (const double seconds : {2.05, 9.0}) {
    const CaseOutcome in_turn = within_share(outcome("sequential", seconds, 0), 0.02);
    EXPECT_THAT(scenario->answer({first, in_turn, concurrent}, within(0)).text,
                Not(HasSubstr("products alone")))
        << "the second device was not measured alone";
  }
}

TEST_F(MatmulAnswer, RemarksOnNoBaselineBesideNoVerdict) {
  const CaseOutcome first = within_share(outcome("alone", 1.0, 0), 0.02);
  CaseOutcome second = first;
  second.spec.parameters.set("device", std::int64_t{1});
  CaseOutcome concurrent = outcome("concurrent", 1.5, 1.6);
  concurrent.load = 0.5;
  concurrent.min_speedup = Ratio{0.8, Interval{0.79, 0.81, 0.97}, ""};
  concurrent.max_speedup = Ratio{3.2, Interval{3.1, 3.3, 0.97}, ""};
  const std::string text =
      scenario
          ->answer({first, second, within_share(outcome("sequential", 2.4, 0), 0.02), concurrent},
                   within(0))
          .text;
  EXPECT_THAT(text, testing::StartsWith("No verdict: "));
  EXPECT_THAT(text, Not(HasSubstr("products alone")));
}

TEST_F(MatmulAnswer, NamesTheSettingOfTheLargestGain) {
  const CaseOutcome in_turn = outcome("sequential", 1.2, 0, 128);
  const CaseOutcome concurrent = outcome("concurrent", 0.6, 2, 128);
  const CaseOutcome small = outcome("sequential", 1, 0);
  const Conclusion made = scenario->answer(
      {small, outcome("concurrent", 1.01, 0.995), in_turn, concurrent}, within(0.02));
  EXPECT_EQ(
      made.text,
      "At n 128, use concurrent: 2.00× as fast as one device after the other (1.99–2.01). Several "
      "devices show no gain at n 64: use one device after the other.");
  EXPECT_EQ(made.recommendations[1].setting, "several devices, n 128");
  EXPECT_EQ(
      scenario->answer({small, in_turn, concurrent}, within(0)).text,
      "At n 128, use concurrent: 2.00× as fast as one device after the other (1.99–2.01). At n 64 "
      "there was nothing to compare with.");
}

TEST_F(MatmulAnswer, LeavesFiguresOfSeveralSettingsWithoutAGainToTheTable) {
  const std::vector<CaseOutcome> cases{outcome("sequential", 1, 0), outcome("concurrent", 2, 0.5),
                                       outcome("sequential", 1, 0, 128),
                                       outcome("concurrent", 2, 0.5, 128)};
  EXPECT_EQ(scenario->answer(cases, within(0)).text,
            "Several devices do not pay at any setting that was compared; use one device after the "
            "other.");
}

TEST_F(MatmulAnswer, RemarksOnMoreThanTheDevicesCanGive) {
  const CaseOutcome in_turn = outcome("sequential", 1.25, 0);
  EXPECT_THAT(scenario->answer({in_turn, outcome("concurrent", 0.5, 2.5)}, within(0)).text,
              testing::EndsWith("This is more than 2 devices can give; likely cause: the baseline "
                                "was disturbed."));
  EXPECT_THAT(scenario->answer({in_turn, outcome("column-sharded", 0.5, 2.5)}, within(0)).text,
              testing::EndsWith("likely cause: smaller pieces fit the caches, or the baseline was "
                                "disturbed."));
}

TEST_F(MatmulAnswer, AGainThatIsNotShownIsExpected) {
  CaseOutcome concurrent = outcome("concurrent", 1.0, 1.05);
  concurrent.speedup->interval = Interval{1.02, 2.20, 0.97};
  EXPECT_EQ(scenario->answer({outcome("sequential", 1.05, 0), concurrent}, within(0.1)).text,
            "Use concurrent: 1.05× as fast as one device after the other (1.02–2.20).");
  concurrent.speedup->interval = Interval{0.98, 2.20, 0.97};
  EXPECT_EQ(
      scenario->answer({outcome("sequential", 1.05, 0), concurrent}, within(0.1)).text,
      "Use concurrent: 1.05× as fast as one device after the other (0.98–2.20); the interval "
      "includes 1: more samples are needed to show a gain. More samples may show one device after "
      "the other to be faster.");
  EXPECT_EQ(
      scenario->answer({outcome("sequential", 1, 0), outcome("concurrent", 2, 0.5)}, within(0))
          .text,
      "Use one device after the other: several devices do not pay; concurrent: 0.50× as fast "
      "(0.49–0.51).");
}

TEST_F(MatmulAnswer, HasThreeLinesAtMostWhateverWasMeasured) {
  constexpr std::size_t width = 98;  // of 100, after "→ "
  const std::vector<double> speedups{0, 0.5, 1.0, 1.96, 2.5};
  for (std::size_t choice = 0; choice < speedups.size() * speedups.size(); ++choice) {
    std::vector<CaseOutcome> cases;
    for (std::int64_t n = 64; n <= 65536; n *= 2) {
      const auto at = static_cast<std::size_t>(n);
      const double devices = speedups[(choice + at / 64) % speedups.size()];
      const double streams = speedups[(choice / speedups.size() + at / 128) % speedups.size()];
      cases.push_back(outcome("alone", 1.0, 0, n));
      cases.push_back(outcome("sequential", 2.4, 0, n));
      cases.push_back(outcome("concurrent", 1.2, devices, n));
      cases.push_back(outcome("column-sharded", 1.3, devices / 2, n));
      cases.push_back(outcome("streams", 0.8, streams, n));
      CaseOutcome second = outcome("alone", 1.0, 0, n);
      second.spec.parameters.set("device", std::int64_t{1});
      cases.push_back(second);
    }
    const std::string text = scenario->answer(cases, within(0)).text;
    EXPECT_LE(report::wrapped(text, width).size(), 3) << text;
  }
}

}  // namespace
}  // namespace parbench::test
