// Scenario branch: its plans, its verification, what it refuses and what it answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/base/error.h"
#include "scenarios/framework/built_in.h"
#include "scenarios/framework/requests.h"
#include "tests/scenarios/answers/rivals.h"
#include "tests/scenarios/fake_device.h"
#include "tests/scenarios/plan_checks.h"

namespace parbench::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::string speed_over_graph = "speed over graph-one-stream";

const std::vector<Parameter> tiny_branch = {
    {"batch", 2}, {"channels", 3}, {"image", 5}, {"branches", 4}};

std::vector<Parameter> tiny_with(const std::string& name, std::int64_t value) {
  std::vector<Parameter> values = tiny_branch;
  values.push_back({name, value});
  return values;
}

struct BranchTest : testing::Test {
  std::unique_ptr<Scenario> scenario = make_branch();
  Context context = fake_context(1);

  std::unique_ptr<Case> ready(const std::string& strategy, std::int64_t streams = 2) {
    const auto values = strategy.ends_with("streams") ? tiny_with("streams", streams) : tiny_branch;
    return ready_case(*scenario, spec_of(*scenario, strategy, values), context);
  }
};

TEST_F(BranchTest, NamesShowAllAxes) {
  const CaseSpec spec = spec_of(*scenario, "streams", tiny_with("streams", 4));
  EXPECT_EQ(spec.name(), "branch/streams/batch:2/channels:3/image:5/branches:4/streams:4");
}

TEST_F(BranchTest, ChainIsOneChainAndBranchesAreFree) {
  const auto chain = ready("chain");
  EXPECT_EQ(chain->plan().graph().lanes.size(), 1);
  EXPECT_EQ(chain->plan().graph().tasks.size(), 4);

  const auto streams = ready("streams", 3);
  ASSERT_EQ(streams->plan().graph().lanes.size(), 3);
  EXPECT_EQ(streams->plan().graph().tasks[0].lanes.front(), 0);
  EXPECT_EQ(streams->plan().graph().tasks[2].lanes.front(), 2);
  EXPECT_EQ(streams->plan().graph().tasks[3].lanes.front(), 0);
  for (const Task& task : streams->plan().graph().tasks) EXPECT_TRUE(task.after.empty());

  const auto threads = ready("threads");
  EXPECT_EQ(threads->plan().graph().lanes.size(), 4);
  EXPECT_EQ(threads->plan().graph().submit, SubmitMode::thread_per_lane);
  EXPECT_EQ(streams->plan().graph().submit, SubmitMode::one_thread);

  for (const std::string arrangement : {"chain", "one-stream", "streams"}) {
    const auto plain = ready(arrangement, 3);
    const auto graph = ready("graph-" + arrangement, 3);
    EXPECT_EQ(graph->plan().graph().submit, SubmitMode::graph) << arrangement;
    EXPECT_EQ(plain->plan().graph().submit, SubmitMode::one_thread) << arrangement;
    EXPECT_EQ(graph->plan().graph().lanes.size(), plain->plan().graph().lanes.size())
        << arrangement;
    EXPECT_EQ(graph->plan().graph().tasks.size(), plain->plan().graph().tasks.size())
        << arrangement;
  }

  EXPECT_EQ(ready("merged")->plan().graph().tasks.size(), 1);
  EXPECT_EQ(ready("grouped")->plan().graph().tasks.size(), 1);
}

TEST_F(BranchTest, AllStrategiesDoTheSameWork) {
  const double flops = ready("one-stream")->plan().graph().work().flops;
  EXPECT_DOUBLE_EQ(flops, 4 * 2 * 5 * 5 * 3 * (2.0 * 3 * 9 + 1)) << "products and bias";
  for (const Strategy& strategy : scenario->strategies()) {
    const auto subject = ready(strategy.name);
    EXPECT_DOUBLE_EQ(subject->plan().graph().work().flops, flops) << strategy.name;
    EXPECT_DOUBLE_EQ(subject->amount().value, flops) << strategy.name;
    EXPECT_TRUE(races(subject->plan()).empty()) << strategy.name;
  }
}

