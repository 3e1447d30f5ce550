// Nodes that look like a layer of a known kind and are none, by one condition each: another reader,
// another edge, another number.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "scenarios/models/layers/convolution.h"
#include "scenarios/models/layers/images.h"
#include "scenarios/models/layers/norms.h"
#include "scenarios/models/models.h"
#include "tests/support/onnx_file.h"
#include "tests/support/temporary_folder.h"

namespace parbench::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

struct UnfusedImport : testing::Test {
  [[nodiscard]] Network network(const std::string& nodes,
                                const std::string& input = "float[N, 8, 16, 16] x",
                                int opset = 13) const {
    const std::string path = (folder_ / "model.onnx").string();
    write_onnx(path, input, nodes, opset);
    const Model model = model_named(path, {.stored_weights = true});
    return model.make(model.sizes);
  }

  [[nodiscard]] std::vector<std::string> kinds(const std::string& nodes,
                                               const std::string& input = "float[N, 8, 16, 16] x",
                                               int opset = 13) const {
    std::vector<std::string> kinds;
    for (const Layer& layer : network(nodes, input, opset).layers) {
      kinds.emplace_back(layer.kind->name());
    }
    return kinds;
  }

  TemporaryFolder folder_;
};

// --- biases and normalisations ---

TEST_F(UnfusedImport, ABiasOfAProductThatOthersReadIsALayer) {
  const std::string product = onnx_zeros("w", "6, 4") + onnx_zeros("b", "4") + "m = MatMul (x, w) ";
  const std::string input = "float[N, 5, 6] x";
  EXPECT_THAT(kinds(product + "a = Add (m, b) y = Tanh (a) ", input),
              ElementsAre("linear", "activation"));
  EXPECT_THAT(kinds(product + "a = Add (m, b) y = Add (a, m) ", input),
              ElementsAre("linear", "channel_bias", "addition"));
}

/// There and back again: what reads the result reads the product.
TEST_F(UnfusedImport, MovementsThatLeaveAllInPlaceAreNoReaderOfTheirOwn) {
  EXPECT_THAT(
      kinds(onnx_zeros("w", "6, 6") + onnx_zeros("b", "6") +
                onnx_integers("wide", "0, 6, 5, 1", 4) + onnx_integers("rows", "0, 5, 6", 3) +
                "m = MatMul (x, w) t = Transpose <perm = [0, 2, 1]> (m) "
                "u = Reshape (t, wide) v = Transpose <perm = [0, 2, 3, 1]> (u) "
                "r = Reshape (v, rows) a = Add (r, b) y = Add (a, m) ",
            "float[N, 5, 6] x"),
      ElementsAre("linear", "channel_bias", "addition"));
}

/// A normalisation of two channels with other numbers behind it.
std::string norm_of_two(const std::string& more) {
  const auto pair = [](const std::string& name, const std::string& shape,
                       const std::string& numbers) {
    return name + " = Constant <value = float" + shape + " {" + numbers + "}> () ";
  };
  return pair("g", "[2]", "2, 3") + pair("h", "[2]", "5, 7") + pair("m", "[2]", "0, 0") +
         pair("v", "[2]", "1, 1") + pair("s", "[2, 1, 1]", "10, 100") +
         pair("t", "[2, 1, 1]", "1, 2") + "n = BatchNormalization (x, g, h, m, v) " + more;
}

TEST_F(UnfusedImport, NumbersBehindANormalisationChangeItsScaleAndItsShift) {
  const Network found =
      network(norm_of_two("p = Mul (n, s) y = Add (t, p) "), "float[N, 2, 4, 4] x");
  ASSERT_EQ(found.layers.size(), 1U);
  const std::vector<ParameterSpec> parameters = found.parameters();
  ASSERT_EQ(parameters.size(), 2U);
  EXPECT_THAT(*found.stored_values(parameters[0]), ElementsAre(20, 300));
  EXPECT_THAT(*found.stored_values(parameters[1]), ElementsAre(51, 702));
}

TEST_F(UnfusedImport, NumbersBehindANormalisationThatOthersReadAreALayer) {
  EXPECT_THAT(kinds(norm_of_two("p = Mul (n, s) y = Add (n, p) "), "float[N, 2, 4, 4] x"),
              ElementsAre("batch_norm", "channel_scale", "addition"));
  EXPECT_THAT(kinds(norm_of_two("p = Add (n, s) y = Mul (n, p) "), "float[N, 2, 4, 4] x"),
              ElementsAre("batch_norm", "channel_bias", "mul"));
  EXPECT_THAT(kinds(norm_of_two("r = Relu (n) y = Mul (r, s) "), "float[N, 2, 4, 4] x"),
              ElementsAre("batch_norm", "channel_scale"))
      << "behind the ReLU";
}

