// `parbench inspect`: what it says of models that ship and of files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/onnx_file.h"
#include "tests/support/process.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/widest_line.h"

namespace parbench::test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::Not;
using ::testing::StartsWith;

struct Inspect : testing::Test {
  [[nodiscard]] Finished inspect(const std::vector<std::string>& more) const {
    Words words{PARBENCH_BINARY, "inspect"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words, {folder_.path(), {}});
  }

  [[nodiscard]] json facts(std::vector<std::string> more) const {
    more.insert(more.end(), {"--format", "json"});
    const Finished finished = inspect(more);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return json::parse(finished.out);
  }

  TemporaryFolder folder_;
};

json unit_named(const json& facts, const std::string& name) {
  for (const json& unit : facts.at("units")) {
    if (unit.at("name") == name) return unit;
  }
  return {};
}

TEST_F(Inspect, CountsWhatIsPublishedOfResNet50) {
  const json found = facts({"resnet50", "--image", "224", "--batch", "1"});
  EXPECT_EQ(found["total"]["parameters"], 25557032);
  // He et al. count 3.8 billion multiply-adds; with the stride in the 3×3 convolution and with all
  // that is not a convolution it is 4.1.
  EXPECT_NEAR(found["total"]["forward_flops"].get<double>(), 2 * 4.1e9, 0.2e9);
  const double ratio =
      found["total"]["step_flops"].get<double>() / found["total"]["forward_flops"].get<double>();
  EXPECT_NEAR(ratio, 3, 0.1) << "the backward pass has two products for one";
  EXPECT_EQ(found["layers"].size(), 109);
  const json block = unit_named(found, "layer1.0");
  EXPECT_EQ(block["branches"], 2) << "the shortcut's convolution is beside the others";
  EXPECT_EQ(block["crossing_bytes"], 64 * 56 * 56 * 4);
  EXPECT_EQ(unit_named(found, "layer1.1")["branches"], 1);
}

TEST_F(Inspect, TotalsAreSumsOfLayersAndOfUnits) {
  const json found = facts({"toy", "--batch", "20"});
  EXPECT_EQ(found["total"]["parameters"], 10 * 10 + 10 + 5 * 10 + 5);
  double forward = 0;
  double step = 0;
  for (const json& layer : found["layers"]) {
    forward += layer["forward_flops"].get<double>();
    step += layer["step_flops"].get<double>();
  }
  EXPECT_EQ(forward, 20 * (2 * 100 + 10 + 10 + 2 * 50 + 5)) << "products, biases, ReLU";
  EXPECT_EQ(found["total"]["forward_flops"], forward);
  EXPECT_EQ(found["total"]["step_flops"].get<double>() - step, 4 * 20 * 5) << "the loss";
  double of_units = 0;
  for (const json& unit : found["units"]) of_units += unit["step_flops"].get<double>();
  EXPECT_EQ(of_units, step);
  EXPECT_EQ(found["total"]["kept_bytes"], 20 * (10 + 5) * 4) << "the ReLU's output, and the end";
  EXPECT_EQ(unit_named(found, "net2")["crossing_bytes"], 20 * 10 * 4);
}

TEST_F(Inspect, TablesFitTheTerminal) {
  const std::string name = "a" + std::string(40, 'b') + ".c" + std::string(40, 'd');
  write_onnx(folder_ / "long.onnx", "float[N, 3, 32, 32] x",
             onnx_convolution(name, "x", "8, 3, 3, 3") + "last = Relu (" + name + ") " +
                 onnx_classifier("last"));
  for (const std::string model : {"resnet50", "vgg16", "gpt", "mlp", "toy", "long.onnx"}) {
    const Finished finished = inspect({model, "--width", "80"});
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    EXPECT_THAT(widest_line(finished.out), Le(80)) << model << '\n' << finished.out;
    EXPECT_THAT(finished.out, HasSubstr("total")) << model;
  }
}

TEST_F(Inspect, IsHeadedByTheNameOfTheModel) {
  const Finished finished = inspect({"gpt2-124m", "--width", "80"});
  EXPECT_THAT(finished.out, StartsWith("gpt2-124m · gpt of 12 layers"));
  EXPECT_THAT(finished.out, AllOf(HasSubstr("--format json has all"), Not(HasSubstr("report"))));
  EXPECT_EQ(facts({"gpt2-124m"})["model"], "gpt2-124m");
  EXPECT_THAT(inspect({"mlp"}).out, StartsWith("mlp of 4 layers"));
  EXPECT_THAT(inspect({"toy"}).out, StartsWith("toy · input"));
}

TEST_F(Inspect, PagesHaveBothTables) {
  const Finished finished = inspect({"toy", "--format", "html", "-o", "toy.html"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  const std::string page = text_of(folder_ / "toy.html");
  EXPECT_THAT(page, AllOf(HasSubstr("<!doctype html>"), HasSubstr("Layers"), HasSubstr("net2"),
                          HasSubstr("</html>")));
}

TEST_F(Inspect, SaysHowToKeepNormalisationsThatAnExportMayHaveFolded) {
  const std::string first =
      onnx_biased_convolution("conv1", "x", "8, 3, 3, 3") + "relu = Relu (conv1) ";
  write_onnx(
      folder_ / "folded.onnx", "float[N, 3, 16, 16] x",
      first + onnx_biased_convolution("last", "relu", "8, 8, 3, 3") + onnx_classifier("last"));
  write_onnx(folder_ / "plain.onnx", "float[N, 3, 16, 16] x",
             first + onnx_convolution("last", "relu", "8, 8, 3, 3") + onnx_classifier("last"));
  write_onnx(folder_ / "kept.onnx", "float[N, 3, 16, 16] x",
             onnx_convolution("conv1", "x", "8, 3, 3, 3") +
                 onnx_normalisation("last", "conv1", "8") + onnx_classifier("last"));
  const json notes = facts({"folded.onnx"})["notes"];
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_THAT(notes[0].get<std::string>(),
              HasSubstr("dynamo=False, training=torch.onnx.TrainingMode.TRAINING, "
                        "do_constant_folding=False"));
  EXPECT_THAT(inspect({"folded.onnx"}).out,
              HasSubstr("\n! 2 convolutions and no normalisation. If the model has batch"));
  EXPECT_THAT(inspect({"folded.onnx", "--format", "html"}).out,
              HasSubstr("2 convolutions and no normalisation"));
  for (const std::string model : {"kept.onnx", "plain.onnx", "vgg16", "toy"}) {
    EXPECT_EQ(facts({model})["notes"], json::array()) << model;
  }
}

TEST_F(Inspect, RefusesWhatIsNoModel) {
  const auto expect_refusal = [&](const std::vector<std::string>& words, const std::string& why) {
    const Finished finished = inspect(words);
    EXPECT_EQ(finished.exit_code, 2);
    EXPECT_THAT(finished.err, HasSubstr(why));
  };
  expect_refusal({"resnet51"}, "did you mean");
  expect_refusal({"none.onnx"}, "no such file");
  expect_refusal({"toy", "--image", "32"}, "--image is not a size of model toy");
  expect_refusal({"gpt", "--heads", "7"},
                 "--heads 7 does not divide --hidden 256; choose a divisor such as 8, or another");
  expect_refusal({"gpt", "--loss", "mse"}, "--loss applies to ONNX files only");
  expect_refusal({"resnet50", "--image", "32", "--batch", "1"}, "--batch: 1 sample of");
}

}  // namespace
}  // namespace parbench::test
