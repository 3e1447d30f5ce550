// Sequences from ONNX files: LSTMs, attention in the forms of exporters, and what both refuse.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/error.h"
#include "scenarios/models/layers/norms.h"
#include "scenarios/models/models.h"
#include "tests/support/onnx_file.h"
#include "tests/support/temporary_folder.h"

namespace parbench::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct SequenceImport : testing::Test {
  [[nodiscard]] Network network(const std::string& nodes, const std::string& input,
                                const FileOptions& options = {}, int opset = 17) const {
    const std::string path = (folder_ / "model.onnx").string();
    write_onnx(path, input, nodes, opset);
    return model_named(path, options).make({});
  }

  [[nodiscard]] std::string refusal(const std::string& nodes, const std::string& input,
                                    int opset = 17) const {
    try {
      (void)network(nodes, input, {}, opset);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  }

  TemporaryFolder folder_;
};

std::vector<std::string> layers_of_sequence(const Network& network) {
  std::vector<std::string> texts;
  for (const Layer& layer : network.layers) {
    std::string text = fmt::format("{} {}", layer.kind->name(), to_string(layer.output));
    for (const int input : layer.inputs) text += fmt::format(" {}", input);
    texts.push_back(text);
  }
  return texts;
}

/// From x {samples, positions, 3} to hidden states y of 4; `more` are attributes, behind a comma.
std::string lstm_nodes(const std::string& more = "", const std::string& inputs = "t, W, R, B") {
  return onnx_zeros("W", "1, 16, 3") + onnx_zeros("R", "1, 16, 4") + onnx_zeros("B", "1, 32") +
         onnx_zeros("h", "1, 2, 4") + onnx_integers("lengths", "5, 5", 2) +
         onnx_integers("one", "1", 1) +
         "t = Transpose <perm = [1, 0, 2]> (x) a = LSTM <hidden_size = 4" + more + "> (" + inputs +
         ") s = Squeeze (a, one) y = Transpose <perm = [1, 0, 2]> (s) ";
}

const std::string lstm_input = "float[N, 5, 3] x";

TEST_F(SequenceImport, AnLstmIsALayerOfPositionsBehindSamples) {
  EXPECT_THAT(layers_of_sequence(network(lstm_nodes(), lstm_input)), ElementsAre("lstm 5x4 -1"));
  EXPECT_THAT(
      layers_of_sequence(network(
          lstm_nodes(", activations = [\"Sigmoid\", \"Tanh\", \"Tanh\"]", "t, W, R, B, , h, h"),
          lstm_input)),
      ElementsAre("lstm 5x4 -1"));
}

TEST_F(SequenceImport, AnLstmMayHaveNoBiases) {
  const Network found = network(lstm_nodes("", "t, W, R"), lstm_input);
  EXPECT_THAT(layers_of_sequence(found), ElementsAre("lstm 5x4 -1"));
  EXPECT_EQ(found.parameters().size(), 2U);
}

TEST_F(SequenceImport, RefusesLstmsWhoseInputsDoNotFit) {
  const auto reason = [&](const std::string& more, const std::string& inputs = "t, W, R, B") {
    return refusal(lstm_nodes(more, inputs), lstm_input);
  };
  EXPECT_THAT(reason(", direction = \"bidirectional\""),
              HasSubstr("LSTM: its weights are 1x16x3, not 2x16x3 (node a)"));
  EXPECT_THAT(reason(", clip = 1.0"), HasSubstr("LSTM: it has clip (node a)"));
  EXPECT_THAT(reason("", "t, W, R, B, lengths"),
              HasSubstr("lengths of sequences are not supported"));
  EXPECT_THAT(reason("", "t, W, R, B, , t, t"),
              HasSubstr("its initial state {5, N, 3} must have 1 directions and 4 values"));
  EXPECT_THAT(reason("", "t, R, R, B"), HasSubstr("its weights are 1x16x4, not 1x16x3"));
  EXPECT_THAT(reason("", "t, W, W, B"), HasSubstr("its recurrent weights are 1x16x3, not 1x16x4"));
  EXPECT_THAT(refusal(onnx_zeros("half", "1, 16") + lstm_nodes("", "t, W, R, half"), lstm_input),
              HasSubstr("its biases are 1x16, not 1x32"));
  EXPECT_THAT(
      reason("", "x, W, R, B"),
      HasSubstr("its input {N, 5, 3} must have the dimensions positions, samples and values"));
}

/// A constant state {1, 2, 4}, of the numbers, or of ConstantOfShape.
TEST_F(SequenceImport, AnLstmWithAnotherFirstStateIsAComposition) {
  const auto kind = [&](const std::string& state, const std::string& inputs) {
    const std::string nodes = lstm_nodes("", "t, W, R, B, , " + inputs);
    return std::string(network(state + nodes, lstm_input).layers.front().kind->name());
  };
  const auto filled = [](const std::string& fill) {
    return onnx_integers("sizes", "1, 2, 4", 3) + "s0 = ConstantOfShape <value = float[1] {" +
           fill + "}> (sizes) ";
  };
  EXPECT_EQ(kind(filled("0"), "s0, s0"), "lstm");
  EXPECT_EQ(kind("", "h, h"), "lstm");
  for (const std::string& state :
       {filled("0.5"),
        std::string("s0 = Constant <value = float[1, 2, 4] {0, 0, 0, 0, 0, 0, 0, 1}> () ")}) {
    EXPECT_NE(kind(state, "s0, h"), "lstm") << state;
    EXPECT_NE(kind(state, "h, s0"), "lstm") << state;
  }
}

/// Files have the gates in the order input, output, forget, cell; layers input, forget, cell,
/// output, and the sum of both biases.
TEST_F(SequenceImport, AnLstmHasTheValuesOfTheFile) {
  const std::string nodes =
      "W = Constant <value = float[1, 4, 1] {1, 2, 3, 4}> () "
      "R = Constant <value = float[1, 4, 1] {5, 6, 7, 8}> () "
      "B = Constant <value = float[1, 8] {1, 2, 3, 4, 5, 6, 7, 8}> () "
      "h = Constant <value = float[1, 1, 1] {0}> () " +
      onnx_integers("one", "1", 1) +
      "t = Transpose <perm = [1, 0, 2]> (x) "
      "a = LSTM <hidden_size = 1> (t, W, R, B, , h, h) s = Squeeze (a, one) "
      "y = Transpose <perm = [1, 0, 2]> (s) ";
  const Network found = network(nodes, "float[1, 5, 1] x", {.stored_weights = true});
  const std::vector<ParameterSpec> parameters = found.parameters();
  ASSERT_EQ(parameters.size(), 3U);
  EXPECT_THAT(*found.stored_values(parameters[0]), ElementsAre(1, 3, 4, 2));
  EXPECT_THAT(*found.stored_values(parameters[1]), ElementsAre(5, 7, 8, 6));
  EXPECT_THAT(*found.stored_values(parameters[2]), ElementsAre(6, 10, 12, 8));
}

/// Two heads of 3 of x {samples, 2, 6}; queries, keys and values are a, b and c.
std::string attention_of(const std::string& scale, const std::string& end = "",
                         const std::string& softmax = "Softmax <axis = -1>") {
  return onnx_integers("z", "0, 2, 2, 3", 4) + onnx_integers("j", "0, 2, 6", 3) +
         "f = Constant <value_float = " + scale + "> () " +
         "qr = Reshape (a, z) kr = Reshape (b, z) vr = Reshape (c, z) "
         "q = Transpose <perm = [0, 2, 1, 3]> (qr) k = Transpose <perm = [0, 2, 3, 1]> (kr) "
         "v = Transpose <perm = [0, 2, 1, 3]> (vr) m = MatMul (q, k) d = Mul (m, f) "
         "t = " +
         softmax +
         " (d) r = MatMul (t, v) "
         "o = Transpose <perm = [0, 2, 1, 3]> (r) " +
         (end.empty() ? "y = Reshape (o, j) " : end);
}

std::string projection(const std::string& output, const std::string& source = "x") {
  return onnx_zeros("w" + output, "6, 6") +
         fmt::format("{0} = MatMul ({1}, w{0}) ", output, source);
}

const std::string attention_input = "float[N, 2, 6] x";
const std::string three = projection("a") + projection("b") + projection("c");

bool has_attention(const Network& network) {
  return std::ranges::any_of(
      network.layers, [](const Layer& layer) { return layer.kind->name().ends_with("attention"); });
}

TEST_F(SequenceImport, ThreeProjectionsAreOneLayer) {
  const Network found =
      network(three + attention_of("0.57735"), attention_input, {.stored_weights = true});
  EXPECT_THAT(layers_of_sequence(found), ElementsAre("linear 2x18 -1", "attention 2x6 0"));
  const std::vector<ParameterSpec> parameters = found.parameters();
  ASSERT_EQ(parameters.size(), 1U);
  EXPECT_EQ(parameters.front().shape, (Shape{18, 6}));
  EXPECT_EQ(found.stored_values(parameters.front())->size(), 108U);
}

/// A composition writes queries, keys and values one after the other where no layer does.
TEST_F(SequenceImport, AttentionReadsAnyQueriesKeysAndValues) {
  const auto found = [&](const std::string& nodes) {
    return layers_of_sequence(network(nodes, attention_input));
  };
  const std::string attention = attention_of("0.57735");
  EXPECT_THAT(found(projection("a") + projection("b") + "c = Relu (x) " + attention),
              ElementsAre("linear 2x6 -1", "linear 2x6 -1", "activation 2x6 -1",
                          "concat 2x18 0 1 2", "attention 2x6 3"));
  EXPECT_THAT(found(projection("c") + "a = Abs (c) b = Sin (x) " + attention),
              ElementsAre("linear 2x6 -1", "concat 2x18 0 -1", "attention 2x6 1"))
      << "functions of elements are computed there";
  EXPECT_THAT(found(three + attention_of("0.57735", "u = Reshape (o, j) y = Add (u, a) ")),
              ElementsAre("linear 2x6 -1", "linear 2x6 -1", "linear 2x6 -1", "concat 2x18 0 1 2",
                          "attention 2x6 3", "addition 2x6 4 0"))
      << "the weights of what others read too belong to one layer";
}

TEST_F(SequenceImport, ProbabilitiesMayLieOtherwiseThanScores) {
  std::string nodes = projection("a") + projection("b") + "c = Abs (x) " + attention_of("0.57735");
  const std::string product = "r = MatMul (t, v) ";
  nodes.replace(nodes.find(product), product.size(),
                onnx_integers("jt", "-1, 2, 2", 3) + onnx_integers("jv", "-1, 2, 3", 3) +
                    onnx_integers("jr", "-1, 2, 2, 3", 4) +
                    "tj = Reshape (t, jt) vj = Reshape (v, jv) rj = MatMul (tj, vj) "
                    "r = Reshape (rj, jr) ");
  EXPECT_THAT(
      layers_of_sequence(network(nodes, attention_input)),
      ElementsAre("linear 2x6 -1", "linear 2x6 -1", "concat 2x18 0 1 -1", "attention 2x6 2"));
}

TEST_F(SequenceImport, ProbabilitiesThatOthersReadAreComputedOnce) {
  EXPECT_FALSE(has_attention(
      network(three + onnx_integers("row", "0, 2, 1", 3) +
                  attention_of("0.57735",
                               "u = Reshape (o, j) mean = ReduceMean <axes = [1, 3]> (t) "
                               "means = Reshape (mean, row) y = Add (u, means) "),
              attention_input)));
}

TEST_F(SequenceImport, AttentionAndItsInputsAreNamedAfterTheLastProduct) {
  const Network found =
      network(projection("a") + projection("b") + "c = Relu (x) " + attention_of("0.57735"),
              attention_input);
  EXPECT_EQ(found.layer(3).name, "r.qkv");
  EXPECT_EQ(found.layer(4).name, "r");
}

/// Whether layers of known kinds compute the nodes' attention.
TEST_F(SequenceImport, OtherAttentionIsAComposition) {
  const auto is_layer = [&](const std::string& nodes, int opset = 17) {
    return has_attention(network(nodes, attention_input, {}, opset));
  };
  EXPECT_TRUE(is_layer(three + attention_of("0.57735")));
  EXPECT_FALSE(is_layer(three + attention_of("0.57735", "y = Identity (d) ")));
  const auto with_softmax = [&](const std::string& softmax, int opset) {
    return is_layer(three + attention_of("0.57735", "", softmax), opset);
  };
  EXPECT_TRUE(with_softmax("Softmax", 13));
  EXPECT_FALSE(with_softmax("Softmax", 12)) << "over the first dimension behind the samples";
  EXPECT_TRUE(with_softmax("Softmax <axis = 3>", 12));
  EXPECT_FALSE(with_softmax("Softmax <axis = 2>", 13));
  EXPECT_FALSE(with_softmax("Softmax <axis = -2>", 17));
}

/// As files write it that are older than the operator.
TEST_F(SequenceImport, ASoftmaxInPartsIsOneIfItSubtractsTheSameFromAllKeys) {
  const auto is_layer = [&](const std::string& subtracted) {
    std::string nodes = three + attention_of("0.57735");
    const std::string softmax = "t = Softmax <axis = -1> (d) ";
    nodes.replace(nodes.find(softmax), softmax.size(),
                  "m1 = ReduceMax <axes = [-1]> (d) "
                  "m2 = Constant <value = float[1, 1, 2, 2] {1, 2, 3, 4}> () " +
                      subtracted + "e = Exp (i) n = ReduceSum <axes = [-1]> (e) t = Div (e, n) ");
    return has_attention(network(nodes, attention_input, {}, 12));
  };
  EXPECT_TRUE(is_layer("i = Sub (d, m1) "));
  EXPECT_FALSE(is_layer("i = Sub (d, m2) "));
}

/// As PyTorch's exporter writes them, for rows whose keys are all hidden.
TEST_F(SequenceImport, ProbabilitiesThatAreNoNumbersMayBeReplaced) {
  const auto found = [&](const std::string& nodes, const std::string& replaced) {
    std::string all = three + attention_of("0.57735");
    const std::string product = "r = MatMul (t, v) ";
    all.replace(
        all.find(product), product.size(),
        "zero = Constant <value_float = 0.0> () " + nodes + replaced + "r = MatMul (g, v) ");
    return has_attention(network(all, attention_input));
  };
  const std::string is_nan = "n = IsNaN (t) ";
  EXPECT_TRUE(found(is_nan, "g = Where (n, zero, t) "));
  EXPECT_TRUE(found(is_nan + "i = Not (n) ", "g = Where (i, t, zero) "));
  EXPECT_FALSE(found(is_nan, "g = Where (n, t, zero) "));
  EXPECT_FALSE(found("half = Constant <value_float = 0.5> () n = Less (t, half) ",
                     "g = Where (n, zero, t) "));
}

TEST_F(SequenceImport, AttentionMayScaleItsQueries) {
  std::string nodes = three + attention_of("0.57735");
  nodes.replace(nodes.find("qr = Reshape (a, z)"), 19, "g = Mul (a, f) qr = Reshape (g, z)");
  nodes.replace(nodes.find("d = Mul (m, f)"), 14, "d = Identity (m)");
  EXPECT_THAT(layers_of_sequence(network(nodes, attention_input)),
              ElementsAre("linear 2x18 -1", "attention 2x6 0"));
}

/// Queries, keys and values of 6 columns each, of linear layers of 18.
TEST_F(SequenceImport, ProjectionsOfOneLayerLieSideBySide) {
  const std::string linear = onnx_zeros("w", "6, 18") + onnx_zeros("w2", "6, 18") +
                             "s = MatMul (x, w) s2 = MatMul (x, w2) ";
  const auto inputs = [&](const std::string& parts) {
    const Network found = network(linear + parts + attention_of("0.57735"), attention_input);
    return std::string(found.layer(found.layers.back().inputs.front()).kind->name());
  };
  EXPECT_EQ(inputs("a, b, c = Split <axis = 2> (s) "), "linear");
  EXPECT_EQ(inputs("b, a, c = Split <axis = 2> (s) "), "concat");
  EXPECT_EQ(inputs("a, b, c2 = Split <axis = 2> (s) " + projection("c")), "concat");
  EXPECT_EQ(inputs("a, b2, c2 = Split <axis = 2> (s) a2, b, c = Split <axis = 2> (s2) "), "concat");
}

std::string layer_norm_of(const std::string& input, const std::string& attributes = "axis = -1") {
  return "w = Constant <value = float[2] {1, 2}> () b = Constant <value = float[2] {3, 4}> () "
         "y = LayerNormalization <" +
         attributes + "> (" + input + ") ";
}

TEST_F(SequenceImport, LayerNormalisationHasTheNumbersOfTheFile) {
  const std::string input = "float[N, 2, 2] x";
  for (const auto& [attributes, epsilon] :
       {std::pair{"axis = -1", 1e-5F}, {"axis = 2, epsilon = 0.25", 0.25F}}) {
    const Network found =
        network(layer_norm_of("x, w, b", attributes), input, {.stored_weights = true});
    const auto* kind = as<LayerNorm>(found.layer(0));
    ASSERT_NE(kind, nullptr);
    EXPECT_EQ(kind->epsilon(), epsilon);
    const std::vector<ParameterSpec> parameters = found.parameters();
    ASSERT_EQ(parameters.size(), 2U);
    EXPECT_THAT(*found.stored_values(parameters[0]), ElementsAre(1, 2));
    EXPECT_THAT(*found.stored_values(parameters[1]), ElementsAre(3, 4));
  }
}

TEST_F(SequenceImport, OtherLayerNormalisationsAreCompositions) {
  const std::string more = onnx_zeros("three", "3") + onnx_zeros("w", "2") + onnx_zeros("b", "2");
  const auto norm = [&](const std::string& inputs, const std::string& axis = "-1") {
    return more + "y = LayerNormalization <axis = " + axis + "> (" + inputs + ") ";
  };
  const auto kind = [&](const std::string& nodes, const std::string& input) {
    return std::string(network(nodes, input).layers.back().kind->name());
  };
  EXPECT_EQ(kind(norm("x, w, b"), "float[N, 2, 2] x"), "layer_norm");
  EXPECT_NE(kind(norm("x, w, b", "1"), "float[N, 2, 2] x"), "layer_norm");
  EXPECT_NE(kind(norm("x, w, b"), "float[N, 2, 2, 2] x"), "layer_norm") << "of an image";
  for (const std::string inputs : {"x, three, b", "x, w, three"}) {
    EXPECT_THAT(
        refusal(norm(inputs), "float[N, 2, 2] x"),
        HasSubstr("LayerNormalization: shapes cannot be broadcast together: {N, 2, 2} and {3}"));
  }
}

TEST_F(SequenceImport, PositionsHaveTheValuesOfTheFile) {
  for (const std::string shape : {"2, 3", "1, 2, 3"}) {
    for (const std::string sum : {"Add (x, p)", "Add (p, x)"}) {
      const Network found = network(
          "p = Constant <value = float[" + shape + "] {1, 2, 3, 4, 5, 6}> () y = " + sum + " ",
          "float[N, 2, 3] x", {.stored_weights = true});
      const std::vector<ParameterSpec> parameters = found.parameters();
      ASSERT_EQ(parameters.size(), 1U);
      EXPECT_THAT(*found.stored_values(parameters[0]), ElementsAre(1, 2, 3, 4, 5, 6));
    }
  }
  EXPECT_THAT(refusal("p = Constant <value = float[3, 2] {1, 2, 3, 4, 5, 6}> () y = Add (x, p) ",
                      "float[N, 3, 3] x"),
              HasSubstr("Add: shapes cannot be broadcast together: {N, 3, 3} and {3, 2} (node y)"));
}

TEST_F(SequenceImport, ShapesFollowOpenDimensions) {
  const std::string nodes = onnx_zeros("w", "6, 4") + "s = Shape (x) " +
                            onnx_integers("zero", "0", 1) + onnx_integers("first", "1", 1) +
                            onnx_integers("minus", "-1", 1) +
                            "n = Gather (s, zero) t = Gather (s, first) p = Mul (n, t) "
                            "rows = Concat <axis = 0> (p, minus) r = Reshape (x, rows) "
                            "m = MatMul (r, w) back = Concat <axis = 0> (n, t, minus) "
                            "y = Reshape (m, back) ";
  for (const std::int64_t positions : {2, 7}) {
    FileOptions options;
    options.dimensions = dimensions_named(fmt::format("T={}", positions));
    EXPECT_THAT(layers_of_sequence(network(nodes, "float[N, T, 6] x", options)),
                ElementsAre(fmt::format("linear {}x4 -1", positions)));
  }
}

/// Layers have a row of weights for each of their outputs.
TEST_F(SequenceImport, WeightsOfProductsAreTurnedAround) {
  const auto values = [&](const std::string& nodes) {
    const Network found = network(nodes, "float[N, 3] x", {.stored_weights = true});
    return *found.stored_values(found.parameters().front());
  };
  const std::string columns = "w = Constant <value = float[3, 2] {1, 2, 3, 4, 5, 6}> () ";
  const std::string rows = "v = Constant <value = float[2, 3] {1, 2, 3, 4, 5, 6}> () ";
  const std::string turned = rows + "w = Transpose <perm = [1, 0]> (v) ";
  EXPECT_THAT(values(columns + "y = MatMul (x, w) "), ElementsAre(1, 3, 5, 2, 4, 6));
  EXPECT_THAT(values(columns + "y = Gemm (x, w) "), ElementsAre(1, 3, 5, 2, 4, 6));
  EXPECT_THAT(values(rows + "y = Gemm <transB = 1> (x, v) "), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(values(turned + "y = MatMul (x, w) "), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(values(turned + "y = Gemm (x, w) "), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_F(SequenceImport, GemmHasItsInputTransposedOrNoBiases) {
  const auto gemm = [&](const std::string& attributes) {
    return onnx_zeros("w", "3, 4") + onnx_zeros("b", "4") + "t = Transpose <perm = [1, 0]> (x) " +
           "y = Gemm <" + attributes + "> (t, w, b) ";
  };
  const Network found = network(gemm("transA = 1, beta = 0.0"), "float[N, 3] x");
  EXPECT_THAT(layers_of_sequence(found), ElementsAre("linear 4 -1"));
  EXPECT_EQ(found.parameters().size(), 1U) << "no biases";
  EXPECT_THAT(refusal(gemm("beta = 1.0"), "float[N, 3] x"),
              HasSubstr("Gemm: shapes cannot be multiplied as matrices: {3, N} and {3, 4}"));
}

/// As exporters fold a mask that hides nothing, once for each of two samples.
TEST_F(SequenceImport, AMaskOfZerosIsNoWeight) {
  const auto found = [&](const std::string& shape) {
    std::string nodes = three + attention_of("0.57735");
    nodes.replace(nodes.find("d = Mul (m, f)"), 14, "s = Mul (m, f) d = Add (s, hidden)");
    return network(onnx_zeros("hidden", shape) + nodes, "float[2, 2, 6] x");
  };
  EXPECT_THAT(layers_of_sequence(found("2, 1, 2, 2")),
              ElementsAre("linear 2x18 -1", "attention 2x6 0"));
  EXPECT_FALSE(has_attention(found("1, 2, 2, 2"))) << "biases of each head are trained";
}

/// More elements than are read of weights.
TEST_F(SequenceImport, MasksOfManyPositionsAreRead) {
  const auto found = [&](const std::string& four, const std::string& masked) {
    const std::string nodes =
        onnx_integers("z", "0, 1100, 1, 2", 4) + onnx_integers("j", "0, 1100, 2", 3) +
        onnx_integers("times", "1, 1, 550, 550", 4) + onnx_zeros("w", "2, 6") +
        "root = Constant <value_float = 1.4142136> () low = Constant <value_float = -1e9> () "
        "p = MatMul (x, w) a, b, c = Split <axis = 2> (p) "
        "qr = Reshape (a, z) kr = Reshape (b, z) vr = Reshape (c, z) "
        "q = Transpose <perm = [0, 2, 1, 3]> (qr) k = Transpose <perm = [0, 2, 3, 1]> (kr) "
        "v = Transpose <perm = [0, 2, 1, 3]> (vr) m = MatMul (q, k) d = Div (m, root) " +
        four + "all = Tile (four, times) " + masked +
        "t = Softmax <axis = -1> (h) r = MatMul (t, v) "
        "o = Transpose <perm = [0, 2, 1, 3]> (r) y = Reshape (o, j) ";
    const Network made = network(nodes, "float[N, 1100, 2] x");
    EXPECT_EQ(made.parameters().size(), 1U);
    return layers_of_sequence(made);
  };
  EXPECT_THAT(found("four = Constant <value = bool[1, 1, 2, 2] {1, 1, 1, 1}> () ",
                    "seen = Trilu <upper = 0> (all) h = Where (seen, d, low) "),
              ElementsAre("linear 1100x6 -1", "causal_attention 1100x2 0"));
  EXPECT_THAT(found(onnx_zeros("four", "1, 1, 2, 2"), "h = Add (d, all) "),
              ElementsAre("linear 1100x6 -1", "attention 1100x2 0"));
}

/// Of two positions, whose later ones a mask hides.
TEST_F(SequenceImport, AMaskOfOtherPositionsIsAComposition) {
  const auto nodes = [&](const std::string& masked) {
    return "z = Constant <value = int64[4] {0, 2, 1, 3}> () "
           "s = Constant <value = int64[3] {0, 2, 3}> () "
           "one = Constant <value_float = 1.7320508> () "
           "low = Constant <value_float = -1000000.0> () " +
           onnx_zeros("w", "3, 9") +
           "p = MatMul (x, w) a, b, c = Split <axis = 2> (p) "
           "qr = Reshape (a, z) kr = Reshape (b, z) vr = Reshape (c, z) "
           "q = Transpose <perm = [0, 2, 1, 3]> (qr) k = Transpose <perm = [0, 2, 3, 1]> (kr) "
           "v = Transpose <perm = [0, 2, 1, 3]> (vr) m = MatMul (q, k) d = Div (m, one) " +
           masked +
           "t = Softmax <axis = -1> (h) r = MatMul (t, v) "
           "o = Transpose <perm = [0, 2, 1, 3]> (r) y = Reshape (o, s) ";
  };
  const auto mask = [](const std::string& type, const std::string& elements) {
    return "mask = Constant <value = " + type + " {" + elements + "}> () ";
  };
  const std::string input = "float[N, 2, 3] x";
  for (const std::string shape : {"[2, 2]", "[1, 1, 2, 2]"}) {
    const auto is_layer = [&](const std::string& masked) {
      return has_attention(network(nodes(masked), input));
    };
    const std::string choice = "h = Where (mask, low, d) ";
    EXPECT_TRUE(is_layer(mask("bool" + shape, "0, 1, 0, 0") + choice));
    EXPECT_FALSE(is_layer(mask("bool" + shape, "0, 0, 1, 0") + choice));
    EXPECT_TRUE(is_layer(mask("float" + shape, "0, -1e9, 0, 0") + "h = Add (d, mask) "));
    EXPECT_FALSE(is_layer(mask("float" + shape, "0, 0, -1e9, 0") + "h = Add (d, mask) "));
    const auto chosen = [&](const std::string& seen, const std::string& condition) {
      return is_layer(mask("bool" + shape, seen) + "zero = Constant <value_float = 0.0> () f = " +
                      "Where (" + condition + ") h = Add (f, d) ");
    };
    EXPECT_TRUE(chosen("1, 0, 1, 1", "mask, zero, low"));
    EXPECT_TRUE(chosen("0, 1, 0, 0", "mask, low, zero"));
    EXPECT_TRUE(chosen("1, 1, 1, 1", "mask, zero, low")) << "it hides nothing";
    EXPECT_FALSE(chosen("1, 1, 1, 1", "mask, low, zero")) << "it hides all";
    EXPECT_FALSE(chosen("1, 0, 0, 1", "mask, zero, low"));
    EXPECT_FALSE(chosen("1, 0, 1, 1", "mask, one, low"));
  }
  EXPECT_THAT(
      refusal(nodes(mask("float[3, 3]", "0, 0, 0, 0, 0, 0, 0, 0, 0") + "h = Add (d, mask) "),
              input),
      HasSubstr("Add: shapes cannot be broadcast together: {N, 1, 2, 2} and {3, 3} (node h)"));
}

}  // namespace
}  // namespace parbench::test