TEST_F(UnfusedImport, AResidualSumBelongsToANormalisationThatIsReadByItAlone) {
  const std::string norm =
      onnx_convolution("c", "x", "8, 8, 3, 3") + onnx_normalisation("n", "c", "8");
  EXPECT_THAT(kinds(norm + "s = Add (n, x) y = Relu (s) "),
              ElementsAre("convolution", "batch_norm"));
  EXPECT_THAT(kinds(norm + "s = Add (n, x) r = Relu (s) y = Add (r, n) "),
              ElementsAre("convolution", "batch_norm", "addition", "activation", "addition"));
  EXPECT_THAT(kinds(norm + "r = Relu (n) s = Add (r, x) y = Relu (s) "),
              ElementsAre("convolution", "batch_norm", "addition", "activation"))
      << "it has a ReLU of its own";
  EXPECT_THAT(kinds(norm + "r = Relu (n) " + onnx_convolution("d", "r", "8, 8, 3, 3") +
                    onnx_normalisation("o", "d", "8") + "s = Add (r, o) y = Relu (s) "),
              ElementsAre("convolution", "batch_norm", "convolution", "batch_norm"))
      << "the second term has none";
}

// --- functions of elements ---

TEST_F(UnfusedImport, AFunctionWithOneLimitIsNoClip) {
  const auto clip = [](const std::string& limits) {
    return onnx_convolution("c", "x", "8, 8, 3, 3") + "y = Clip <" + limits + "> (c) ";
  };
  const std::string input = "float[N, 8, 16, 16] x";
  EXPECT_THAT(kinds(clip("min = 0.0, max = 6.0"), input, 9),
              ElementsAre("convolution", "activation"));
  EXPECT_THAT(kinds(clip("max = 6.0"), input, 9), ElementsAre("convolution", "clip"));
  EXPECT_THAT(kinds(clip("min = -1.0"), input, 9), ElementsAre("convolution", "clip"));
  EXPECT_THAT(kinds(clip("min = 0.0"), input, 9), ElementsAre("convolution", "activation"))
      << "it is a ReLU";
}

TEST_F(UnfusedImport, AnEpsilonBesideTheRootIsNoLayerNormalisation) {
  const auto norm = [](const std::string& deviation) {
    return onnx_zeros("first", "6, 6") + onnx_zeros("w", "6") + onnx_zeros("b", "6") +
           "two = Constant <value_float = 2.0> () small = Constant <value_float = 0.00001> () "
           "x = MatMul (input, first) m = ReduceMean <axes = [-1]> (x) c = Sub (x, m) "
           "q = Pow (c, two) v = ReduceMean <axes = [-1]> (q) " +
           deviation + "d = Div (c, r) g = Mul (d, w) y = Add (g, b) ";
  };
  const std::string rows = "float[N, 5, 6] input";
  EXPECT_THAT(kinds(norm("a = Add (v, small) r = Sqrt (a) "), rows), Contains("layer_norm"));
  EXPECT_THAT(kinds(norm("a = Sqrt (v) r = Add (a, small) "), rows), Not(Contains("layer_norm")));
  EXPECT_THAT(kinds(norm("a = Add (v, small) r = Sqrt (a) "), "float[N, 5, 5, 6] input"),
              Not(Contains("layer_norm")))
      << "of more than rows";
}

// --- images ---

TEST_F(UnfusedImport, ZerosThatDifferAtOneEdgeAreALayer) {
  const Network found =
      network(onnx_zeros("w", "8, 8, 3, 3") + "y = Conv <pads = [1, 1, 1, 2]> (x, w) ");
  ASSERT_EQ(found.layers.size(), 2U);
  ASSERT_NE(as<Padding>(found.layer(0)), nullptr);
  EXPECT_EQ(as<Padding>(found.layer(0))->edges(),
            (Edges{.top = 1, .left = 1, .bottom = 1, .right = 2}));
}

TEST_F(UnfusedImport, ZerosThatConvolutionsShareAreThoseOfEach) {
  EXPECT_THAT(kinds(onnx_zeros("w", "8, 8, 3, 3") + onnx_zeros("v", "8, 8, 5, 5") +
                    onnx_integers("p", "0, 0, 1, 1, 0, 0, 1, 1", 8) +
                    "z = Pad (x, p) a = Conv (z, w) "
                    "b = Conv <pads = [1, 1, 1, 1]> (z, v) y = Add (a, b) "),
              ElementsAre("convolution", "convolution", "addition"));
}

