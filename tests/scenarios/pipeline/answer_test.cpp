// The answer of scenario pipeline.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reports/text/text.h"
#include "scenarios/framework/all_cores.h"
#include "scenarios/framework/requests.h"
#include "scenarios/models/models.h"
#include "tests/scenarios/answers/rivals.h"
#include "tests/scenarios/pipeline/pipeline_fixture.h"

namespace parbench::test {
namespace {

using testing::HasSubstr;

struct PipelineAnswer : PipelineTest {
  CaseOutcome outcome(const std::string& strategy, const std::vector<Parameter>& values,
                      double seconds, double speedup) const {
    CaseOutcome one;
    Scenario::Request made = request(strategy, values);
    made.has_all_cores = true;
    one.spec = *requested_case(*scenario, made);
    one.median_seconds = seconds;
    one.efficiency = 0.9;
    if (strategy != "single")
      one.speedup = {speedup, Interval{speedup - 0.01, speedup + 0.01, 0.97}};
    return one;
  }
};

TEST_F(PipelineAnswer, RecommendsTheSplitAndNamesItsTies) {
  const std::vector<CaseOutcome> outcomes{outcome("single", {}, 2.0, 1),
                                          outcome("model-parallel", {}, 2.1, 0.95),
                                          outcome("pipeline", {{"split", 5}}, 1.24, 1.61),
                                          outcome("pipeline", {{"split", 6}}, 1.5, 1.33),
                                          outcome("pipeline", {{"split", 12}}, 1.25, 1.6)};
  EXPECT_EQ(scenario->answer(outcomes, within(0.02)).text,
            "Use split 12: 1.60× as fast as one device (1.59–1.61), 90% of what its tasks "
            "and their dependencies allow; without micro-batches: 0.95× (0.94–0.96). The fastest "
            "is split 5 (1.61×), tied "
            "within 3% with split 12; split 12 is simpler.");
  std::vector<CaseOutcome> loaded = outcomes;
  for (CaseOutcome& one : loaded) {
    one.load = 0.6;
    one.min_speedup = Ratio{0.8, Interval{0.7, 0.9, 0.97}};
  }
  EXPECT_THAT(scenario->answer(loaded, within(0.02)).text,
              testing::AllOf(testing::HasSubstr("No verdict"),
                             testing::Not(testing::HasSubstr("without micro-batches"))));
  std::vector<CaseOutcome> apart = outcomes;
  apart[2].speedup = {1.66, Interval{1.65, 1.67, 0.97}};
  const Conclusion made = scenario->answer(apart, within(0.02));
  EXPECT_EQ(made.text,
            "Use split 5: 1.66× as fast as one device (1.65–1.67), 90% of what its tasks and their "
            "dependencies allow; "
            "without micro-batches: 0.95× (0.94–0.96).");
  ASSERT_EQ(made.recommendations.size(), 1);
  EXPECT_EQ(made.recommendations[0].candidates.front().name, apart[2].spec.name());
}

TEST_F(PipelineAnswer, ComparesWithOneDeviceOfAllCores) {
  std::vector<CaseOutcome> outcomes{outcome("single", {}, 2.0, 1),
                                    outcome("all-cores", {}, 1.03, 1.95),
                                    outcome("pipeline", {{"split", 12}}, 1.25, 1.6)};
  outcomes[0].cores = 1;
  outcomes[1].cores = 2;
  EXPECT_EQ(
      scenario->answer(outcomes, within(0.01)).text,
      "Use one device with both cores: 1.95× as fast as one core (1.94–1.96), 90% of what its "
      "tasks and their dependencies allow. The fastest that divides the work: split 12, "
      "1.60× (1.59–1.61).");
  outcomes[1].speedup = {1.2, Interval{1.19, 1.21, 0.97}};
  EXPECT_EQ(scenario->answer(outcomes, within(0.01)).text,
            "Use split 12: 1.60× as fast as one core (1.59–1.61), 90% of what its tasks and their "
            "dependencies allow. One device with both cores: 1.20× (1.19–1.21).");
  outcomes[1].speedup = {1.59, Interval{1.58, 1.60, 0.97}};
  EXPECT_EQ(
      scenario->answer(outcomes, within(0.01)).text,
      "Use one device with both cores: 1.59× as fast as one core (1.58–1.60), 90% of what its "
      "tasks and their dependencies allow. The fastest is split 12 (1.60×), tied within 3% "
      "with one device with both cores; one device with both cores is simpler.");
}

TEST_F(PipelineAnswer, SaysWhereSplittingDoesNotPay) {
  const CaseOutcome single = outcome("single", {}, 2.0, 1);
  EXPECT_EQ(
      scenario->answer({single, outcome("pipeline", {{"split", 6}}, 4.0, 0.5)}, within(0.01)).text,
      "Use one device: no other strategy pays; split 6: 0.50× as fast (0.49–0.51), 90% of what its "
      "tasks and their dependencies allow.");
  EXPECT_EQ(scenario
                ->answer({single, outcome("pipeline", {{"split", 6}, {"partition", "balanced"}},
                                          2.01, 0.995)},
                         within(0.01))
                .text,
            "Use one device: no other strategy shows a gain; split 6 with partition balanced, tied "
            "with it: "
            "0.995× as fast (0.985–1.005), 90% of what its tasks and their dependencies allow.")
      << "not beyond chance";
  EXPECT_THAT(
      scenario
          ->answer({outcome("single", {}, 2.0, 1), outcome("model-parallel", {}, 2.1, 0.95)},
                   within(0))
          .text,
      testing::StartsWith("Use one device: no other strategy pays; model-parallel: "
                          "0.95× as fast"));
  EXPECT_THAT(scenario->answer({}, within(0)).text,
              HasSubstr("Not decided: one device, the baseline, was not measured."));
  EXPECT_THAT(scenario->answer({single}, within(0)).text,
              HasSubstr("Not decided: no strategy was measured beside one device."));
}

TEST_F(PipelineAnswer, SaysWhatRecomputationCostsAndSaves) {
  const auto case_with = [&](const std::string& strategy, const std::vector<Parameter>& values,
                             double seconds, std::vector<double> memory) {
    CaseOutcome one = outcome(strategy, values, seconds, 2 / seconds);
    one.memory = std::move(memory);
    return one;
  };
  constexpr double mebibyte = 1 << 20;
  const std::vector<CaseOutcome> outcomes{
      case_with("single", {}, 2.0, {100 * mebibyte, 0}),
      case_with("single", {{"recompute", "block"}}, 2.5, {60 * mebibyte, 0}),
      case_with("pipeline", {{"split", 6}}, 1.25, {50 * mebibyte, 70 * mebibyte}),
      case_with("pipeline", {{"split", 6}, {"recompute", "block"}}, 1.5,
                {30 * mebibyte, 40 * mebibyte})};
  EXPECT_THAT(scenario->answer(outcomes, within(0)).text,
              HasSubstr("Recompute none (split 6): 1.250 s, peak memory 50.0 + 70.0 MiB; block: "
                        "1.500 s, 30.0 + 40.0 MiB."));
  EXPECT_EQ(scenario->answer(outcomes, within(0)).recommendations.front().setting,
            "recompute block");
  EXPECT_THAT(scenario->answer({outcomes[0], outcomes[2]}, within(0)).text,
              testing::Not(HasSubstr("MiB")))
      << "nothing is traded";

  std::vector<CaseOutcome> of_many_devices = outcomes;
  for (CaseOutcome& one : of_many_devices) one.memory.resize(8, 20 * mebibyte);
  EXPECT_THAT(
      scenario->answer(of_many_devices, within(0)).text,
      HasSubstr(
          "1.250 s, peak memory 70.0 MiB a device at most; block: 1.500 s, 40.0 MiB a device"));

  std::vector<CaseOutcome> of_two = outcomes;
  for (const CaseOutcome& one : outcomes) {
    of_two.push_back(one);
    of_two.back().spec.parameters.set("batch", std::int64_t{48});
    of_two.back().median_seconds *= one.spec.parameters.text("recompute") == "none" ? 2 : 2.1;
  }
  EXPECT_THAT(scenario->answer(of_two, within(0)).text,
              HasSubstr("Recompute block: 1.20× to 1.31× the time of none and 0.57× to 0.60× its "
                        "peak memory on the fullest device."));
}

TEST_F(PipelineAnswer, HasThreeLinesAtMost) {
  constexpr std::size_t width = 98;  // of 100, behind "→ "
  std::vector<CaseOutcome> outcomes;
  for (const char* recompute : {"none", "block"}) {
    for (std::int64_t batch = 12; batch <= 120; batch += 12) {
      const std::vector<Parameter> values{{"batch", batch}, {"recompute", recompute}};
      for (const char* strategy : {"single", "model-parallel", "pipeline"}) {
        std::vector<Parameter> own = values;
        if (strategy == std::string("pipeline")) own.push_back({"split", std::int64_t{6}});
        CaseOutcome one = outcome(strategy, own, 1, 2.5);
        one.memory = {1e9, 2e9};
        outcomes.push_back(one);
        EXPECT_LE(report::wrapped(scenario->answer(outcomes, within(0.1)).text, width).size(), 3);
      }
    }
  }
}

TEST_F(PipelineAnswer, PrefersDefaultsAndFewerMicroBatches) {
  const CaseOutcome chosen =
      outcome("pipeline", {{"split", 6}, {"partition", "balanced"}, {"schedule", "1f1b"}}, 1, 1.5);
  const CaseOutcome single = outcome("single", {}, 1.5, 1);
  EXPECT_THAT(scenario->answer({single, chosen}, within(0)).text,
              HasSubstr("Use split 6 with partition balanced, schedule 1f1b: 1.50×"));
  EXPECT_THAT(
      scenario->answer({single, chosen, outcome("pipeline", {{"split", 3}}, 1, 1.5)}, within(0))
          .text,
      HasSubstr("Use split 3: 1.50×"));
  EXPECT_THAT(
      scenario->answer({single, chosen, outcome("pipeline", {{"split", 6}}, 1, 1.5)}, within(0))
          .text,
      HasSubstr("Use split 6 with partition published: 1.50×"))
      << "two cases have split 6";
}

TEST_F(PipelineAnswer, DoesNotSpeakOfABoundThatIsNone) {
  CaseOutcome best = outcome("pipeline", {{"split", 6}}, 1.5, 1.33);
  best.efficiency = 0;
  EXPECT_EQ(scenario->answer({outcome("single", {}, 2.0, 1), best}, within(0)).text,
            "Use split 6: 1.33× as fast as one device (1.32–1.34).");
}

TEST_F(PipelineAnswer, RemarksOnMoreThanTheDevicesCanGive) {
  EXPECT_THAT(
      scenario
          ->answer({outcome("single", {}, 2.0, 1), outcome("pipeline", {{"split", 6}}, 0.9, 2.2)},
                   within(0))
          .text,
      HasSubstr("more than 2 devices can give; likely cause: each device's part fits"));
}

TEST_F(PipelineAnswer, HasOneRecommendationForEachSizeOfAModel) {
  for (const std::string_view size : model_size_names) {
    const auto of_size = [&](std::int64_t value, CaseOutcome one) {
      one.spec.parameters.set(std::string(size), value);
      return one;
    };
    const Conclusion made =
        scenario->answer({of_size(256, outcome("single", {}, 0.5, 1)),
                          of_size(256, outcome("pipeline", {{"split", 8}}, 1.0, 0.5)),
                          of_size(1024, outcome("single", {}, 2, 1)),
                          of_size(1024, outcome("pipeline", {{"split", 8}}, 1.0, 2))},
                         within(0));
    ASSERT_EQ(made.recommendations.size(), 2) << size;
    EXPECT_FALSE(made.recommendations[0].pays) << size;
    EXPECT_TRUE(made.recommendations[1].pays) << size;
  }
}

TEST_F(PipelineAnswer, ComparesOnlyWhatComputesTheSame) {
  const Parameter small{"batch", std::int64_t{40}};
  const Parameter large{"batch", std::int64_t{120}};
  const Conclusion made = scenario->answer(
      {outcome("single", {small}, 1.4, 1), outcome("pipeline", {small, {"split", 8}}, 1.0, 1.4),
       outcome("single", {large}, 5.1, 1), outcome("pipeline", {large, {"split", 20}}, 3.0, 1.7),
       outcome("single", {large, {"image", 64}}, 0.4, 1),
       outcome("pipeline", {large, {"image", 64}, {"split", 40}}, 0.8, 0.5)},
      within(0));
  EXPECT_EQ(made.text,
            "Another strategy pays at 2 settings and does not pay at batch 120, image 64; largest "
            "recommended "
            "gain that is shown: split 20 at batch 120, image 128, 1.70× as fast as one device "
            "(1.69–1.71).");
  ASSERT_EQ(made.recommendations.size(), 3);
  EXPECT_EQ(made.recommendations[0].setting, "batch 40, image 128");
  EXPECT_EQ(made.recommendations[1].setting, "batch 120, image 64");
  EXPECT_EQ(made.recommendations[1].candidates.front().label, "one device");
  EXPECT_EQ(made.recommendations[2].candidates.front().label, "split 20");
}

TEST_F(PipelineAnswer, SpeaksOnlyOfSettingsThatWereCompared) {
  const Parameter large{"batch", std::int64_t{48}};
  const CaseOutcome single = outcome("single", {}, 2.0, 1);
  const CaseOutcome split = outcome("pipeline", {{"split", 6}}, 1.0, 2.0);
  CaseOutcome alone = outcome("pipeline", {large, {"split", 6}}, 2.0, 1);
  alone.speedup.reset();
  const Conclusion made = scenario->answer({single, split, alone}, within(0));
  EXPECT_EQ(
      made.text,
      "At batch 24, use split 6: 2.00× as fast as one device (1.99–2.01), 90% of what its tasks "
      "and their dependencies allow. At batch 48 there was nothing to compare with.");
  EXPECT_EQ(made.recommendations.size(), 1);

  const Parameter small{"batch", std::int64_t{12}};
  EXPECT_EQ(scenario
                ->answer({single, split, alone, outcome("single", {small}, 1.0, 1),
                          outcome("pipeline", {small, {"split", 6}}, 2.0, 0.5)},
                         within(0))
                .text,
            "At batch 24, use split 6: 2.00× as fast as one device (1.99–2.01), 90% of what its "
            "tasks and their dependencies allow. Another strategy does not pay at batch 12: use "
            "one device. At batch 48 there was nothing to compare with.");

  CaseOutcome other = split;
  other.speedup.reset();
  EXPECT_THAT(scenario->answer({other, alone}, within(0)).text,
              testing::StartsWith("Not decided: one device, the baseline, was not measured."));
}

}  // namespace
}  // namespace parbench::test
