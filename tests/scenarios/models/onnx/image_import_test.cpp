// Networks of images from ONNX files: branches, windows, normalisations, whole architectures.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/base/error.h"
#include "scenarios/models/layers/convolution.h"
#include "scenarios/models/layers/images.h"
#include "scenarios/models/layers/norms.h"
#include "scenarios/models/models.h"
#include "tests/support/onnx_file.h"
#include "tests/support/onnx_networks.h"
#include "tests/support/temporary_folder.h"

namespace parbench::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct ImageImport : testing::Test {
  /// The network of nodes between x and y, which is linear behind `last` where that is there.
  [[nodiscard]] Network network(const std::string& nodes,
                                const std::string& input = "float[N, 8, 16, 16] x",
                                int opset = 9) const {
    write_onnx(path_, input, nodes, opset);
    const Model model = model_named(path_);
    return model.make(model.sizes);
  }

  [[nodiscard]] std::string refusal(const std::string& nodes,
                                    const std::string& input = "float[N, 8, 16, 16] x",
                                    int opset = 9) const {
    try {
      (void)network(nodes + onnx_classifier("last"), input, opset);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  }

  TemporaryFolder folder_;
  std::string path_ = (folder_ / "model.onnx").string();
};

std::vector<std::string> kinds_of(const Network& network) {
  std::vector<std::string> kinds;
  for (const Layer& layer : network.layers) kinds.emplace_back(layer.kind->name());
  return kinds;
}

std::int64_t parameters_of(const Network& network) {
  std::int64_t count = 0;
  for (const ParameterSpec& one : network.parameters()) count += element_count(one.shape);
  return count;
}

TEST_F(ImageImport, SqueezeNetHasItsPublishedParameters) {
  const Network found = network(onnx_squeezenet(), "float[1, 3, 224, 224] x");
  EXPECT_EQ(parameters_of(found), 1'235'496);
  EXPECT_EQ(found.layers.back().output, (Shape{1000}));
  EXPECT_EQ(found.loss, Loss::cross_entropy);
  EXPECT_EQ(std::ranges::count(kinds_of(found), "concatenation"), 8);
}

TEST_F(ImageImport, InceptionHasItsPublishedParameters) {
  const Network found = network(onnx_inception_v1(), "float[1, 3, 224, 224] x");
  EXPECT_EQ(parameters_of(found), 6'998'552);
  EXPECT_EQ(found.layers.back().output, (Shape{1000}));
  EXPECT_EQ(std::ranges::count(kinds_of(found), "local_response_norm"), 2);
  EXPECT_EQ(std::ranges::count(kinds_of(found), "concatenation"), 9);
  EXPECT_EQ(std::ranges::count(kinds_of(found), "global_average_pool"), 1)
      << "a padded window that covers the image";
  EXPECT_THAT(found.units, ::testing::Contains("ja_p_c")) << "between modules one tensor crosses";
}

TEST_F(ImageImport, WindowsHavePaddingBehindTheImage) {
  const Network found = network(
      "a = MaxPool <kernel_shape = [3, 3], strides = [2, 2], pads = [0, 0, 1, 1]> (x) "
      "b = MaxPool <kernel_shape = [2, 2], strides = [1, 1], auto_pad = \"SAME_UPPER\"> (a) "
      "last = AveragePool <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1], "
      "count_include_pad = 1> (b) " +
      onnx_classifier("last"));
  EXPECT_EQ(found.layer(0).output, (Shape{8, 8, 8}));
  EXPECT_EQ(as<MaxPool>(found.layer(0))->window().trailing, 1);
  EXPECT_EQ(found.layer(1).output, (Shape{8, 8, 8}));
  EXPECT_EQ(as<MaxPool>(found.layer(1))->window().trailing, 1);
  EXPECT_EQ(found.layer(2).output, (Shape{8, 4, 4}));
  EXPECT_TRUE(as<AveragePool>(found.layer(2))->counts_padding());
}

TEST_F(ImageImport, PaddingThatIsOddIsBehindTheImage) {
  const auto pool = [](const std::string& attributes) {
    return "last = MaxPool <strides = [1, 1], " + attributes + "> (x) ";
  };
  for (const int padding : {1, 2, 3}) {
    const Network found = network(
        pool(fmt::format("kernel_shape = [{0}, {0}], auto_pad = \"SAME_LOWER\"", 2 * padding + 1)) +
        onnx_classifier("last"));
    EXPECT_EQ(as<MaxPool>(found.layer(0))->window().padding, padding);
    EXPECT_EQ(as<MaxPool>(found.layer(0))->window().trailing, 0);
  }
}

TEST_F(ImageImport, RefusesPaddingThatNoWindowHas) {
  const std::string weights = onnx_zeros("w", "8, 8, 3, 3");
  for (const std::string node : {"MaxPool <kernel_shape = [3, 3], pads = ", "Conv <pads = "}) {
    const auto reason = [&](const std::string& pads) {
      const std::string inputs = node.starts_with("Conv") ? "> (x, w) " : "> (x) ";
      return refusal(weights + "last = " + node + pads + inputs);
    };
    EXPECT_THAT(reason("[1, 1]"), HasSubstr("its pads do not fit its input"));
    EXPECT_THAT(reason("[0, 0, -1, -1]"), HasSubstr("its pads do not fit its input"));
  }
  EXPECT_THAT(refusal("last = MaxPool <kernel_shape = [3, 3], pads = [0, 0, 3, 3]> (x) "),
              HasSubstr("MaxPool: padding of 0 and 3 could fill a window of 3"));
  EXPECT_THAT(refusal(onnx_zeros("w", "0, 8, 1, 1") + "last = Conv (x, w) "),
              HasSubstr("Conv: its weights {0, 8, 1, 1} do not match its input"));
}

TEST_F(ImageImport, RefusesAGlobalPoolWithoutChannels) {
  EXPECT_THAT(refusal("m = ReduceMean <axes = [1], keepdims = 0> (x) last = GlobalAveragePool (m) ",
                      "float[N, 8] x"),
              HasSubstr("GlobalAveragePool: its input needs 2 dimensions and has 1"));
}

// Sizes as PyTorch has them: a last window begins in the image or in the padding before it.
TEST_F(ImageImport, CeilModeRoundsUpTheNumberOfWindows) {
  const auto size_of_pool = [&](const std::string& attributes, int extent) {
    const Network found =
        network("last = MaxPool <ceil_mode = 1, " + attributes + "> (x) " + onnx_classifier("last"),
                fmt::format("float[N, 8, {0}, {0}] x", extent), 13);
    return found.layer(0).output[1];
  };
  EXPECT_EQ(size_of_pool("kernel_shape = [3, 3], strides = [2, 2]", 16), 8);
  EXPECT_EQ(size_of_pool("kernel_shape = [3, 3], strides = [2, 2]", 15), 7);
  EXPECT_EQ(size_of_pool("kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]", 16), 9);
  EXPECT_EQ(size_of_pool("kernel_shape = [1, 1], strides = [4, 4]", 16), 4);
}

TEST_F(ImageImport, ConvolutionsAreDilatedTransposedAndOfPixels) {
  const Network found = network(
      onnx_zeros("v", "8, 8, 3, 3") + "a = Conv <dilations = [2, 2], pads = [2, 2, 2, 2]> (x, v) " +
      onnx_zeros("w", "8, 4, 2, 2") +
      "b = ConvTranspose <strides = [2, 2], group = 2> (a, w) mean = GlobalAveragePool (b) " +
      onnx_zeros("u", "10, 8, 1, 1") + onnx_zeros("t", "10") + "y = Conv (mean, u, t) ");
  EXPECT_THAT(kinds_of(found), ElementsAre("convolution", "transposed_convolution",
                                           "global_average_pool", "linear"));
  EXPECT_EQ(as<Convolution>(found.layer(0))->options().window.dilation, 2);
  EXPECT_EQ(found.layer(0).output, (Shape{8, 16, 16}));
  EXPECT_EQ(found.layer(1).output, (Shape{8, 32, 32}));
  EXPECT_EQ(as<TransposedConvolution>(found.layer(1))->options().groups, 2);
  EXPECT_EQ(found.layer(3).output, (Shape{10}));
}

/// The scale and shift of a normalisation as Caffe's exporters write them.
const std::string scaled_norm =
    onnx_convolution("conv", "x", "8, 8, 3, 3") + onnx_normalisation("bn", "conv", "8") +
    onnx_zeros("s", "8") + onnx_zeros("h", "8") +
    "s1 = Unsqueeze <axes = [1, 2]> (s) m = Mul (bn, s1) h1 = Unsqueeze <axes = [1, 2]> (h) "
    "a = Add (m, h1) ";

TEST_F(ImageImport, ScaleAndShiftAreThoseOfTheNormalisationBeforeThem) {
  const Network found = network(scaled_norm + "last = Relu (a) " + onnx_classifier("last"));
  EXPECT_THAT(kinds_of(found),
              ElementsAre("convolution", "batch_norm", "global_average_pool", "linear"));
  EXPECT_TRUE(as<BatchNorm>(found.layer(1))->relu());
}

TEST_F(ImageImport, AReluBehindASharedNormalisationStaysALayer) {
  const Network found =
      network(scaled_norm + "r = Relu (a) last = Add (r, a) " + onnx_classifier("last"));
  EXPECT_THAT(kinds_of(found), ElementsAre("convolution", "batch_norm", "activation", "addition",
                                           "global_average_pool", "linear"));
  EXPECT_FALSE(as<BatchNorm>(found.layer(1))->relu());
}

TEST_F(ImageImport, ANormalisationWithoutAReluTakesTheSumWithOneThatHasIt) {
  const Network found =
      network(onnx_convolution("one", "x", "8, 8, 3, 3") + onnx_normalisation("bn1", "one", "8") +
              "r = Relu (bn1) " + onnx_convolution("two", "x", "8, 8, 3, 3") +
              onnx_normalisation("bn2", "two", "8") + "sum = Add (r, bn2) last = Relu (sum) " +
              onnx_classifier("last"));
  EXPECT_THAT(kinds_of(found), ElementsAre("convolution", "batch_norm", "convolution", "batch_norm",
                                           "global_average_pool", "linear"));
  EXPECT_THAT(found.layer(3).inputs, ElementsAre(2, 1));
}

TEST_F(ImageImport, TwoReshapesAroundATranspositionShuffleChannels) {
  const std::string grouped =
      "g = Constant <value = int64[5] {1, 4, 2, 16, 16}> () s = Reshape (x, g) ";
  const std::string image =
      "i = Constant <value = int64[4] {1, 8, 16, 16}> () last = Reshape (t, i) ";
  const std::string good =
      grouped + "t = Transpose <perm = [0, 2, 1, 3, 4]> (s) " + image + onnx_classifier("last");
  const Network found = network(good, "float[1, 8, 16, 16] x");
  EXPECT_THAT(kinds_of(found), ElementsAre("channel_shuffle", "global_average_pool", "linear"));
  EXPECT_EQ(as<ChannelShuffle>(found.layer(0))->groups(), 4);
}

TEST_F(ImageImport, MeansOverImagesAreALayer) {
  const Network found = network("m = ReduceMean <axes = [-1, 2], keepdims = 0> (x) " +
                                onnx_zeros("w", "8, 10") + "y = MatMul (m, w) ");
  ASSERT_EQ(found.layers.size(), 2U);
  EXPECT_EQ(element_count(found.layer(0).output), 8);
}

/// Sizes agree by chance: 4x4 pixels and 16 channels, 8 columns and 2x2 pixels of 2 channels.
TEST_F(ImageImport, ChannelsAreNotTakenForPixels) {
  const Network biased = network(onnx_zeros("w", "16, 8, 1, 1") + onnx_zeros("b", "16") +
                                     onnx_integers("z", "0, 16, 16", 3) +
                                     "c = Conv (x, w) r = Reshape (c, z) y = Add (r, b) ",
                                 "float[N, 8, 4, 4] x");
  ASSERT_NE(as<Convolution>(biased.layer(0)), nullptr);
  EXPECT_FALSE(as<Convolution>(biased.layer(0))->options().bias) << "they belong to pixels";
  const Network square =
      network(onnx_zeros("w", "3, 2, 1, 1") + onnx_integers("z", "0, 2, 2, 2", 4) +
                  "r = Reshape (x, z) y = Conv (r, w) ",
              "float[N, 8] x");
  EXPECT_EQ(square.layers.back().kind->name(), "convolution");
  EXPECT_EQ(square.layers.back().output, (Shape{3, 2, 2}));
}

TEST_F(ImageImport, RefusesWhatDoesNotFit) {
  EXPECT_THAT(
      refusal(onnx_zeros("w", "8, 8, 1, 1") + onnx_zeros("b", "7") + "last = Conv (x, w, b) "),
      HasSubstr("its biases must have one value per output channel"));
  EXPECT_THAT(refusal(onnx_zeros("w", "8, 8, 2, 2") +
                      "last = ConvTranspose <output_padding = [-1, 0]> (x, w) "),
              HasSubstr("its output_padding do not fit its input"));
}

}  // namespace
}  // namespace parbench::test
