// Pipelines and graphs of a model that a user brings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "reports/io/file.h"
#include "tests/support/onnx_file.h"
#include "tests/support/onnx_networks.h"
#include "tests/support/process.h"
#include "tests/support/temporary_folder.h"

namespace parbench::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct ModelFile : testing::Test {
  ModelFile() {
    write_onnx(folder_ / "mine.onnx", "float[1, 3, 32, 32] x",
               onnx_convolution("conv1", "x", "8, 3, 3, 3") +
                   onnx_normalisation("bn1", "conv1", "8") + "relu1 = Relu (bn1) " +
                   onnx_convolution("conv2", "relu1", "8, 8, 3, 3") +
                   onnx_normalisation("bn2", "conv2", "8") +
                   "sum = Add (bn2, relu1) last = Relu (sum) " + onnx_classifier("last"));
  }

  [[nodiscard]] Finished pipeline(const std::vector<std::string>& more) const {
    Words words{PARBENCH_BINARY, "--scenario", "pipeline", "--batch", "8",
                "--report",      "report.json"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words, {folder_.path(), {}});
  }

  TemporaryFolder folder_;
};

TEST_F(ModelFile, RunsVerifiedWithEveryStrategy) {
  const Finished finished =
      pipeline({"--model", "./mine.onnx", "--split", "4", "--benchmark_repetitions=2"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  std::vector<std::string> names;
  for (const report::CaseResult& one : report::read_report(folder_ / "report.json").cases) {
    names.push_back(one.name);
    ASSERT_TRUE(one.verification);
    EXPECT_TRUE(one.verification->passed) << one.name;
  }
  const std::string step = "model:mine.onnx/batch:8/image:32";
  EXPECT_THAT(names,
              ElementsAre("pipeline/single/" + step, "pipeline/all-cores/" + step + "/devices:2",
                          "pipeline/model-parallel/" + step + "/devices:2",
                          "pipeline/pipeline/" + step + "/split:4/devices:2"));
  const Finished again =
      run({PARBENCH_BINARY, "--rerun", "report.json", "--dry-run"}, {folder_.path(), {}});
  EXPECT_EQ(again.exit_code, 0) << again.err;
}

TEST_F(ModelFile, DividesTransformersWithNormalisationFirst) {
  write_onnx(folder_ / "encoder.onnx", onnx_transformer_input,
             onnx_transformer(2, NormPlace::first), 17);
  const Finished finished =
      pipeline({"--model", "encoder.onnx", "--partition", "balanced,b0.norm.b,b1.norm.a",
                "--micro-batches", "4", "--devices", "2", "--benchmark_repetitions=1"});
  ASSERT_EQ(finished.exit_code, 0) << finished.out << finished.err;
  const report::Report report = report::read_report(folder_ / "report.json");
  std::vector<std::string> cuts;
  for (const report::CaseResult& one : report.cases) {
    ASSERT_TRUE(one.verification);
    EXPECT_TRUE(one.verification->passed) << one.name;
    if (one.strategy == "pipeline") cuts.push_back(one.name);
  }
  const std::string step = "pipeline/pipeline/model:encoder.onnx/batch:8/split:2/devices:2";
  EXPECT_THAT(cuts, ElementsAre(step + "/partition:balanced", step + "/partition:b0.norm.b",
                                step + "/partition:b1.norm.a"));
  EXPECT_THAT(report.model_notes, IsEmpty());
  const Finished again =
      run({PARBENCH_BINARY, "--rerun", "report.json", "--dry-run"}, {folder_.path(), {}});
  EXPECT_EQ(again.exit_code, 0) << again.err;
}

TEST_F(ModelFile, NamesTheOnlyCutOfTwoUnits) {
  write_onnx(folder_ / "two.onnx", "float[N, 12] x",
             onnx_zeros("w", "12, 6") + "r = MatMul (x, w) " + onnx_zeros("v", "6, 4") +
                 "y = MatMul (r, v) ");
  const Finished finished =
      pipeline({"--model", "two.onnx", "--split", "4", "--benchmark_repetitions=1"});
  ASSERT_EQ(finished.exit_code, 0) << finished.out << finished.err;
  const report::Report report = report::read_report(folder_ / "report.json");
  const auto found = std::ranges::find(report.findings, "only-cut", &report::Finding::rule);
  ASSERT_NE(found, report.findings.end()) << finished.out;
  EXPECT_EQ(found->cases.size(), 2U) << "model-parallel and pipeline";
  EXPECT_THAT(found->text, HasSubstr("can only be cut at y,"));
}

TEST_F(ModelFile, SaysOnceThatNormalisationsMayBeFolded) {
  write_onnx(folder_ / "folded.onnx", "float[N, 3, 16, 16] x",
             onnx_biased_convolution("conv1", "x", "8, 3, 3, 3") + "relu = Relu (conv1) " +
                 onnx_biased_convolution("last", "relu", "8, 8, 3, 3") + onnx_classifier("last"));
  const std::string note = "folded.onnx: 2 convolutions and no normalisation. If the model has";
  const Finished folded = pipeline(
      {"--model", "folded.onnx", "--split", "2,4", "--width", "200", "--benchmark_repetitions=1"});
  ASSERT_EQ(folded.exit_code, 0) << folded.err;
  const std::size_t first = folded.out.find(note);
  ASSERT_NE(first, std::string::npos) << folded.out;
  EXPECT_LT(first, folded.out.find("Which split size")) << "it is above the table";
  EXPECT_EQ(folded.out.find(note, first + 1), std::string::npos);
  EXPECT_EQ(report::read_report(folder_ / "report.json").model_notes.size(), 1U);
  const Finished normalised =
      pipeline({"--model", "mine.onnx", "--strategy", "single", "--benchmark_repetitions=1"});
  ASSERT_EQ(normalised.exit_code, 0) << normalised.err;
  EXPECT_THAT(normalised.out, Not(HasSubstr("no normalisation")));
}

TEST_F(ModelFile, VerifiesNetworksOfOtherEnds) {
  const std::string product =
      onnx_zeros("w", "12, 6") + "m = MatMul (x, w) " + onnx_zeros("b", "6");
  const std::vector<std::pair<std::string, std::string>> models{
      {"float[N, 12] x", product + "a = Add (m, b) s = Relu (a) y = Softmax (s) "},
      {"float[N, 12] x", product + "y = Add (m, b) "},
      {"float[N, 7, 12] x", product + "y = Add (m, b) "},
      {"float[N, 3, 28, 28] x", onnx_convolution("y", "x", "8, 3, 3, 3")}};
  for (std::size_t i = 0; i < models.size(); ++i) {
    write_onnx(folder_ / "other.onnx", models[i].first, models[i].second);
    const Finished finished = pipeline({"--model", "other.onnx", "--strategy", "single",
                                        "--benchmark_repetitions=1", "--processes", "2"});
    EXPECT_EQ(finished.exit_code, 0) << i << finished.out << finished.err;
  }
}

TEST_F(ModelFile, VerifiesPublishedNetworksWithBranches) {
  write_onnx(folder_ / "squeezenet.onnx", "float[1, 3, 64, 64] x", onnx_squeezenet(), 9);
  write_onnx(folder_ / "inception.onnx", "float[1, 3, 224, 224] x", onnx_inception_v1(), 9);
  const Finished finished = run({PARBENCH_BINARY, "--scenario", "pipeline", "--model",
                                 "squeezenet.onnx,inception.onnx", "--batch", "2", "--strategy",
                                 "single", "--benchmark_repetitions=1", "--report", "report.json"},
                                {folder_.path(), {}});
  ASSERT_EQ(finished.exit_code, 0) << finished.out << finished.err;
  const report::Report report = report::read_report(folder_ / "report.json");
  ASSERT_EQ(report.cases.size(), 2U);
  for (const report::CaseResult& one : report.cases) {
    ASSERT_TRUE(one.verification);
    EXPECT_TRUE(one.verification->passed) << one.name;
  }
}

TEST_F(ModelFile, RunsAsAGraphOverDevices) {
  write_onnx(folder_ / "squeezenet.onnx", "float[1, 3, 64, 64] x", onnx_squeezenet(), 9);
  const Finished finished =
      run({PARBENCH_BINARY, "--scenario", "graph", "--model", "squeezenet.onnx", "--batch", "2",
           "--graph", "--devices", "2", "--benchmark_repetitions=2", "--report", "report.json"},
          {folder_.path(), {}});
  ASSERT_EQ(finished.exit_code, 0) << finished.out << finished.err;
  std::vector<std::string> names;
  for (const report::CaseResult& one : report::read_report(folder_ / "report.json").cases) {
    names.push_back(one.name);
    ASSERT_TRUE(one.verification);
    EXPECT_TRUE(one.verification->passed) << one.name;
  }
  const std::string network = "dag:network/model:squeezenet.onnx/batch:2/image:64/devices:2";
  EXPECT_THAT(names, ElementsAre("graph/sequential/" + network + "/graph:true",
                                 "graph/all-cores/" + network + "/graph:true",
                                 "graph/per-device/" + network + "/graph:true",
                                 "graph/by-dependency/" + network + "/graph:true"));
  const Finished again =
      run({PARBENCH_BINARY, "--rerun", "report.json", "--dry-run"}, {folder_.path(), {}});
  EXPECT_EQ(again.exit_code, 0) << again.err;
}

TEST_F(ModelFile, BeginsWithItsOwnWeightsAndTheLossOfTheUser) {
  write_onnx(folder_ / "own.onnx", "float[N, T, 12] x",
             onnx_zeros("w", "12, 6") + "m = MatMul (x, w) r = Relu (m) " +
                 onnx_zeros("v", "6, 4") + "y = MatMul (r, v) ");
  const Finished finished =
      pipeline({"--model", "own.onnx", "--dim", "T=7", "--prediction", "y", "--weights", "file",
                "--loss", "cross-entropy", "--split", "4", "--benchmark_repetitions=1"});
  ASSERT_EQ(finished.exit_code, 0) << finished.out << finished.err;
  const report::Report report = report::read_report(folder_ / "report.json");
  ASSERT_EQ(report.cases.size(), 4);
  for (const report::CaseResult& one : report.cases) {
    EXPECT_THAT(one.name, HasSubstr("/dim:T=7/prediction:y/loss:cross-entropy/weights:file"));
    ASSERT_TRUE(one.verification);
    EXPECT_TRUE(one.verification->passed) << one.name;
  }
  const Finished shipped = pipeline({"--model", "toy", "--weights", "file"});
  EXPECT_EQ(shipped.exit_code, 2);
  EXPECT_THAT(shipped.err, HasSubstr("--weights file applies to ONNX files only"));
}

TEST_F(ModelFile, SaysWhatIsWrongBeforeAnythingRuns) {
  const Finished missing = pipeline({"--model", "other.onnx"});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.err,
              AllOf(HasSubstr("--model 'other.onnx': no such file"), HasSubstr("check the path")));
  const Finished size = pipeline({"--model", "mine.onnx", "--layers", "3"});
  EXPECT_EQ(size.exit_code, 2);
  EXPECT_THAT(size.err, HasSubstr("--layers is not a size of model mine.onnx"));
}

TEST_F(ModelFile, FilesOfOneNameAreNotMixedUp) {
  std::filesystem::create_directory(folder_ / "old");
  std::filesystem::copy_file(folder_ / "mine.onnx", folder_ / "old/mine.onnx");
  const Finished finished = pipeline({"--model", "mine.onnx,old/mine.onnx"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, HasSubstr("give their files different names"));
}

}  // namespace
}  // namespace parbench::test
