// Networks of ONNX files: which layers nodes become, and what is refused.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/base/error.h"
#include "scenarios/models/layers/convolution.h"
#include "scenarios/models/layers/norms.h"
#include "scenarios/models/models.h"
#include "scenarios/models/onnx/reading/file.h"
#include "tests/support/onnx_file.h"
#include "tests/support/temporary_folder.h"

namespace parbench::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

struct OnnxImport : testing::Test {
  /// A file with such nodes between its input and output y.
  [[nodiscard]] std::string file(const std::string& nodes,
                                 const std::string& inputs = "float[N, 3, 32, 32] x",
                                 int opset = 13) const {
    write_onnx(path_, inputs, nodes, opset);
    return path_;
  }

  [[nodiscard]] std::string save(const onnx::ModelProto& model) const {
    std::ofstream stream(path_, std::ios::binary);
    EXPECT_TRUE(model.SerializeToOstream(&stream));
    return path_;
  }

  [[nodiscard]] static Network network(const std::string& path, ModelSizes sizes = {}) {
    const Model model = model_named(path);
    for (const auto& [name, usual] : model.sizes) sizes.try_emplace(name, usual);
    return model.make(sizes);
  }

  [[nodiscard]] static std::string refusal(const std::string& path, const ModelSizes& sizes = {}) {
    try {
      (void)network(path, sizes);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  }

  TemporaryFolder folder_;
  std::string path_ = (folder_ / "model.onnx").string();
};

/// "convolution conv1 of -1": kind, name and inputs.
std::vector<std::string> layers_of(const Network& network) {
  std::vector<std::string> texts;
  for (const Layer& layer : network.layers) {
    std::string text = fmt::format("{} {} of", layer.kind->name(), layer.name);
    for (const int input : layer.inputs) text += fmt::format(" {}", input);
    texts.push_back(text);
  }
  return texts;
}

const std::string classifier = onnx_classifier("last");

TEST_F(OnnxImport, ReluAndResidualSumsBecomePartsOfNormalisations) {
  const Network found = network(file(
      onnx_convolution("conv1", "x", "8, 3, 3, 3") + onnx_normalisation("bn1", "conv1", "8") +
      "relu1 = Relu (bn1) " + onnx_convolution("conv2", "relu1", "8, 8, 3, 3") +
      onnx_normalisation("bn2", "conv2", "8") + onnx_convolution("down", "relu1", "8, 8, 3, 3") +
      onnx_normalisation("bn3", "down", "8") + "sum = Add (bn2, bn3) last = Relu (sum) " +
      classifier));
  EXPECT_THAT(layers_of(found), ElementsAre("convolution conv1 of -1", "batch_norm bn1 of 0",
                                            "convolution conv2 of 1", "convolution down of 1",
                                            "batch_norm bn3 of 3", "batch_norm bn2 of 2 4",
                                            "global_average_pool mean of 5", "linear fc of 6"));
  EXPECT_TRUE(as<BatchNorm>(found.layer(1))->relu());
  EXPECT_FALSE(as<BatchNorm>(found.layer(4))->relu());
  EXPECT_TRUE(as<BatchNorm>(found.layer(5))->relu());
  EXPECT_THAT(found.units, ElementsAre("conv1", "conv2", "fc"))
      << "between the two branches two tensors cross";
  EXPECT_EQ(found.layer(7).output, (Shape{10}));
  EXPECT_EQ(found.loss, Loss::mean_squared_error);
}

TEST_F(OnnxImport, AConnectionPastManyLayersLeavesThemUnitsOfTheirOwn) {
  const auto units_behind_a_connection_past = [&](int layers) {
    std::string nodes = onnx_convolution("c0", "x", "8, 3, 3, 3");
    for (int i = 1; i <= layers; ++i) {
      nodes += onnx_convolution(fmt::format("c{}", i), fmt::format("c{}", i - 1), "8, 8, 3, 3");
    }
    nodes += fmt::format("last = Add (c{}, c0) ", layers);
    return network(file(nodes + classifier)).units;
  };
  EXPECT_THAT(units_behind_a_connection_past(16), ElementsAre("c0", "c1", "fc"));
  const std::vector<std::string> many = units_behind_a_connection_past(17);
  EXPECT_EQ(many.size(), 19U);
  EXPECT_EQ(many[9], "c9");
}

TEST_F(OnnxImport, AReluThatOthersReadAroundStaysALayer) {
  const Network found = network(file(onnx_convolution("conv1", "x", "8, 3, 3, 3") +
                                     onnx_normalisation("bn1", "conv1", "8") +
                                     "relu1 = Relu (bn1) last = Add (relu1, bn1) " + classifier));
  EXPECT_THAT(layers_of(found), ElementsAre("convolution conv1 of -1", "batch_norm bn1 of 0",
                                            "activation relu1 of 1", "addition last of 2 1",
                                            "global_average_pool mean of 3", "linear fc of 4"));
}

TEST_F(OnnxImport, WindowsAreThoseOfTheFile) {
  const Network found = network(
      file(onnx_zeros("w", "8, 1, 5, 5") + onnx_zeros("b", "8") + onnx_zeros("v", "8, 8, 3, 3") +
               "a = Conv <group = 1, strides = [2, 2], pads = [2, 2, 2, 2]> (one, w, b) "
               "c = Conv <auto_pad = \"SAME_UPPER\"> (a, v) "
               "p = MaxPool <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]> (c) "
               "last = Clip <min = 0.0, max = 6.0> (p) " +
               classifier,
           "float[N, 1, 32, 32] one", 9));
  EXPECT_EQ(found.layer(0).output, (Shape{8, 16, 16}));
  EXPECT_TRUE(as<Convolution>(found.layer(0))->options().bias);
  EXPECT_EQ(found.layer(1).output, (Shape{8, 16, 16}));
  EXPECT_FALSE(as<Convolution>(found.layer(1))->options().bias);
  EXPECT_EQ(found.layer(2).output, (Shape{8, 8, 8}));
}

TEST_F(OnnxImport, OtherSizesOfImagesAreThoseThatTheNetworkAllows) {
  const std::string pooled =
      file(onnx_convolution("last", "x", "8, 3, 3, 3") + classifier, "float[1, 3, 32, 32] x");
  EXPECT_EQ(network(pooled, {{"image", 48}}).layer(0).output, (Shape{8, 48, 48}));
  const std::string open =
      file(onnx_convolution("last", "x", "8, 3, 3, 3") + classifier, "float[N, 3, H, W] x");
  EXPECT_EQ(model_named(open).sizes.at("image"), 224);
  const std::string flat = file(
      onnx_convolution("c", "x", "8, 3, 3, 3") + onnx_zeros("w", "8192, 10") +
          onnx_zeros("b", "10") +
          "to = Constant <value = int64[2] {1, 8192}> () r = Reshape (c, to) y = Gemm (r, w, b) ",
      "float[1, 3, 32, 32] x");
  EXPECT_EQ(network(flat).layers.back().output, (Shape{10})) << "of any batch";
  EXPECT_THAT(refusal(flat, {{"image", 64}}),
              HasSubstr("Reshape: dividing the batch dimension of {N, 8, 64, 64}"));
}

TEST_F(OnnxImport, ASoftmaxAtTheEndIsAPartOfTheLoss) {
  const std::string nodes =
      onnx_zeros("w", "6, 4") + onnx_zeros("b", "4") + "m = MatMul (x, w) a = Add (m, b) ";
  const Network found = network(file(nodes + "y = Softmax (a) ", "float[N, 6] x"));
  EXPECT_THAT(layers_of(found), ElementsAre("linear m of -1"));
  EXPECT_EQ(found.loss, Loss::cross_entropy);
  EXPECT_EQ(network(file(nodes + "s = Softmax (a) y = Relu (s) ", "float[N, 6] x")).loss,
            Loss::mean_squared_error)
      << "a softmax inside of the network";
  EXPECT_EQ(network(file(nodes + "y = Softmax <axis = 0> (a) ", "float[N, 6] x")).loss,
            Loss::mean_squared_error)
      << "over the batch dimension";
}

TEST_F(OnnxImport, WhatTheOutputDoesNotDependOnIsLeftOut) {
  const Network found = network(file(onnx_convolution("last", "x", "8, 3, 3, 3") +
                                     "unused = Einsum <equation = \"a\"> (last) " + classifier));
  EXPECT_EQ(found.layers.size(), 3);
}

TEST_F(OnnxImport, NamesAllNodesThatHaveNoLayer) {
  const std::string text =
      refusal(file(onnx_convolution("c", "x", "8, 3, 3, 3") +
                   "s1 = Det (c) s2 = Det (c) s3 = Det (c) s4 = Det (c) s5 = Det (c) s6 = Det (c) "
                   "p = MaxPool <kernel_shape = [99, 99]> (c) q = Relu (s6) "
                   "last = Sum (p, q, s1, s2, s3, s4, s5) " +
                   classifier));
  EXPECT_THAT(text,
              AllOf(HasSubstr("model.onnx' has 7 of 13 nodes that parbench does not support"),
                    HasSubstr("(operator set 13)"),
                    HasSubstr("Det: not supported; see docs/guide/own-model.md#operators (node "
                              "s1, s2, s3 and 3 more)"),
                    HasSubstr("MaxPool: its window is larger than its input (node p)")));
  EXPECT_THAT(text, Not(HasSubstr("Relu"))) << "only because of what it reads";
}

TEST_F(OnnxImport, RefusesWhatAWindowOrAProductCannotBe) {
  const auto reason = [&](const std::string& nodes) {
    return refusal(file(nodes + classifier, "float[N, 8, 16, 16] x"));
  };
  EXPECT_THAT(
      reason(onnx_convolution("last", "x", "8, 3, 3, 3")),
      HasSubstr("its weights {8, 3, 3, 3} do not match its input {N, 8, 16, 16} and 1 groups"));
  EXPECT_THAT(reason(onnx_convolution("last", "x", "8, 8, 3, 3", ", strides = [0, 0]")),
              HasSubstr("it has a stride of 0"));
  EXPECT_THAT(reason(onnx_zeros("w", "1099511627776, 1099511627776, 3, 3") + "last = Conv (x, w) "),
              HasSubstr("larger than any memory"));
}

TEST_F(OnnxImport, RefusesNormalisationsWithoutANumberForEachChannel) {
  const std::vector<std::string> parts{"scale", "shift", "centre", "spread"};
  for (const std::string& wrong : parts) {
    std::string nodes;
    for (const std::string& part : parts) nodes += onnx_zeros(part, part == wrong ? "1" : "8");
    EXPECT_THAT(
        refusal(file(
            nodes + "last = BatchNormalization (x, scale, shift, centre, spread) " + classifier,
            "float[N, 8, 16, 16] x")),
        HasSubstr("parameters must have one value per channel"))
        << wrong;
  }
}

/// A linear layer from three values to y.
std::string linear(const std::string& input) {
  return onnx_zeros("fc.weight", "4, 3") + onnx_zeros("fc.bias", "4") + "y = Gemm <transB = 1> (" +
         input + ", fc.weight, fc.bias) ";
}

TEST_F(OnnxImport, AProductAndTheSumWithItsBiasAreALayer) {
  const std::string product = onnx_zeros("w", "3, 4") + "m = MatMul (x, w) " + onnx_zeros("b", "4");
  const Network found = network(file(product + "a = Add (b, m) y = Relu (a) ", "float[N, 5, 3] x"));
  EXPECT_THAT(layers_of(found), ElementsAre("linear m of -1", "activation y of 0"));
  EXPECT_EQ(found.layers.front().output, (Shape{5, 4}));
}

TEST_F(OnnxImport, AProductWithoutABiasIsALayerWithout) {
  const Network found = network(
      file(onnx_zeros("w", "6, 4") + "m = MatMul (x, w) y = Add (m, m) ", "float[N, 5, 6] x"));
  EXPECT_THAT(layers_of(found), ElementsAre("linear m of -1", "addition y of 0 0"));
  ASSERT_EQ(found.parameters().size(), 1);
  EXPECT_EQ(found.parameters().front().shape, (Shape{4, 6}));
}

TEST_F(OnnxImport, OpenDimensionsHaveTheSizesThatAreGivenByTheirNames) {
  const std::string path = file(onnx_zeros("w", "3, 4") + "y = MatMul (x, w) ", "float[N, T, 3] x");
  const FileOptions options{.dimensions = dimensions_named("T=7")};
  EXPECT_EQ(model_named(path, options).make({}).layers.front().output, (Shape{7, 4}));
  const FileOptions unknown{.dimensions = dimensions_named("T=7+S=2")};
  EXPECT_THAT([&] { (void)model_named(path, unknown).make({}); },
              ::testing::ThrowsMessage<UsageError>(HasSubstr("no open dimension 'S'")));
  for (const char* text : {"", "T", "T=", "=3", "T=0", "T=x", "T=1+T=2", "T=1+", "T=99999999999"}) {
    EXPECT_THROW((void)dimensions_named(text), UsageError) << text;
  }
}

TEST_F(OnnxImport, TheLossIsThatOfTheUserWhereTheEndAllowsIt) {
  const auto with = [](const std::string& path, Loss loss) {
    return model_named(path, {.loss = loss}).make({}).loss;
  };
  const std::string nodes = onnx_zeros("w", "6, 4") + "m = MatMul (x, w) ";
  const std::string open = file(nodes + "y = Identity (m) ", "float[N, 6] x");
  EXPECT_EQ(with(open, Loss::cross_entropy), Loss::cross_entropy);
  EXPECT_EQ(with(open, Loss::mean_squared_error), Loss::mean_squared_error);
  const std::string closed = file(nodes + "y = Softmax (m) ", "float[N, 6] x");
  EXPECT_THAT([&] { (void)with(closed, Loss::mean_squared_error); },
              ::testing::ThrowsMessage<UsageError>(HasSubstr("ends with a softmax")));
  const std::string image = file(onnx_convolution("y", "x", "8, 3, 3, 3"), "float[N, 3, 8, 8] x");
  EXPECT_THAT(
      [&] {
        (void)model_named(image, {.loss = Loss::cross_entropy}).make({{"image", 8}});
      },
      ::testing::ThrowsMessage<UsageError>(HasSubstr("images as its output")));
}

TEST_F(OnnxImport, WeightsOfTheFileAreWantedOfAllParameters) {
  const FileOptions stored{.stored_weights = true};
  const std::string path = file(linear("x"), "float[N, 3] x");
  const Network found = model_named(path, stored).make({});
  for (const ParameterSpec& spec : found.parameters()) {
    EXPECT_EQ(*found.stored_values(spec),
              std::vector<float>(static_cast<std::size_t>(element_count(spec.shape)), 0.0F));
  }
}

TEST_F(OnnxImport, RefusesWhatItWouldOtherwiseLeaveOut) {
  EXPECT_THAT(refusal(file("p, i = MaxPool <kernel_shape = [2, 2]> (x) last = Relu (i) " +
                               onnx_classifier("last"),
                           "float[N, 8, 16, 16] x")),
              HasSubstr("MaxPool: the indices of maxima (its second output) are not supported "
                        "(node p)"));
  const std::string dropped = onnx_zeros("w", "3, 2") + "p = MatMul (x, w) ";
  const std::string unsupported = "Dropout: its output 2 is read and not supported (node d)";
  EXPECT_THAT(
      refusal(file(dropped + "d, m = Dropout (p) y = Where (m, d, p) ", "float[N, 3] x")),
      AllOf(HasSubstr("has 1 of 3 nodes that parbench does not support"), HasSubstr(unsupported)));
  EXPECT_THAT(refusal(file(dropped + "d, y = Dropout (p) ", "float[N, 3] x")),
              HasSubstr(unsupported));
  EXPECT_THAT(refusal(file("y = Relu (x) ", "float[N, 3] x")), HasSubstr("no weights to train"));
  EXPECT_THAT(refusal(file("a = Dropout <ratio = 1.5> (x) " + linear("a"), "float[N, 3] x", 9)),
              HasSubstr("not between 0 and 1"));
  EXPECT_THAT(
      refusal(file("r = Constant <value_floats = [0.5]> () a = Dropout (x, r) " + linear("a"),
                   "float[N, 3] x")),
      HasSubstr("the type of its value is not supported"));
  EXPECT_THAT(refusal(file("a = Relu (x) a = Tanh (x) " + linear("a"), "float[N, 3] x", 19)),
              HasSubstr("'a' is computed twice"));
}

TEST_F(OnnxImport, RefusesNumbersThatOverflow) {
  const auto reason = [&](const std::string& attributes) {
    return refusal(file(
        onnx_zeros("w", "8, 8, 3, 3") + "last = Conv <" + attributes + "> (x, w) " + classifier,
        "float[N, 8, 16, 16] x"));
  };
  EXPECT_THAT(reason("strides = [9223372036854775807, 9223372036854775807]"),
              HasSubstr("its strides are larger than any image"));
  EXPECT_THAT(reason("group = 4611686018427387904"), HasSubstr("its group is 4611686018427387904"));
  EXPECT_THAT(reason("pads = [4611686018427387904, 4611686018427387904, 4611686018427387904, "
                     "4611686018427387904]"),
              HasSubstr("its pads are larger than any image"));
}

TEST_F(OnnxImport, RefusesTensorsThatAreShorterThanTheirShape) {
  onnx::ModelProto model;
  std::ifstream stream(file("y = Relu (x) ", "float[N, 3] x"), std::ios::binary);
  ASSERT_TRUE(model.ParseFromIstream(&stream));
  for (const auto type : {onnx::TensorProto::INT64, onnx::TensorProto::FLOAT}) {
    for (const std::size_t bytes : {3, 7, 9}) {
      model.mutable_graph()->clear_initializer();
      onnx::TensorProto& tensor = *model.mutable_graph()->add_initializer();
      tensor.set_name("short");
      tensor.set_data_type(type);
      tensor.add_dims(1);
      tensor.set_raw_data(std::string(bytes, '\1'));
      EXPECT_THAT(refusal(save(model)),
                  HasSubstr("short has a number of values that does not match its shape"))
          << bytes;
    }
  }
}

TEST_F(OnnxImport, SeveralInputsArePartsOfOne) {
  const Network found = network(file(onnx_zeros("w", "3, 4") + "m = MatMul (x, w) y = Add (m, z) ",
                                     "float[N, 5, 3] x, float[N, 5, 4] z"));
  EXPECT_EQ(found.input, (Shape{35}));
  EXPECT_EQ(found.layers.back().output, (Shape{5, 4}));
  const Network tokens = network(file(
      onnx_zeros("w", "7, 4") + "a = Gather (w, x) b = Gather (w, z) y = Concat <axis = 1> (a, b) ",
      "int64[N, 5] x, int64[N, 2] z, int64[N, 5] attention_mask"));
  EXPECT_EQ(tokens.input, (Shape{7}));
  EXPECT_EQ(tokens.vocabulary, 7);
  EXPECT_EQ(tokens.layers.back().output, (Shape{7, 4}));
}

TEST_F(OnnxImport, LayersWithTheSameWeightsAreTied) {
  const std::string weights = "w = Constant <value = float[2, 2] {1, 2, 3, 4}> () ";
  const Network tied =
      network(file(weights + "a = MatMul (x, w) b = Relu (a) y = MatMul (b, w) ", "float[N, 2] x"));
  EXPECT_EQ(tied.parameters().size(), 1U);
  EXPECT_EQ(tied.layers.back().tied_to, 0);
  const Network merged =
      network(file(onnx_zeros("w", "2, 2") + "a = MatMul (x, w) b = Relu (a) y = MatMul (b, w) ",
                   "float[N, 2] x"));
  EXPECT_EQ(merged.parameters().size(), 2U) << "exporters merge equal initial values";
  EXPECT_THAT(refusal(file(weights + "b = Constant <value = float[2] {5, 6}> () "
                                     "a = Gemm (x, w, b) r = Relu (a) y = MatMul (r, w) ",
                           "float[N, 2] x")),
              AllOf(HasSubstr("its layers 'a' and 'y' share some of their weights"),
                    HasSubstr("export it with dynamo=False")));
}

TEST_F(OnnxImport, ParametersOfSeveralCompositionsAreLayersOfTheirOwn) {
  const Network found = network(
      file("w = Constant <value = float[2, 2] {1, 2, 3, 4}> () g = Constant <value = float[2] {5, "
           "6}> () "
           "h = Constant <value = float[2] {7, 8}> () v = Constant <value = float[2, 2] {9, 8, 7, "
           "6}> () "
           "xt = Transpose <perm = [0, 2, 1]> (x) xs = MatMul (x, xt) xw = Add (xs, w) "
           "xe = Softmax <axis = -1> (xw) xm = MatMul (xe, x) xg = Mul (xm, g) m = MatMul (xg, v) "
           "mt = Transpose <perm = [0, 2, 1]> (m) ms = MatMul (m, mt) mw = Add (ms, w) "
           "me = Softmax <axis = -1> (mw) mm = MatMul (me, m) y = Mul (mm, h) ",
           "float[N, 2, 2] x"));
  EXPECT_THAT(layers_of(found), ElementsAre("parameter w of -1", "mul mul of -1 0", "linear m of 1",
                                            "mul mul_2 of 2 0"));
  EXPECT_EQ(found.layers.front().output, (Shape{4}));
  EXPECT_EQ(found.parameters().size(), 4U);
}

TEST_F(OnnxImport, RefusesInputsThatCannotBeDrawn) {
  EXPECT_THAT(refusal(file("y = Identity (x) ", "bool[N, 3] x")),
              HasSubstr("has no input of floating-point numbers or tokens"));
  EXPECT_THAT(refusal(file(onnx_zeros("w", "3, 4") + "c = Cast <to = 1> (x) y = MatMul (c, w) ",
                           "int64[N, 3] x")),
              HasSubstr("has tokens that are read by an operator other than Gather from a table"));
  EXPECT_THAT(
      refusal(file("y = Relu (x) ", "float[N, T, 3] x")),
      HasSubstr("leaves dimension 1 of its input 'x' open; give its size with --dim T=SIZE"));
  EXPECT_THAT(refusal(file("y = Relu (x) ", "float[3] x")), HasSubstr("without a batch dimension"));
}

TEST_F(OnnxImport, RefusesFilesThatAreNoModels) {
  EXPECT_THAT(refusal((folder_ / "none.onnx").string()), HasSubstr("none.onnx': no such file"));
  std::filesystem::create_directory(folder_ / "folder.onnx");
  EXPECT_THAT(refusal((folder_ / "folder.onnx").string()), HasSubstr("no such file"));
  EXPECT_THAT(refusal(file("y = Relu (x) ", "float[N, 3] x", 5)),
              HasSubstr("operator set 5; allowed"));
  EXPECT_THAT(refusal(file("y = Relu (nothing) ", "float[N, 3] x", 20)),
              HasSubstr("Relu '' reads 'nothing', which no earlier node computes"));
  EXPECT_THAT(refusal(file("y = Relu (nothing) ", "float[N, 3] x")),
              AllOf(HasSubstr("breaks a rule of ONNX"),
                    HasSubstr("OpType: Relu is not output of any previous nodes")));
}

TEST_F(OnnxImport, RefusesAModelWhoseWeightsAreElsewhere) {
  onnx::ModelProto model;
  std::ifstream stream(file(linear("x"), "float[N, 3] x"), std::ios::binary);
  ASSERT_TRUE(model.ParseFromIstream(&stream));
  onnx::TensorProto& weights = *model.mutable_graph()->add_initializer();
  weights.set_name("w");
  weights.set_data_type(onnx::TensorProto::FLOAT);
  weights.add_dims(3);
  weights.set_data_location(onnx::TensorProto::EXTERNAL);
  onnx::StringStringEntryProto& entry = *weights.add_external_data();
  entry.set_key("location");
  entry.set_value("weights.bin");
  EXPECT_THAT(refusal(save(model)), HasSubstr("stores 'w' in 'weights.bin': no such file"));
  entry.set_value("../weights.bin");
  EXPECT_THAT(refusal(save(model)), HasSubstr("outside of its folder"));
  entry.set_value("weights.bin");
  std::ofstream(folder_ / "weights.bin") << "numbers";
  EXPECT_EQ(refusal(save(model)), "accepted");
}

/// A node as it is, and without each of its inputs and attributes.
std::vector<onnx::NodeProto> lesser_nodes(const onnx::NodeProto& whole) {
  std::vector<onnx::NodeProto> nodes;
  for (int i = 0; i < whole.input_size(); ++i) {
    onnx::NodeProto& left_out = nodes.emplace_back(whole);
    left_out.mutable_input()->DeleteSubrange(i, 1);
    nodes.emplace_back(whole).set_input(i, "");
  }
  for (int i = 0; i < whole.attribute_size(); ++i) {
    nodes.emplace_back(whole).mutable_attribute()->DeleteSubrange(i, 1);
    onnx::AttributeProto& other = *nodes.emplace_back(whole).mutable_attribute(i);
    other.set_type(onnx::AttributeProto::STRING);
    other.set_s("of another type");
  }
  return nodes;
}

TEST_F(OnnxImport, NodesWithoutAnInputOrAttributeAreNoFaultOfTheImporter) {
  // The rules of ONNX are not checked for operator sets that the library does not know.
  constexpr int unknown_opset = 20;
  const std::vector<std::string> networks{
      onnx_convolution("c", "x", "8, 3, 3, 3") + onnx_normalisation("n", "c", "8") +
          "r = Relu (n) last = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (r) " + classifier,
      onnx_integers("grouped", "0, 2, 4, 32, 32", 5) + onnx_integers("image", "0, 8, 32, 32", 4) +
          onnx_convolution("c", "x", "8, 3, 3, 3") +
          "a = Reshape (c, grouped) b = Transpose <perm = [0, 2, 1, 3, 4]> (a) "
          "last = Reshape (b, image) " +
          classifier};
  int tried = 0;
  for (const std::string& nodes : networks) {
    onnx::ModelProto model;
    std::ifstream stream(file(nodes, "float[N, 3, 32, 32] x", unknown_opset), std::ios::binary);
    ASSERT_TRUE(model.ParseFromIstream(&stream));
    EXPECT_EQ(refusal(save(model)), "accepted");
    for (onnx::NodeProto& node : *model.mutable_graph()->mutable_node()) {
      const onnx::NodeProto whole = node;
      for (const onnx::NodeProto& lesser : lesser_nodes(whole)) {
        node = lesser;
        EXPECT_NO_THROW((void)refusal(save(model))) << lesser.ShortDebugString();
        ++tried;
      }
      node = whole;
    }
  }
  EXPECT_GT(tried, 50);
}

TEST_F(OnnxImport, AFileThatIsCutOffAnywhereIsAnError) {
  const std::string path = file(onnx_convolution("last", "x", "8, 3, 3, 3") + classifier);
  const auto size = std::filesystem::file_size(path);
  std::string bytes(size, '\0');
  std::ifstream(path, std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(size));
  for (std::size_t length = 0; length < size; length += 7) {
    const std::string cut = (folder_ / fmt::format("cut{}.onnx", length)).string();
    std::ofstream(cut, std::ios::binary) << bytes.substr(0, length);
    EXPECT_THAT(refusal(cut), HasSubstr("cut")) << length;
  }
}

TEST_F(OnnxImport, ReadsAFileAgainThatHasChanged) {
  const std::string path = file(linear("x"), "float[N, 3] x");
  EXPECT_EQ(network(path).layers.size(), 1);
  (void)file("r = Relu (x) " + linear("r"), "float[N, 3] x");
  std::filesystem::last_write_time(
      path, std::filesystem::file_time_type::clock::now() + std::chrono::seconds(5));
  EXPECT_EQ(network(path).layers.size(), 2);
}

}  // namespace
}  // namespace parbench::test
