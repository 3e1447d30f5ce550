// Cases and references of scenario pipeline: what needs no device.
#include "scenarios/framework/requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenarios/framework/built_in.h"
#include "tests/scenarios/pipeline/pipeline_fixture.h"
#include "tests/scenarios/plan_checks.h"
#include "tests/scenarios/resolving.h"

namespace parbench::test {
namespace {

using testing::HasSubstr;

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
    return requested_case(*scenario, made)->parameters;
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
  const auto usual = requested_case(*scenario, request("single", {}));
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
              HasSubstr("--image is not a size of model toy; all its sizes are fixed"));
  EXPECT_THAT(refusal(request("single", {{"layers", 2}}, {"layers"})),
              HasSubstr("--layers is not a size of model resnet50; its sizes are: image"));
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
  const auto resolved = requested_case(
      *scenario,
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
              HasSubstr("a micro-batch of 1 sample gives batch normalisations"));
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
      << "batch normalisation of one value per channel";
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
  EXPECT_THAT(
      refusal(request("model-parallel", {{"partition", "layer9"}}, {"partition"})),
      HasSubstr("--partition: 'layer9' is not a unit of resnet50 that can start a later stage"));
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
              HasSubstr("one value per channel"));
  EXPECT_THAT(name_of(request("pipeline", {{"model", "toy"}, {"split", 1}}, {"split"})),
              HasSubstr("split:1"));
}

TEST_F(PipelineTest, ABatchIsNotLargerThanKernelsCanCount) {
  EXPECT_THAT(refusal(request("single", {{"batch", 65536}, {"image", 4096}}, {"batch"})),
              HasSubstr("--batch: 65536 samples of resnet50 at --image 4096"));
  EXPECT_EQ(name_of(request("single", {{"batch", 65536}, {"image", 128}}, {"batch"})),
            "pipeline/single/batch:65536/image:128");
}

TEST_F(PipelineTest, ReferencesSeeTheSameMicroBatchesOnOneDevice) {
  const auto reference_of = [&](Scenario::Request made) {
    made.spec.dtype = DType::bf16;
    const auto reference = scenario->reference(*requested_case(*scenario, made));
    return reference ? reference->name() : "none";
  };
  EXPECT_EQ(reference_of(request("single", {})), "none");
  EXPECT_EQ(reference_of(request("model-parallel", {{"partition", "layer2.1"}})),
            "pipeline/single/batch:24/image:128/dtype:bf16");
  EXPECT_EQ(reference_of(request("pipeline", {{"split", 12}, {"schedule", "1f1b"}})),
            "pipeline/in-turn/batch:24/image:128/split:12/dtype:bf16");
  EXPECT_EQ(reference_of(request("pipeline", {{"model", "toy"}, {"split", "15+5"}})),
            "pipeline/in-turn/model:toy/batch:20/split:15+5/dtype:bf16");
  EXPECT_EQ(reference_of(request("single", {{"recompute", "block"}})),
            "pipeline/single/batch:24/image:128/dtype:bf16")
      << "nothing that is computed twice holds for itself";
  EXPECT_EQ(
      reference_of(request("pipeline", {{"split", 12}, {"recompute", "block"}, {"clip", 1.0}})),
      "pipeline/in-turn/batch:24/image:128/clip:1/split:12/dtype:bf16");
}

TEST_F(PipelineTest, OnUnlikeDevicesReferencesRunTheSameStages) {
  const auto reference_of = [&](Scenario::Request made) {
    made.devices_alike = false;
    const auto reference = scenario->reference(*requested_case(*scenario, made));
    return reference ? reference->name() : "none";
  };
  EXPECT_EQ(reference_of(request("single", {})), "none");
  EXPECT_EQ(reference_of(request("model-parallel", {{"partition", "layer2.1"}})), "none");
  EXPECT_EQ(reference_of(request("pipeline", {{"split", 12}, {"partition", "layer2.1"}})),
            "pipeline/in-turn/batch:24/image:128/split:12/devices:2/partition:layer2.1");
}

}  // namespace
}  // namespace parbench::test
