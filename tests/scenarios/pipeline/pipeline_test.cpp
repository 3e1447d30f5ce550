// Cases, references and the answer of scenario pipeline: what needs no device.
#include "scenarios/pipeline/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/text/text.h"
#include "scenarios/framework/all_cores.h"
#include "scenarios/models/models.h"
#include "tests/scenarios/answers/rivals.h"
#include "tests/scenarios/plan_checks.h"
#include "tests/scenarios/resolving.h"

namespace parbench::test {
namespace {

using testing::HasSubstr;

struct PipelineTest : Resolving {
  PipelineTest() : Resolving(make_pipeline()) {}

  [[nodiscard]] Scenario::Request request(const std::string& strategy,
                                          const std::vector<Parameter>& values,
                                          std::vector<std::string> given = {},
                                          int devices = 2) const {
    std::vector<Parameter> all{{"model", std::string("resnet50")}, {"image", std::int64_t{128}}};
    all.insert(all.end(), values.begin(), values.end());
    return request_of(strategy, all, std::move(given), devices);
  }
};

TEST_F(PipelineTest, NamesShowWhatDiffersFromTheDefault) {
  EXPECT_EQ(name_of(request("single", {})), "pipeline/single/batch:24/image:128");
  EXPECT_EQ(name_of(request("model-parallel", {})),
            "pipeline/model-parallel/batch:24/image:128/devices:2");
  EXPECT_EQ(name_of(request("pipeline",
                            {{"split", 12}, {"partition", "published"}, {"schedule", "gpipe"}})),
            "pipeline/pipeline/batch:24/image:128/split:12/devices:2");
  EXPECT_EQ(
      name_of(
          request("pipeline", {{"split", 12}, {"partition", "layer2.1"}, {"schedule", "1f1b"}})),
      "pipeline/pipeline/batch:24/image:128/split:12/devices:2/partition:layer2.1/schedule:1f1b");
  EXPECT_EQ(name_of(request("single", {{"model", "toy"}})), "pipeline/single/model:toy/batch:20");
  auto published = request("single", {});
  published.preset = Preset::published;
  EXPECT_EQ(name_of(published), "pipeline/single/batch:120/image:128");
}

TEST_F(PipelineTest, ParametersHoldDefaultsThatNamesLeaveOut) {
  const auto of = [&](const Scenario::Request& made) {
    return scenario->resolve(made)->parameters;
  };
  const Parameters single = of(request("single", {}));
  EXPECT_EQ(single.text("model"), "resnet50");
  EXPECT_EQ(single.integer("batch"), 24);
  EXPECT_EQ(single.find("partition"), nullptr) << "there is nothing to partition";
  const Parameters usual = of(request("pipeline", {{"split", 12}}));
  EXPECT_EQ(usual.text("partition"), "published");
  EXPECT_EQ(usual.text("schedule"), "gpipe");
  EXPECT_EQ(of(request("model-parallel", {}, {}, 3)).text("partition"), "balanced")
      << "the published partition is one for two devices";
  EXPECT_EQ(of(request("model-parallel", {})).find("schedule"), nullptr);
  const Parameters toy = of(request("single", {{"model", "toy"}}));
  EXPECT_EQ(toy.text("model"), "toy");
  EXPECT_EQ(toy.find("image"), nullptr);
}

TEST_F(PipelineTest, NamesShowVariantsOfTheStep) {
  const auto usual = scenario->resolve(request("single", {}));
  EXPECT_EQ(usual->parameters.text("optimizer"), "sgd");
  EXPECT_EQ(usual->parameters.text("recompute"), "none");
  EXPECT_EQ(usual->parameters.real("clip"), 0.0);
  EXPECT_EQ(name_of(request("single", {{"optimizer", "sgd"}, {"clip", 0.0}}, {"clip"})),
            "pipeline/single/batch:24/image:128");
  EXPECT_EQ(
      name_of(request("single", {{"optimizer", "adamw"}, {"clip", 0.5}, {"recompute", "block"}})),
      "pipeline/single/batch:24/image:128/optimizer:adamw/recompute:block/clip:0.5");
}

TEST_F(PipelineTest, ADefaultThatIsGivenStaysOutOfTheName) {
  EXPECT_EQ(name_of(request("model-parallel", {{"partition", "balanced"}}, {"partition"}, 3)),
            "pipeline/model-parallel/batch:24/image:128/devices:3");
  EXPECT_EQ(name_of(request("model-parallel", {{"partition", "balanced"}}, {"partition"}, 2)),
            "pipeline/model-parallel/batch:24/image:128/devices:2/partition:balanced");
}

TEST_F(PipelineTest, ACaseIsFoundAgainByTheValuesOfItsName) {
  Scenario::Request named;
  named.spec = {.scenario = "pipeline", .strategy = "pipeline", .parameters = {}, .hidden = {}};
  named.spec.parameters.set("batch", std::int64_t{40});
  named.spec.parameters.set("image", std::int64_t{64});
  named.spec.parameters.set("split", std::int64_t{8});
  named.given = {"batch", "image", "split"};
  named.device_count = 2;
  EXPECT_EQ(name_of(named), "pipeline/pipeline/batch:40/image:64/split:8/devices:2");
}

TEST_F(PipelineTest, AModelHasItsOwnSizes) {
  EXPECT_EQ(name_of(request("single", {{"model", "mlp"}, {"image", 64}})),
            "pipeline/single/model:mlp/batch:120/hidden:1024/layers:4");
  EXPECT_EQ(name_of(request("single", {{"model", "mlp"}, {"layers", 3}}, {"layers"})),
            "pipeline/single/model:mlp/batch:120/hidden:1024/layers:3");
  EXPECT_EQ(name_of(request("single", {{"model", "rnn-lm"}, {"hidden", 64}})),
            "pipeline/single/model:rnn-lm/batch:20/embedding:650/hidden:64/layers:2/sequence:35/"
            "vocabulary:10000");
  EXPECT_THAT(refusal(request("single", {{"model", "toy"}, {"image", 64}}, {"image"})),
              HasSubstr("--image: model toy has no such size; it has none"));
  EXPECT_THAT(refusal(request("single", {{"layers", 2}}, {"layers"})),
              HasSubstr("--layers: model resnet50 has no such size; its sizes are: image"));
}

TEST_F(PipelineTest, AHeadMayBeTied) {
  const std::string sizes = "/batch:8/heads:4/hidden:64/layers:2/sequence:32/vocabulary:256";
  EXPECT_EQ(name_of(request("single", {{"model", "gpt-tiny"}, {"head", "tied"}}, {"head"})),
            "pipeline/single/model:gpt-tiny" + sizes + "/head:tied");
  EXPECT_EQ(name_of(request("single", {{"model", "gpt-tiny"}, {"head", "untied"}}, {"head"})),
            "pipeline/single/model:gpt-tiny" + sizes);
  EXPECT_THAT(refusal(request("single", {{"model", "rnn-lm"}, {"head", "tied"}}, {"head"})),
              HasSubstr("--head: the head of model rnn-lm"));
}

TEST_F(PipelineTest, ListedSizesAddUpToTheBatch) {
  EXPECT_THAT(name_of(request("pipeline", {{"batch", 10}, {"split", "5+3+2"}}, {"split"})),
              HasSubstr("split:5+3+2"));
  EXPECT_THAT(refusal(request("pipeline", {{"batch", 12}, {"split", "5+3+2"}}, {"split"})),
              HasSubstr("5+3+2 adds up to 10, but --batch is 12"));
}

TEST_F(PipelineTest, ANumberOfMicroBatchesIsNamedByTheirSize) {
  const auto named = [&](std::int64_t batch, std::int64_t count) {
    return name_of(request("pipeline", {{"batch", batch}, {"split", 3}, {"micro-batches", count}},
                           {"micro-batches"}));
  };
  const std::string same = name_of(request("pipeline", {{"split", 3}}, {"split"}));
  EXPECT_EQ(named(24, 8), same) << "one case has one name";
  EXPECT_EQ(named(24, 1), "pipeline/pipeline/batch:24/image:128/split:24/devices:2");
  EXPECT_THAT(named(10, 4), HasSubstr("/split:3/")) << "3 + 3 + 3 + 1";
  EXPECT_THAT(named(9, 4), HasSubstr("/split:3+2+2+2/")) << "no size leaves a fourth micro-batch";
  const auto resolved = scenario->resolve(
      request("pipeline", {{"batch", 24}, {"split", 3}, {"micro-batches", 8}}, {"micro-batches"}));
  EXPECT_EQ(resolved->parameters.find("micro-batches"), nullptr);
}

TEST_F(PipelineTest, ANumberOfMicroBatchesFitsTheBatchAndStandsAlone) {
  const auto refused = [&](const std::vector<Parameter>& values, std::vector<std::string> given) {
    return refusal(request("pipeline", values, std::move(given)));
  };
  EXPECT_THAT(refused({{"batch", 10}, {"split", 3}, {"micro-batches", 11}}, {"micro-batches"}),
              HasSubstr("--micro-batches: 11 are more than the samples of --batch 10; allowed are "
                        "1 to 10"));
  EXPECT_THAT(refused({{"split", 3}, {"micro-batches", 8}}, {"split", "micro-batches"}),
              HasSubstr("--split, --micro-batches: the size of micro-batches follows from their "
                        "number; give one of the two"));
  EXPECT_THAT(refused({{"batch", 8}, {"image", 32}, {"micro-batches", 8}}, {"micro-batches"}),
              HasSubstr("a micro-batch of 1 sample leaves batch normalisations"));
}

TEST_F(PipelineTest, ASplitAboveTheBatchIsAnErrorOnlyWhereItWasAskedFor) {
  EXPECT_EQ(name_of(request("pipeline", {{"batch", 10}, {"split", 12}}, {"batch"})), "no case");
  EXPECT_THAT(refusal(request("pipeline", {{"batch", 10}, {"split", 12}}, {"split"})),
              HasSubstr("--split: 12 is above --batch 10"));
}

TEST_F(PipelineTest, TheSmallestPresetSplitDividesASmallBatch) {
  EXPECT_EQ(name_of(request("pipeline", {{"batch", 2}, {"split", 3}}, {"batch"})),
            "pipeline/pipeline/batch:2/image:128/split:1/devices:2");
  EXPECT_EQ(name_of(request("pipeline", {{"model", "gpt2-124m"}, {"split", 3}}, {"model"})),
            "pipeline/pipeline/model:gpt2-124m/batch:2/heads:12/hidden:768/layers:12/sequence:1024/"
            "vocabulary:50257/split:1/devices:2")
      << "its quick batch";
  EXPECT_EQ(name_of(request("pipeline", {{"batch", 2}, {"split", 6}}, {"batch"})), "no case");
  EXPECT_EQ(name_of(request("pipeline", {{"batch", 1}, {"split", 3}}, {"batch"})), "no case");
  EXPECT_THAT(refusal(request("pipeline", {{"batch", 1}, {"split", 3}}, {"split"})),
              HasSubstr("one sample cannot be divided into micro-batches; use --batch 2 or more"));
  EXPECT_EQ(name_of(request("pipeline", {{"image", 32}, {"batch", 2}, {"split", 3}}, {"batch"})),
            "no case")
      << "batch normalisation of one value a channel";
}

TEST_F(PipelineTest, OneDeviceLeavesOutWhatNeedsTwoUnlessItWasAskedFor) {
  EXPECT_EQ(name_of(request("single", {}, {}, 1)), "pipeline/single/batch:24/image:128");
  EXPECT_EQ(name_of(request("model-parallel", {}, {}, 1)), "no case");
  EXPECT_EQ(name_of(request("pipeline", {{"split", 3}}, {"batch"}, 1)), "no case");
  for (const char* flag : {"strategy", "split", "partition", "schedule"}) {
    EXPECT_THAT(refusal(request("pipeline", {{"split", 3}}, {flag}, 1)),
                HasSubstr("pipeline needs at least two devices, and this run has 1"));
  }
}

TEST_F(PipelineTest, StagesNeedAUnitEach) {
  EXPECT_THAT(refusal(request("model-parallel", {{"model", "toy"}}, {}, 3)),
              HasSubstr("--devices: toy has 2 units, too few for 3 stages"));
}

TEST_F(PipelineTest, CutsAreReadBeforeAnythingIsPlanned) {
  EXPECT_THAT(refusal(request("model-parallel", {{"partition", "layer9"}}, {"partition"})),
              HasSubstr("--partition: 'layer9' starts no later stage of resnet50"));
}

TEST_F(PipelineTest, BatchNormalisationNeedsTwoValuesAChannel) {
  const auto split_of = [&](std::int64_t split, std::int64_t image,
                            std::vector<std::string> given) {
    return request("pipeline", {{"batch", 5}, {"split", split}, {"image", image}},
                   std::move(given));
  };
  EXPECT_THAT(refusal(split_of(1, 32, {"split"})),
              HasSubstr("micro-batches of at least 2 samples"));
  EXPECT_THAT(refusal(split_of(2, 32, {"split"})), HasSubstr("a micro-batch of 1 sample"))
      << "the last micro-batch is a single sample";
  EXPECT_EQ(name_of(split_of(1, 32, {})), "no case");
  EXPECT_THAT(name_of(split_of(3, 32, {"split"})), HasSubstr("split:3"));
  EXPECT_THAT(name_of(split_of(1, 33, {"split"})), HasSubstr("split:1"));
  EXPECT_THAT(refusal(request("single", {{"batch", 1}, {"image", 32}}, {"batch", "image"})),
              HasSubstr("one value a channel"));
  EXPECT_THAT(name_of(request("pipeline", {{"model", "toy"}, {"split", 1}}, {"split"})),
              HasSubstr("split:1"));
}

TEST_F(PipelineTest, ABatchIsNotLargerThanKernelsCanCount) {
  EXPECT_THAT(refusal(request("single", {{"batch", 65536}, {"image", 4096}}, {"batch"})),
              HasSubstr("--batch: 65536 samples at --image 4096"));
  EXPECT_EQ(name_of(request("single", {{"batch", 65536}, {"image", 128}}, {"batch"})),
            "pipeline/single/batch:65536/image:128");
}

TEST_F(PipelineTest, ReferencesSeeTheSameMicroBatchesOnOneDevice) {
  const auto reference_of = [&](Scenario::Request made) {
    made.spec.dtype = DType::bf16;
    const auto reference = scenario->reference(*scenario->resolve(made));
    return reference ? reference->name() : "none";
  };
  EXPECT_EQ(reference_of(request("single", {})), "none");
  EXPECT_EQ(reference_of(request("model-parallel", {{"partition", "layer2.1"}})),
            "pipeline/single/batch:24/image:128/dtype:bf16");
  EXPECT_EQ(reference_of(request("pipeline", {{"split", 12}, {"schedule", "1f1b"}})),
            "pipeline/gradient-accumulation/batch:24/image:128/split:12/dtype:bf16");
  EXPECT_EQ(reference_of(request("pipeline", {{"model", "toy"}, {"split", "15+5"}})),
            "pipeline/gradient-accumulation/model:toy/batch:20/split:15+5/dtype:bf16");
  EXPECT_EQ(reference_of(request("single", {{"recompute", "block"}})),
            "pipeline/single/batch:24/image:128/dtype:bf16")
      << "nothing that is computed twice holds for itself";
  EXPECT_EQ(
      reference_of(request("pipeline", {{"split", 12}, {"recompute", "block"}, {"clip", 1.0}})),
      "pipeline/gradient-accumulation/batch:24/image:128/clip:1/split:12/dtype:bf16");
}

TEST_F(PipelineTest, OnUnlikeDevicesReferencesRunTheSameStages) {
  const auto reference_of = [&](Scenario::Request made) {
    made.devices_alike = false;
    const auto reference = scenario->reference(*scenario->resolve(made));
    return reference ? reference->name() : "none";
  };
  EXPECT_EQ(reference_of(request("single", {})), "none");
  EXPECT_EQ(reference_of(request("model-parallel", {{"partition", "layer2.1"}})), "none");
  EXPECT_EQ(
      reference_of(request("pipeline", {{"split", 12}, {"partition", "layer2.1"}})),
      "pipeline/gradient-accumulation/batch:24/image:128/split:12/devices:2/partition:layer2.1");
}

struct PipelineAnswer : PipelineTest {
  CaseOutcome outcome(const std::string& strategy, const std::vector<Parameter>& values,
                      double seconds, double speedup) const {
    CaseOutcome one;
    Scenario::Request made = request(strategy, values);
    made.has_all_cores = true;
    one.spec = *resolve_case(*scenario, made);
    one.median_seconds = seconds;
    one.efficiency = 0.9;
    if (strategy != "single")
      one.speedup = {speedup, report::Interval{speedup - 0.01, speedup + 0.01, 0.97}};
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
  std::vector<CaseOutcome> apart = outcomes;
  apart[2].speedup = {1.66, report::Interval{1.65, 1.67, 0.97}};
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
  EXPECT_EQ(scenario->answer(outcomes, within(0.01)).text,
            "Use one device of all 2 cores: 1.95× as fast as one core (1.94–1.96), 90% of what its "
            "tasks and their dependencies allow. The fastest that divides the work: split 12, "
            "1.60× (1.59–1.61).");
  outcomes[1].speedup = {1.2, report::Interval{1.19, 1.21, 0.97}};
  EXPECT_EQ(scenario->answer(outcomes, within(0.01)).text,
            "Use split 12: 1.60× as fast as one core (1.59–1.61), 90% of what its tasks and their "
            "dependencies allow. With one device of all 2 cores: 1.20× (1.19–1.21).");
  outcomes[1].speedup = {1.59, report::Interval{1.58, 1.60, 0.97}};
  EXPECT_EQ(scenario->answer(outcomes, within(0.01)).text,
            "Use one device of all 2 cores: 1.59× as fast as one core (1.58–1.60), 90% of what its "
            "tasks and their dependencies allow. The fastest is split 12 (1.60×), tied within 3% "
            "with one device of all 2 cores; one device of all 2 cores is simpler.");
}

TEST_F(PipelineAnswer, SaysWhereSplittingDoesNotPay) {
  const CaseOutcome single = outcome("single", {}, 2.0, 1);
  EXPECT_EQ(
      scenario->answer({single, outcome("pipeline", {{"split", 6}}, 4.0, 0.5)}, within(0.01)).text,
      "Use one device: splitting does not pay; split 6: 0.50× as fast (0.49–0.51), 90% of what its "
      "tasks and their dependencies allow.");
  EXPECT_EQ(scenario
                ->answer({single, outcome("pipeline", {{"split", 6}, {"partition", "balanced"}},
                                          2.01, 0.995)},
                         within(0.01))
                .text,
            "Use one device: splitting shows no gain; split 6, partition balanced, tied with it: "
            "0.995× as fast (0.985–1.005), 90% of what its tasks and their dependencies allow.")
      << "not beyond chance";
  EXPECT_THAT(
      scenario
          ->answer({outcome("single", {}, 2.0, 1), outcome("model-parallel", {}, 2.1, 0.95)},
                   within(0))
          .text,
      testing::StartsWith("Use one device: using several devices does not pay; model-parallel: "
                          "0.95× as fast"));
  EXPECT_THAT(scenario->answer({}, within(0)).text,
              HasSubstr("There is no answer without one device"));
  EXPECT_THAT(scenario->answer({single}, within(0)).text,
              HasSubstr("No pipeline was measured beside one device"));
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
              HasSubstr("Recompute none with split 6: 1.250 s, peak memory 50.0 + 70.0 MiB; block: "
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
          "1.250 s, peak memory 70.0 MiB on the fullest device; block: 1.500 s, 40.0 MiB on"));

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
              HasSubstr("Use split 6, partition balanced, schedule 1f1b: 1.50×"));
  EXPECT_THAT(
      scenario->answer({single, chosen, outcome("pipeline", {{"split", 3}}, 1, 1.5)}, within(0))
          .text,
      HasSubstr("Use split 3: 1.50×"));
  EXPECT_THAT(
      scenario->answer({single, chosen, outcome("pipeline", {{"split", 6}}, 1, 1.5)}, within(0))
          .text,
      HasSubstr("Use split 6, partition published, schedule gpipe: 1.50×"))
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
      HasSubstr("more than 2 devices can give; likely cause: micro-batches fit the caches"));
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
  EXPECT_EQ(
      made.text,
      "Splitting pays at 2 settings and does not pay at batch 120, image 64; largest recommended "
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
            "At batch 24, use split 6: 2.00× as fast as one device (1.99–2.01). Splitting does not "
            "pay at batch 12: use one device. At batch 48 there was nothing to compare with.");

  CaseOutcome other = split;
  other.speedup.reset();
  EXPECT_THAT(scenario->answer({other, alone}, within(0)).text,
              testing::StartsWith("There is no answer without one device"));
}

}  // namespace
}  // namespace parbench::test