TEST_F(UnfusedImport, EveryOtherPixelIsNoPartOfAnImage) {
  const std::string slice = onnx_convolution("c", "x", "8, 8, 3, 3") + onnx_integers("s", "0", 1) +
                            onnx_integers("e", "99", 1) + onnx_integers("a", "3", 1);
  EXPECT_THAT(kinds(slice + onnx_integers("t", "2", 1) + "y = Slice (c, s, e, a, t) "),
              ElementsAre("convolution", "slice"));
  EXPECT_THAT(kinds(slice + onnx_integers("f", "1", 1) + onnx_integers("t", "1", 1) +
                    "y = Slice (c, f, e, a, t) "),
              ElementsAre("convolution", "padding"));
}

TEST_F(UnfusedImport, RowsOfImagesAreNotJoinedAsChannels) {
  const std::string two = onnx_convolution("c", "x", "8, 8, 3, 3") + "t = Tanh (c) ";
  EXPECT_THAT(kinds(two + "y = Concat <axis = 1> (c, t) "),
              ElementsAre("convolution", "activation", "concatenation"));
  EXPECT_THAT(kinds(two + "y = Concat <axis = 2> (c, t) "),
              ElementsAre("convolution", "activation", "concat"));
}

TEST_F(UnfusedImport, WhatIsCutOffATransposedConvolutionIsItsPaddingWhereItCanBe) {
  const auto layers = [&](const std::string& kernel, const std::string& attributes,
                          const std::string& end = "y = Identity (t) ") {
    return network(onnx_zeros("w", "8, 6, " + kernel + ", " + kernel) + "t = ConvTranspose <" +
                   attributes + "> (x, w) " + end);
  };
  const auto edges = [](const Network& found) {
    EXPECT_EQ(found.layers.size(), 2U);
    EXPECT_EQ(as<TransposedConvolution>(found.layer(0))->options().window.padding, 0);
    return as<Padding>(found.layer(1))->edges();
  };
  EXPECT_EQ(layers("3", "strides = [2, 2], pads = [1, 1, 0, 0]").layers.size(), 1U);
  EXPECT_EQ(edges(layers("3", "strides = [2, 2], pads = [1, 1, 0, 1]")),
            (Edges{.top = -1, .left = -1, .bottom = 0, .right = -1}))
      << "edges differ";
  EXPECT_EQ(edges(layers("5", "strides = [2, 2], pads = [3, 3, 0, 0]")),
            (Edges{.top = -3, .left = -3}))
      << "more than a stride behind it";
  EXPECT_EQ(edges(layers("2", "strides = [1, 1], pads = [2, 2, 2, 2]")),
            (Edges{.top = -2, .left = -2, .bottom = -2, .right = -2}))
      << "more than the window";
  const std::string cut = onnx_integers("s", "1, 1", 2) + onnx_integers("e", "-1, -1", 2) +
                          onnx_integers("a", "2, 3", 2) + "p = Slice (t, s, e, a) ";
  EXPECT_EQ(layers("3", "strides = [1, 1]", cut + "y = Tanh (p) ").layers.size(), 2U);
  const Network read_twice =
      layers("3", "strides = [1, 1]", cut + "m = GlobalAveragePool (t) y = Mul (p, m) ");
  EXPECT_EQ(std::ranges::count_if(
                read_twice.layers,
                [](const Layer& layer) { return layer.kind->name() == "transposed_convolution"; }),
            1)
      << "others read what is cut off";
}

// --- compositions ---

/// Softplus of rows that two layers read, {samples·positions, 6} or {positions·samples, 6}.
TEST_F(UnfusedImport, RowsOfAllPositionsLieInTheirSamplesBetweenLayers) {
  const auto network_of = [&](const std::string& rows, const std::string& joined) {
    return network(onnx_zeros("w", "6, 4") + onnx_zeros("v", "6, 4") +
                       onnx_integers("all", "-1, 6", 2) + rows + "r = Reshape (" + joined +
                       ", all) s = Softplus (r) a = MatMul (s, w) b = MatMul (s, v) "
                       "y = Add (a, b) ",
                   "float[N, 5, 6] x");
  };
  for (const Network& found :
       {network_of("", "x"), network_of("t = Transpose <perm = [1, 0, 2]> (x) ", "t")}) {
    EXPECT_EQ(found.layer(0).kind->name(), "softplus");
    EXPECT_EQ(found.layer(0).output, (Shape{30}));
    EXPECT_EQ(element_count(found.layers.back().output), 20);
  }
}

