// Numbers, constants of channels, parts of images and zeros around them from ONNX files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/base/error.h"
#include "scenarios/models/layers/convolution.h"
#include "scenarios/models/layers/images.h"
#include "scenarios/models/layers/sequences.h"
#include "scenarios/models/models.h"
#include "tests/support/onnx_file.h"
#include "tests/support/temporary_folder.h"

namespace parbench::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string image_input = "float[N, 8, 16, 16] x";

struct ConstantsImport : testing::Test {
  /// The network of nodes between x and y.
  [[nodiscard]] Network network(const std::string& nodes, const std::string& input = image_input,
                                int opset = 13) const {
    write_onnx(path_, input, nodes, opset);
    const Model model = model_named(path_);
    return model.make(model.sizes);
  }

  /// The layers in front of a linear one, which reads images of 8 channels.
  [[nodiscard]] std::vector<std::string> kinds_before_classifier(const std::string& nodes,
                                                                 int opset = 13) const {
    std::vector<std::string> kinds;
    for (const Layer& layer : network(nodes + onnx_classifier("last"), image_input, opset).layers) {
      kinds.emplace_back(layer.kind->name());
    }
    kinds.resize(kinds.size() - 2);  // the mean and the linear layer
    return kinds;
  }

  [[nodiscard]] std::string refusal(const std::string& nodes,
                                    const std::string& input = image_input) const {
    try {
      (void)network(nodes, input);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  }

  TemporaryFolder folder_;
  std::string path_ = (folder_ / "model.onnx").string();
};

TEST_F(ConstantsImport, RefusesAConstantOutput) {
  const std::string constant = onnx_zeros("w", "2, 3") + "y = Relu (w) ";
  EXPECT_THAT(refusal(constant, "float[N, 3] x"),
              HasSubstr("has the constant output y, from which no loss can be computed; export the "
                        "model with an output that depends on its input"));
}

TEST_F(ConstantsImport, ConstantsOfChannelsAreTrained) {
  const std::string channels = onnx_zeros("c", "8, 1, 1") + onnx_zeros("d", "1, 8, 1, 1");
  EXPECT_THAT(kinds_before_classifier(channels + "m = Mul (x, c) last = Add (d, m) "),
              ElementsAre("channel_scale", "channel_bias"));
  const Network rows = network(onnx_zeros("gamma", "6") + onnx_zeros("beta", "1, 6") +
                                   "m = Mul (gamma, x) y = Add (m, beta) ",
                               "float[N, 5, 6] x");
  ASSERT_EQ(rows.parameters().size(), 2U);
  EXPECT_EQ(rows.parameters()[0].name, "m.weight");
  EXPECT_EQ(element_count(rows.parameters()[0].shape), 6);
  EXPECT_EQ(rows.parameters()[1].shape, (Shape{6}));
  EXPECT_EQ(rows.layers.back().output, (Shape{5, 6}));
}

TEST_F(ConstantsImport, ANumberOfTheFileIsNamedAfterItsRole) {
  const Network found = network(onnx_zeros("w", "1, 3, 3, 3, 3") +
                                    "b = Constant <value = float[1] {0.5}> () "
                                    "y = Conv <kernel_shape = [3, 3, 3]> (x, w, b) ",
                                "float[N, 3, 4, 4, 4] x");
  ASSERT_EQ(found.parameters().size(), 2U);
  EXPECT_EQ(found.parameters()[0].name, "conv.w");
  EXPECT_EQ(found.parameters()[1].name, "conv.weight1");
}

TEST_F(ConstantsImport, ConstantsHaveTheValuesOfTheFile) {
  const auto values = [&](const std::string& node) {
    write_onnx(path_, "float[N, 3] x", "c = Constant <value = float[3] {1, 2, 4}> () " + node, 13);
    const Network found = model_named(path_, {.stored_weights = true}).make({});
    return *found.stored_values(found.parameters().front());
  };
  for (const std::string node : {"y = Mul (x, c) ", "y = Div (x, c) ", "y = Add (c, x) ",
                                 "y = Sub (x, c) ", "n = Neg (c) y = Sub (x, n) "}) {
    const bool is_negative = node.starts_with('n');
    EXPECT_THAT(values(node), is_negative ? ElementsAre(-1, -2, -4) : ElementsAre(1, 2, 4)) << node;
  }
}

TEST_F(ConstantsImport, RefusesShapesThatCannotBeJoined) {
  EXPECT_THAT(
      refusal(onnx_zeros("c", "7, 1, 1") + "last = Add (x, c) " + onnx_classifier("last")),
      HasSubstr(
          "Add: shapes cannot be broadcast together: {N, 8, 16, 16} and {7, 1, 1} (node last)"));
}

// --- padding ---

const std::string kernel_of_three = onnx_zeros("w", "8, 8, 3, 3");

TEST_F(ConstantsImport, ZerosAroundAnImageAreThoseOfTheConvolutionBehindThem) {
  const std::string nodes = kernel_of_three + onnx_integers("p", "0, 0, 1, 1, 0, 0, 1, 1", 8) +
                            "a = Pad (x, p) last = Conv (a, w) ";
  const Network found = network(nodes + onnx_classifier("last"));
  ASSERT_EQ(found.layers.size(), 3U);
  EXPECT_EQ(as<Convolution>(found.layer(0))->options().window.padding, 1);
  EXPECT_EQ(found.layer(0).output, (Shape{8, 16, 16}));
}

TEST_F(ConstantsImport, ZerosThatDifferBetweenEdgesAreALayer) {
  const Network found =
      network(kernel_of_three + "last = Conv <strides = [2, 2], pads = [0, 1, 1, 1]> (x, w) " +
              onnx_classifier("last"));
  ASSERT_EQ(found.layers.size(), 4U);
  EXPECT_EQ(as<Padding>(found.layer(0))->edges(),
            (Edges{.top = 0, .left = 1, .bottom = 1, .right = 0}))
      << "windows read no zeros on the right";
  EXPECT_EQ(found.layer(1).output, (Shape{8, 8, 8}));
  const Network lower = network(
      kernel_of_three + "last = Conv <strides = [2, 2], auto_pad = \"SAME_LOWER\"> (x, w) " +
      onnx_classifier("last"));
  ASSERT_EQ(lower.layers.size(), 3U);
  EXPECT_EQ(as<Convolution>(lower.layer(0))->options().window.padding, 1)
      << "windows read no zeros behind the image";
}

TEST_F(ConstantsImport, ZerosInFrontOfOtherLayersAreALayer) {
  EXPECT_THAT(kinds_before_classifier("a = Pad <pads = [0, 0, 1, 0, 0, 0, 1, 2]> (x) "
                                      "last = MaxPool <kernel_shape = [2, 2]> (a) ",
                                      10),
              ElementsAre("padding", "max_pool"));
  EXPECT_THAT(kinds_before_classifier(onnx_integers("p", "0, 0, 0, 0, 0, 0, 0, 0", 8) +
                                      "a = Pad (x, p) last = Relu (a) "),
              ElementsAre("activation"))
      << "no zeros are no layer";
  EXPECT_THAT(kinds_before_classifier(onnx_integers("p", "-1, 0, 0, -3", 4) +
                                          onnx_integers("axes", "3, 2", 2) +
                                          "a = Pad (x, p, , axes) last = Relu (a) ",
                                      18),
              ElementsAre("padding", "activation"));
}

/// As PyTorch's exporter computes the pads of F.pad where it does not fold constants.
TEST_F(ConstantsImport, PadsFollowFromConstants) {
  const Network found =
      network(onnx_integers("own", "1, 2, 3, 4", 4) + onnx_integers("four", "4", 1) +
              "zeros = ConstantOfShape <value = int64[1] {0}> (four) "
              "joined = Concat <axis = 0> (own, zeros) " +
              onnx_integers("pairs", "-1, 2", 2) + "matrix = Reshape (joined, pairs) " +
              onnx_integers("last_row", "-1", 1) + onnx_integers("end", "-9223372036854775807", 1) +
              onnx_integers("axis", "0", 1) + onnx_integers("back", "-1", 1) +
              "flipped = Slice (matrix, last_row, end, axis, back) "
              "turned = Transpose <perm = [1, 0]> (flipped) flat = Reshape (turned, back) "
              "pads = Cast <to = 7> (flat) last = Pad (x, pads) " +
              onnx_classifier("last"));
  EXPECT_EQ(as<Padding>(found.layer(0))->edges(),
            (Edges{.top = 3, .left = 1, .bottom = 4, .right = 2}));
}

TEST_F(ConstantsImport, RefusesPaddingThatLeavesNothing) {
  const auto reason = [&](const std::string& pads) {
    return refusal(onnx_integers("p", pads, 8) + "last = Pad (x, p) " + onnx_classifier("last"));
  };
  EXPECT_THAT(reason("0, 0, -8, 0, 0, 0, -8, 0"), HasSubstr("Pad: its result has no elements"));
  EXPECT_THAT(reason("0, 0, 9223372036854775807, 0, 0, 0, 0, 0"), HasSubstr("larger"));
}

// --- parts ---

TEST_F(ConstantsImport, PartsOfImagesAreLayers) {
  const Network split = network(
      "a, b = Split <axis = 1, split = [3, 5]> (x) last = Concat <axis = 1> "
      "(b, a) " +
          onnx_classifier("last"),
      image_input, 11);
  ASSERT_EQ(split.layers.size(), 5U);
  EXPECT_EQ(as<ChannelSlice>(split.layer(0))->first(), 0);
  EXPECT_EQ(as<ChannelSlice>(split.layer(1))->first(), 3);
  EXPECT_EQ(as<ChannelSlice>(split.layer(1))->count(), 5);
  const Network slice =
      network(onnx_integers("first", "4, 2, -12", 3) + onnx_integers("end", "99999, 15, -1", 3) +
              onnx_integers("axes", "1, 2, 3", 3) + "p = Slice (x, first, end, axes) " +
              onnx_zeros("w", "2, 4, 1, 1") + "y = Conv (p, w) ");
  ASSERT_EQ(slice.layers.size(), 3U);
  EXPECT_EQ(as<ChannelSlice>(slice.layer(0))->first(), 4);
  EXPECT_EQ(as<Padding>(slice.layer(1))->edges(),
            (Edges{.top = -2, .left = -4, .bottom = -1, .right = -1}));
  EXPECT_EQ(slice.layer(1).output, (Shape{4, 13, 11}));
}

TEST_F(ConstantsImport, PartsThatNothingReadsAreLeftOut) {
  EXPECT_THAT(kinds_before_classifier("big = Concat <axis = 1> (x, x) "
                                      "a, last, b = Split <axis = 1, split = [3, 8, 5]> (big) ",
                                      11),
              ElementsAre("concatenation", "channel_slice"));
}

TEST_F(ConstantsImport, RefusesPartsThatAreNone) {
  const auto split = [&](const std::string& sizes, const std::string& axis) {
    return refusal(onnx_integers("s", sizes, 2) + "last, b = Split <axis = " + axis + "> (x, s) " +
                   onnx_classifier("last"));
  };
  EXPECT_THAT(split("8, 0", "1"), HasSubstr("Split: its result has no elements (node last)"));
  EXPECT_THAT(split("8, 9223372036854775807", "1"), HasSubstr("Split: "));
  EXPECT_THAT(split("1, 1", "0"), HasSubstr("splitting the batch dimension"));
  EXPECT_THAT(refusal(onnx_integers("z", "0", 1) + onnx_integers("e", "-1", 1) +
                      "last = Slice (x, z, e, z) " + onnx_classifier("last")),
              HasSubstr("slicing the batch dimension"));
}

// --- transposed convolutions ---

TEST_F(ConstantsImport, TransposedConvolutionsHaveBiasesAndAnyPadding) {
  const auto layers = [&](const std::string& attributes) {
    return network(onnx_zeros("w", "8, 6, 3, 3") + onnx_zeros("b", "6") + "y = ConvTranspose <" +
                   attributes + "> (x, w, b) ");
  };
  const auto options = [](const Network& network) {
    return as<TransposedConvolution>(network.layer(0))->options();
  };
  const Network plain = layers("strides = [2, 2], pads = [1, 1, 0, 0]");
  ASSERT_EQ(plain.layers.size(), 1U);
  EXPECT_TRUE(options(plain).bias);
  EXPECT_EQ(options(plain).window.padding, 1);
  EXPECT_EQ(options(plain).output_padding, 1);
  EXPECT_EQ(plain.layer(0).output, (Shape{6, 32, 32}));

  const Network cut = layers("strides = [2, 2], pads = [0, 1, 2, 1]");
  ASSERT_EQ(cut.layers.size(), 2U);
  EXPECT_TRUE(options(cut).bias);
  EXPECT_EQ(as<Padding>(cut.layer(1))->edges(),
            (Edges{.top = 0, .left = -1, .bottom = -2, .right = -1}));

  const Network zeros = layers("strides = [1, 1], output_padding = [0, 1], dilations = [2, 2]");
  ASSERT_EQ(zeros.layers.size(), 3U);
  EXPECT_FALSE(options(zeros).bias) << "zeros have it too";
  EXPECT_EQ(as<Padding>(zeros.layer(1))->edges(), (Edges{.right = 1}));
  EXPECT_EQ(zeros.layer(2).kind->name(), "channel_bias");

  const Network same = layers("strides = [2, 2], auto_pad = \"SAME_UPPER\"");
  EXPECT_EQ(same.layers.back().output, (Shape{6, 32, 32}));
  EXPECT_EQ(same.layers.size(), 2U);
  EXPECT_EQ(as<Padding>(same.layer(1))->edges(), (Edges{.bottom = -1, .right = -1}));
  const Network lower = layers("strides = [2, 2], auto_pad = \"SAME_LOWER\"");
  ASSERT_EQ(lower.layers.size(), 1U);
  EXPECT_EQ(options(lower).window.padding, 1);
  EXPECT_EQ(options(lower).output_padding, 1);

  const Network wanted = layers("strides = [2, 2], output_shape = [31, 32]");
  ASSERT_EQ(wanted.layers.size(), 2U);
  EXPECT_EQ(wanted.layers.back().output, (Shape{6, 31, 32}));
  EXPECT_EQ(as<Padding>(wanted.layer(1))->edges(),
            (Edges{.top = -1, .left = -1, .bottom = -1, .right = 0}));

  const Network beyond = layers("strides = [2, 2], output_shape = [36, 34]");
  ASSERT_EQ(beyond.layers.size(), 3U);
  EXPECT_FALSE(options(beyond).bias) << "zeros have it too";
  EXPECT_EQ(as<Padding>(beyond.layer(1))->edges(), (Edges{.bottom = 3, .right = 1}));
  EXPECT_EQ(beyond.layer(2).kind->name(), "channel_bias");
}

TEST_F(ConstantsImport, TransposedConvolutionsHaveTheirWeightsAndBiases) {
  for (const std::string attributes : {"strides = [2, 2]", "pads = [1, 0, 0, 1]"}) {
    write_onnx(path_, "float[N, 1, 4, 4] x",
               "w = Constant <value = float[1, 1, 2, 2] {1, 2, 3, 4}> () "
               "b = Constant <value = float[1] {5}> () y = ConvTranspose <" +
                   attributes + "> (x, w, b) ",
               13);
    const Network found = model_named(path_, {.stored_weights = true}).make({});
    const std::vector<ParameterSpec> parameters = found.parameters();
    ASSERT_EQ(parameters.size(), 2U);
    EXPECT_THAT(*found.stored_values(parameters[0]), ElementsAre(1, 2, 3, 4));
    EXPECT_THAT(*found.stored_values(parameters[1]), ElementsAre(5));
  }
}

TEST_F(ConstantsImport, ABiasOfOneChannelIsTrainedEvenIfAnEarlierNodeReadsIt) {
  write_onnx(path_, "float[N, 1, 4, 4] x",
             "w = Constant <value = float[1, 1, 2, 2] {1, 2, 3, 4}> () "
             "b = Constant <value = float[1] {5}> () a = Add (x, b) "
             "y = ConvTranspose <strides = [2, 2], output_padding = [1, 1]> (a, w, b) ",
             13);
  const Network found = model_named(path_, {.stored_weights = true}).make({});
  const std::vector<ParameterSpec> parameters = found.parameters();
  ASSERT_EQ(parameters.size(), 2U);
  EXPECT_THAT(*found.stored_values(parameters[1]), ElementsAre(5));
}

TEST_F(ConstantsImport, RefusesTransposedConvolutionsThatDoNotFit) {
  const auto reason = [&](const std::string& attributes, const std::string& shape = "8, 6, 3, 3") {
    return refusal(onnx_zeros("w", shape) + "y = ConvTranspose <" + attributes + "> (x, w) ");
  };
  for (const std::string groups : {"3", "0", "-1", "16"}) {
    EXPECT_THAT(reason("group = " + groups),
                HasSubstr("its weights {8, 6, 3, 3} and " + groups +
                          " groups do not match its input {N, 8, 16, 16}"));
  }
  EXPECT_THAT(reason("group = 1", "7, 6, 3, 3"),
              HasSubstr("its weights {7, 6, 3, 3} and 1 groups"));
  EXPECT_THAT(reason("output_shape = [0, 16]"), HasSubstr("its result has no elements"));
  EXPECT_THAT(reason("output_shape = [16]"), HasSubstr("its output_shape does not fit its input"));
}

}  // namespace
}  // namespace parbench::test