TEST_F(BranchTest, AllStrategiesButChainGiveTheSameOutputs) {
  const auto baseline = ready("one-stream");
  run_in_order(baseline->plan());
  const std::vector<float> want = all_outputs(*baseline);
  ASSERT_EQ(want.size(), 2 * 4 * 3 * 5 * 5);
  EXPECT_EQ(baseline->check(), std::nullopt);
  for (const char* strategy :
       {"streams", "threads", "merged", "grouped", "graph-one-stream", "graph-streams"}) {
    const auto subject = ready(strategy);
    run_in_order(subject->plan());
    EXPECT_EQ(subject->check(), std::nullopt) << strategy;
    const std::vector<float> got = all_outputs(*subject);
    ASSERT_EQ(got.size(), want.size()) << strategy;
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_NEAR(got[i], want[i], 1e-5) << strategy << " at " << i;
    }
  }
}

TEST_F(BranchTest, ChainIsCheckedLayerByLayer) {
  const auto chain = ready("chain");
  run_in_order(chain->plan());
  EXPECT_EQ(chain->check(), std::nullopt);
  EXPECT_FALSE(scenario->reference(spec_of(*scenario, "chain", tiny_branch)));
}

TEST_F(BranchTest, ABranchThatDoesNotRunIsFound) {
  for (const char* strategy : {"one-stream", "chain", "streams", "merged", "grouped"}) {
    const auto subject = ready(strategy);
    run_in_order(without_calls_of(subject->plan(), subject->plan().calls().size() - 1));
    EXPECT_TRUE(subject->check()) << strategy;
  }
}

TEST_F(BranchTest, TheReferenceIsOneStreamOfTheSameSize) {
  const CaseSpec spec = spec_of(*scenario, "streams", tiny_with("streams", 4));
  EXPECT_EQ(scenario->reference(spec)->name(),
            "branch/one-stream/batch:2/channels:3/image:5/branches:4");
  const CaseSpec graph = spec_of(*scenario, "graph-one-stream", tiny_branch);
  EXPECT_EQ(scenario->reference(graph)->name(), scenario->reference(spec)->name());
  EXPECT_TRUE(scenario->is_baseline_of(*scenario->reference(graph), graph));
}

TEST_F(BranchTest, AGraphOfAChainIsComparedWithTheChain) {
  EXPECT_EQ(scenario->reference(spec_of(*scenario, "graph-chain", tiny_branch))->name(),
            "branch/chain/batch:2/channels:3/image:5/branches:4");
}

TEST_F(BranchTest, StrategiesThatSayHowTheyAreLaunchedAreNoPartOfARunWithGraphs) {
  for (const Strategy& strategy : scenario->strategies()) {
    Scenario::Request request;
    const auto values = strategy.name.ends_with("streams") ? tiny_with("streams", 2) : tiny_branch;
    request.spec = spec_of(*scenario, strategy.name, values);
    request.spec.graph = true;
    const bool says = strategy.name == "threads" || strategy.name.starts_with("graph-");
    EXPECT_EQ(requested_case(*scenario, request).has_value(), !says) << strategy.name;
    request.given = {"strategy"};
    if (!says) continue;
    EXPECT_THAT([&] { (void)requested_case(*scenario, request); },
                testing::ThrowsMessage<UsageError>(HasSubstr("--strategy " + strategy.name)));
  }
}

TEST_F(BranchTest, MoreStreamsThanBranches) {
  Scenario::Request request;
  request.spec = spec_of(*scenario, "streams", tiny_with("streams", 4));
  request.spec.parameters.set("streams", std::int64_t{5});
  EXPECT_EQ(requested_case(*scenario, request), std::nullopt);
  request.given = {"branches"};
  EXPECT_EQ(requested_case(*scenario, request), std::nullopt);
  request.given = {"streams"};
  try {
    (void)requested_case(*scenario, request);
    FAIL() << "was accepted";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("--streams 5 is more than the 4 branches"));
  }
}