TEST_F(UnfusedImport, ConstantsBelongToEachLayerThatReadsThem) {
  EXPECT_THAT(kinds(onnx_zeros("w", "6, 6") + onnx_zeros("v", "6, 6") +
                        "k = Constant <value = bool[6] {1, 0, 0, 1, 1, 0}> () "
                        "zero = Constant <value_float = 0.5> () a = MatMul (x, w) "
                        "b = Where (k, a, zero) c = MatMul (b, v) y = Where (k, zero, c) ",
                    "float[N, 6] x"),
              ElementsAre("linear", "where", "linear", "where"));
}

TEST_F(UnfusedImport, MasksBelongToEachLayerThatReadsThemThoughTheyHaveSamples) {
  const Network found =
      network(onnx_zeros("w", "6, 6") + onnx_zeros("v", "6, 6") +
                  "k = Constant <value = bool[6] {1, 0, 0, 1, 1, 0}> "
                  "() zero = Constant <value_float = 0.5> () s = Shape (x) e = Expand (k, s) "
                  "m = Not (e) a = MatMul (x, w) b = Where (m, a, zero) c = MatMul (b, v) "
                  "y = Where (m, zero, c) ",
              "float[N, 6] x");
  std::vector<std::string> layers;
  for (const Layer& layer : found.layers) {
    layers.push_back(fmt::format("{} {}", layer.kind->name(), fmt::join(layer.inputs, " ")));
  }
  EXPECT_THAT(layers, ElementsAre("linear -1", "where 0", "linear 1", "where 2"));
}

// --- attention ---

/// Queries a, keys b and values c of two heads of three columns, for two positions. `heads` makes
/// what is read as qs, ks and vs of a, b and c; `scores` makes h of their products d.
std::string attention(const std::string& heads, const std::string& scores,
                      const std::string& factor = "0.57735") {
  return onnx_zeros("w", "6, 18") + "p = MatMul (x, w) a, b, c = Split <axis = 2> (p) " +
         onnx_integers("z", "0, 2, 2, 3", 4) + onnx_integers("j", "0, 2, 6", 3) +
         "f = Constant <value_float = " + factor + "> () " + heads +
         "qr = Reshape (qs, z) kr = Reshape (ks, z) vr = Reshape (vs, z) "
         "q = Transpose <perm = [0, 2, 1, 3]> (qr) k = Transpose <perm = [0, 2, 3, 1]> (kr) "
         "v = Transpose <perm = [0, 2, 1, 3]> (vr) d = MatMul (q, k) " +
         scores +
         "t = Softmax <axis = -1> (h) r = MatMul (t, v) "
         "o = Transpose <perm = [0, 2, 1, 3]> (r) y = Reshape (o, j) ";
}

const std::string plain_heads = "qs = Identity (a) ks = Identity (b) vs = Identity (c) ";

/// What else multiplies queries, keys and values does so in a composition.
TEST_F(UnfusedImport, AttentionScalesItsScoresAlone) {
  const auto found = [&](const std::string& nodes) { return kinds(nodes, "float[N, 2, 6] x"); };
  const std::string unscaled = "h = Identity (d) ";
  const auto projected = ElementsAre("linear", "attention");
  const auto packed = ElementsAre("linear", "concat", "attention");
  EXPECT_THAT(found(attention(plain_heads, "h = Mul (d, f) ")), projected);
  EXPECT_THAT(found(attention(plain_heads, unscaled)), packed);
  EXPECT_THAT(found(attention(plain_heads, "h = Mul (d, f) ", "0.58")), packed);
  EXPECT_THAT(found(attention("qs = Identity (a) ks = Mul (f, b) vs = Identity (c) ", unscaled)),
              projected);
  EXPECT_THAT(
      found(attention("qs = Identity (a) ks = Mul (f, b) vs = Identity (c) ", "h = Mul (d, f) ")),
      packed);
  EXPECT_THAT(
      found(attention("qs = Identity (a) ks = Identity (b) vs = Mul (c, f) ", "h = Mul (d, f) ")),
      packed);
}

TEST_F(UnfusedImport, AttentionHidesLaterPositionsByNumbersThatAreLowEnough) {
  const auto is_layer = [&](const std::string& mask, const std::string& choice,
                            const std::string& low = "-100000.0") {
    const std::vector<std::string> found =
        kinds(attention(plain_heads, "e = Mul (d, f) low = Constant <value_float = " + low +
                                         "> () mask = Constant <value = bool[2, 2] {" + mask +
                                         "}> () h = Where " + choice + " "),
              "float[N, 2, 6] x");
    return std::ranges::any_of(found, [](const auto& kind) { return kind.ends_with("attention"); });
  };
  EXPECT_TRUE(is_layer("0, 1, 0, 0", "(mask, low, e)"));
  EXPECT_FALSE(is_layer("0, 1, 0, 0", "(mask, low, e)", "-100.0"));
  EXPECT_FALSE(is_layer("0, 1, 0, 1", "(mask, low, e)")) << "it hides a position from itself";
  EXPECT_TRUE(is_layer("1, 0, 1, 1", "(mask, e, low)"));
  EXPECT_FALSE(is_layer("0, 1, 0, 0", "(mask, e, low)"));
}

/// Queries from two of the first heads of six, keys and values of the last four.
TEST_F(UnfusedImport, HeadsOfAttentionLieSideBySide) {
  const auto with_queries = [&](const std::string& end, const std::string& step) {
    const auto heads = [](const std::string& name, const std::string& first,
                          const std::string& last, const std::string& stride) {
      return onnx_integers(name + "s", first, 1) + onnx_integers(name + "e", last, 1) +
             onnx_integers(name + "t", stride, 1) +
             fmt::format("{0} = Slice (g, {0}s, {0}e, one, {0}t) ", name);
    };
    return kinds(onnx_zeros("w", "6, 18") + onnx_integers("z", "0, 2, 6, 3", 4) +
                     onnx_integers("j", "0, 2, 6", 3) + onnx_integers("one", "1", 1) +
                     "f = Constant <value_float = 0.57735> () p = MatMul (x, w) "
                     "n = Reshape (p, z) g = Transpose <perm = [0, 2, 1, 3]> (n) " +
                     heads("q", "0", end, step) + heads("l", "2", "4", "1") +
                     heads("v", "4", "6", "1") +
                     "k = Transpose <perm = [0, 1, 3, 2]> (l) d = MatMul (q, k) h = Mul (d, f) "
                     "t = Softmax <axis = -1> (h) r = MatMul (t, v) "
                     "o = Transpose <perm = [0, 2, 1, 3]> (r) y = Reshape (o, j) ",
                 "float[N, 2, 6] x");
  };
  EXPECT_THAT(with_queries("2", "1"), ElementsAre("linear", "attention"));
  EXPECT_THAT(with_queries("3", "2"), ElementsAre("linear", "concat", "attention"))
      << "the first and the third";
}

TEST_F(UnfusedImport, ProjectionsAreJoinedWhereAllOrNoneHaveABias) {
  const auto layers = [&](const std::vector<std::string>& biased) {
    std::string nodes = onnx_integers("z", "0, 2, 2, 3", 4) + onnx_integers("j", "0, 2, 6", 3) +
                        "f = Constant <value_float = 0.57735> () ";
    for (const std::string name : {"a", "b", "c"}) {
      const bool has_bias = std::ranges::find(biased, name) != biased.end();
      nodes += onnx_zeros("w" + name, "6, 6") + onnx_zeros("b" + name, "6") +
               fmt::format("{0}{1} = MatMul (x, w{0}) ", name, has_bias ? "m" : "");
      if (has_bias) nodes += fmt::format("{0} = Add ({0}m, b{0}) ", name);
    }
    nodes +=
        "qr = Reshape (a, z) kr = Reshape (b, z) vr = Reshape (c, z) "
        "q = Transpose <perm = [0, 2, 1, 3]> (qr) k = Transpose <perm = [0, 2, 3, 1]> (kr) "
        "v = Transpose <perm = [0, 2, 1, 3]> (vr) d = MatMul (q, k) h = Mul (d, f) "
        "t = Softmax <axis = -1> (h) r = MatMul (t, v) "
        "o = Transpose <perm = [0, 2, 1, 3]> (r) y = Reshape (o, j) ";
    return kinds(nodes, "float[N, 2, 6] x");
  };
  EXPECT_EQ(layers({}).size(), 2U);
  EXPECT_EQ(layers({"a", "b", "c"}).size(), 2U);
  EXPECT_GT(layers({"a", "b"}).size(), 3U);
  EXPECT_GT(layers({"c"}).size(), 3U);
}

}  // namespace
}  // namespace parbench::test