TEST_F(BranchTest, SizesThatNoProcessCanHold) {
  const auto refusal = [&](const std::string& strategy, std::int64_t batch, std::int64_t channels,
                           std::int64_t image) -> std::string {
    Scenario::Request request;
    request.spec = spec_of(*scenario, strategy, tiny_branch);
    request.spec.parameters.set("batch", batch);
    request.spec.parameters.set("channels", channels);
    request.spec.parameters.set("image", image);
    request.given = {"batch"};
    try {
      (void)requested_case(*scenario, request);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "was accepted";
  };
  for (const Strategy& strategy : scenario->strategies()) {
    // 2^62 elements an output: beyond 64 bits in bytes.
    EXPECT_THAT(refusal(strategy.name, 65536, 16384, 65536),
                HasSubstr("--batch 65536 --channels 16384 --image 65536 --branches 4 make"));
    EXPECT_THAT(refusal(strategy.name, 65536, 65536, 65536), HasSubstr("use smaller values"));
    EXPECT_EQ(refusal(strategy.name, 65536, 16, 128), "was accepted");
  }
}

CaseOutcome outcome(const std::string& strategy, std::int64_t image, double value, double low,
                    double high) {
  CaseOutcome outcome;
  outcome.spec.scenario = "branch";
  outcome.spec.strategy = strategy;
  for (const auto& [name, number] : {std::pair{"batch", std::int64_t{1}},
                                     {"channels", 16},
                                     {"image", image},
                                     {"branches", 20}}) {
    outcome.spec.parameters.set(name, std::int64_t{number});
  }
  if (strategy.ends_with("streams")) outcome.spec.parameters.set("streams", std::int64_t{2});
  outcome.speedup = {value, Interval{low, high, 0.97}};
  CaseSpec baseline = outcome.spec;
  baseline.strategy = "one-stream";
  baseline.parameters = {};
  for (const Parameter& one : outcome.spec.parameters) {
    if (one.name != "streams") baseline.parameters.set(one.name, one.value);
  }
  outcome.speedup->baseline = baseline.name();
  outcome.median_seconds = 1 / value;
  return outcome;
}

CaseOutcome one_stream(std::int64_t image) {
  CaseOutcome base = outcome("one-stream", image, 1, 1, 1);
  base.speedup.reset();
  return base;
}

TEST_F(BranchTest, AnswersWithTheSizeBelowWhichItPays) {
  const Conclusion made = scenario->answer(
      {one_stream(8), one_stream(32), one_stream(128), outcome("streams", 128, 0.99, 0.97, 1.01),
       outcome("merged", 8, 1.5, 1.4, 1.6), outcome("streams", 8, 2.0, 1.9, 2.1),
       outcome("streams", 32, 1.2, 1.1, 1.3), outcome("chain", 8, 9.0, 8.0, 10.0)},
      within(0));
  EXPECT_EQ(
      made.text,
      "Running the branches together pays from 4.73 MFLOP a layer down; above that it shows no "
      "gain. Streams alone pay at 2 sizes and show no gain at image 128.");
  ASSERT_EQ(made.recommendations.size(), 3);
  EXPECT_EQ(made.recommendations[0].setting, "image 8");
  EXPECT_EQ(made.recommendations[0].candidates.front().label, "2 streams");
  EXPECT_EQ(made.recommendations[2].candidates.front().label, "one stream");
}

TEST_F(BranchTest, SettingsOfOneSizeHaveNoLimit) {
  const auto with_branches = [](CaseOutcome one, std::int64_t branches) {
    one.spec.parameters.set("branches", branches);
    one.speedup.reset();
    return one;
  };
  CaseOutcome few = with_branches(outcome("streams", 8, 1, 1, 1), 2);
  few.speedup = {0.99, Interval{0.97, 1.01, 0.97}};
  EXPECT_EQ(
      scenario
          ->answer({one_stream(8), outcome("streams", 8, 2.0, 1.9, 2.1),
                    with_branches(one_stream(8), 2), few},
                   within(0.02))
          .text,
      "At branches 20, use 2 streams: 2.00× as fast as one stream (1.90–2.10). Streams show no "
      "gain at branches 2: use one stream.");
}

TEST_F(BranchTest, AnswersThatOneConvolutionGainsAndStreamsDoNot) {
  EXPECT_EQ(
      scenario
          ->answer({one_stream(8), outcome("merged", 8, 1.5, 1.4, 1.6),
                    outcome("grouped", 8, 1.51, 1.4, 1.6), outcome("streams", 8, 0.7, 0.6, 0.8)},
                   within(0.02))
          .text,
      "Use merged: 1.50× as fast as one stream (1.40–1.60). Streams alone do not pay: 2 streams "
      "0.70× (0.60–0.80). The fastest is grouped (1.51×), tied within 3% with merged; merged is "
      "simpler.");
}

TEST_F(BranchTest, WhatGraphLaunchGainsIsNoGainOfRunningTogether) {
  const auto together = outcome("graph-streams", 8, 3.0, 2.9, 3.1);
  const auto streams = outcome("streams", 8, 1.0, 0.98, 1.02);
  const auto alone = outcome("graph-one-stream", 8, 2.99, 2.9, 3.1);
  const Conclusion made = scenario->answer({one_stream(8), streams, together, alone}, within(0.01));
  EXPECT_EQ(
      made.text,
      "Use graph of one stream: 2.99× as fast as one stream (2.90–3.10). Streams show no gain "
      "beside it: graph of 2 streams, 1.00× as fast as graph of one stream. The fastest is "
      "graph of 2 streams (3.00×), tied within 3% with graph of one stream; graph "
      "of one stream is simpler.");
  EXPECT_EQ(made.recommendations.front().candidates.front().label, "graph of one stream");
  EXPECT_EQ(made.recommendations.front().remark, "graph of one stream 2.99× (2.90–3.10)");
  EXPECT_THAT(scenario->answer({one_stream(8), together}, within(0)).text,
              HasSubstr("Not decided: "))
      << "without graph-one-stream the gain of the streams is unknown";
  const Conclusion at_one_size = scenario->answer(
      {one_stream(8), outcome("streams", 8, 2.0, 1.9, 2.1), one_stream(16)}, within(0.01));
  EXPECT_THAT(at_one_size.text, HasSubstr("At image 16 there was nothing to compare with."));
  const auto more = outcome("graph-streams", 8, 6.0, 5.9, 6.1);
  EXPECT_THAT(
      scenario->answer({one_stream(8), more, alone}, within(0.01)).text,
      StartsWith("Use graph of 2 streams: 6.00× as fast as one stream (5.90–6.10); graph of "
                 "one stream 2.99× (2.90–3.10)."));
}

TEST_F(BranchTest, ShowsNoGraphOfOneStreamForStreamsThatDoNotPay) {
  const auto alone = outcome("graph-one-stream", 8, 1.0, 0.98, 1.02);
  const std::string text = scenario
                               ->answer({one_stream(8), outcome("streams", 8, 0.89, 0.86, 0.91),
                                         alone, outcome("graph-streams", 8, 0.93, 0.91, 0.95),
                                         outcome("merged", 8, 1.5, 1.4, 1.6)},
                                        within(0.01))
                               .text;
  EXPECT_THAT(text, HasSubstr("Streams alone do not pay: graph of 2 streams 0.93× (0.91–0.95)."));
}

TEST_F(BranchTest, SpeaksOfWhatWasMeasured) {
  const auto streams = outcome("streams", 8, 0.9, 0.85, 0.95);
  EXPECT_EQ(scenario->answer({one_stream(8), streams}, within(0.01)).text,
            "Use one stream: streams do not pay; 2 streams: 0.90× as fast (0.85–0.95).");
  EXPECT_THAT(
      scenario
          ->answer({one_stream(8), streams, outcome("merged", 8, 2.0, 1.95, 2.05)}, within(0.01))
          .text,
      HasSubstr("Streams alone do not pay: 2 streams 0.90× (0.85–0.95)."));
}

TEST_F(BranchTest, NamesAGraphOfOneStreamThatIsAsFast) {
  const auto alone = outcome("graph-one-stream", 8, 1.996, 1.95, 2.04);
  const auto merged = outcome("merged", 8, 2.0, 1.95, 2.05);
  const Conclusion made = scenario->answer({one_stream(8), merged, alone}, within(0.01));
  EXPECT_EQ(
      made.text,
      "Use merged: 2.00× as fast as one stream (1.95–2.05); graph of one stream 2.00× (1.95–2.04). "
      "It is tied with graph of one stream (within 3%).");
  EXPECT_EQ(made.recommendations.front().candidates.front().label, "merged");
  EXPECT_EQ(made.recommendations.front().candidates.back().label, "graph of one stream");
}

TEST_F(BranchTest, AGraphOfStreamsIsMeasuredAgainstAGraphOfOne) {
  const CaseSpec spec = spec_of(*scenario, "graph-streams", tiny_with("streams", 4));
  const std::vector<Metric> metrics = scenario->metrics(spec);
  ASSERT_EQ(metrics.size(), 1);
  EXPECT_EQ(metrics[0].name, speed_over_graph);
  ASSERT_EQ(metrics[0].others.size(), 1);
  EXPECT_EQ(metrics[0].others[0].name(),
            spec_of(*scenario, "graph-one-stream", tiny_branch).name());
  const std::vector<double> seconds{2, 3};
  EXPECT_DOUBLE_EQ(metrics[0].value(seconds, seconds), 1.5);
  for (const Strategy& strategy : scenario->strategies()) {
    if (strategy.name == "graph-streams") continue;
    const auto values = strategy.name.ends_with("streams") ? tiny_with("streams", 4) : tiny_branch;
    EXPECT_TRUE(scenario->metrics(spec_of(*scenario, strategy.name, values)).empty())
        << strategy.name;
  }
}

TEST_F(BranchTest, AnswersWhenItPaysEverywhereNowhereOrUnclearly) {
  const auto text = [&](const std::vector<CaseOutcome>& outcomes) {
    std::vector<CaseOutcome> all{one_stream(8), one_stream(64)};
    all.insert(all.end(), outcomes.begin(), outcomes.end());
    return scenario->answer(all, within(0)).text;
  };
  const auto good = outcome("streams", 8, 2.0, 1.9, 2.1);
  const auto bad = outcome("streams", 8, 0.9, 0.8, 1.1);
  const auto large_good = outcome("streams", 64, 2.0, 1.9, 2.1);
  const auto large_bad = outcome("streams", 64, 0.9, 0.8, 1.1);
  EXPECT_THAT(text({good, large_good}), HasSubstr("at every size"));
  EXPECT_THAT(text({bad, large_bad}), HasSubstr("no gain at any size that was compared"));
  EXPECT_THAT(text({bad, large_good}),
              StartsWith("At image 64, use 2 streams: 2.00× as fast as one stream (1.90–2.10). "
                         "Streams show no gain at image 8: use one stream."));
  const auto loss = outcome("streams", 8, 0.9, 0.8, 0.95);
  const auto large_loss = outcome("streams", 64, 0.9, 0.8, 0.95);
  EXPECT_THAT(text({good, large_loss}), HasSubstr("above that they do not pay."));
  EXPECT_THAT(text({loss, large_loss}),
              HasSubstr("do not pay at any size that was compared; use one stream."));
  EXPECT_THAT(scenario->answer({}, within(0)).text, HasSubstr("Not decided: "));
}

}  // namespace
}  // namespace parbench::test
