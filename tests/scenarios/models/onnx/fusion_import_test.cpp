// Formulas of several nodes that are one layer: GELU in both forms and layer normalisation, in the
// orders that exporters write, and formulas that differ in one node or number.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/base/error.h"
#include "scenarios/models/layers/elementwise.h"
#include "scenarios/models/layers/norms.h"
#include "scenarios/models/models.h"
#include "tests/support/onnx_file.h"
#include "tests/support/temporary_folder.h"

namespace parbench::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string name_of(const LayerKind& kind) {
  const auto* activation = dynamic_cast<const Activation*>(&kind);
  if (activation == nullptr) return std::string(kind.name());
  if (activation->kind() == ActivationKind::gelu) return "gelu";
  return activation->kind() == ActivationKind::gelu_tanh ? "gelu_tanh" : "another activation";
}

/// From x {samples, 5, 6} to y, behind a linear layer, because a network needs weights.
struct FusionImport : testing::Test {
  [[nodiscard]] Network network(const std::string& nodes, int opset = 17) const {
    const std::string path = (folder_ / "model.onnx").string();
    write_onnx(path, "float[N, 5, 6] input",
               onnx_zeros("first", "6, 6") + "x = MatMul (input, first) " + nodes, opset);
    return model_named(path).make({});
  }

  /// "linear -1; gelu 0; ": the layers, each with its inputs; the reason where the file is refused.
  [[nodiscard]] std::string layers(const std::string& nodes, int opset = 17) const {
    try {
      std::string text;
      for (const Layer& layer : network(nodes, opset).layers) {
        text += name_of(*layer.kind);
        for (const int input : layer.inputs) text += fmt::format(" {}", input);
        text += "; ";
      }
      return text;
    } catch (const UsageError& error) {
      return error.what();
    }
  }

  TemporaryFolder folder_;
};

std::string number(const std::string& name, const std::string& value) {
  return fmt::format("{} = Constant <value_float = {}> () ", name, value);
}

// --- GELU ---

/// s = 1 + Erf(x/√2).
std::string erf_sum(const std::string& inside = "d = Div (x, r) ",
                    const std::string& sum = "s = Add (e, one) ") {
  return number("r", "1.41421356") + number("t", "0.70711") + number("one", "1.0") +
         number("half", "0.5") + number("two", "2.0") + inside + "e = Erf (d) " + sum;
}

/// s = 1 + Tanh(√(2/π)·(x + 0.044715·x³)).
std::string tanh_sum(const std::string& power = "p = Pow (x, three) k = Mul (p, c) ",
                     const std::string& sum = "a = Add (x, k) ",
                     const std::string& outer = "q = Mul (a, w) ") {
  return number("c", "0.044715") + number("w", "0.79788456") + number("three", "3.0") +
         number("two", "2.0") + number("one", "1.0") + number("half", "0.5") + power + sum + outer +
         "e = Tanh (q) s = Add (e, one) ";
}

const std::string half_last = "g = Mul (x, s) y = Mul (g, half) ";

TEST_F(FusionImport, GeluIsALayerInAnyOrderOfItsProducts) {
  for (const std::string inside : {"d = Div (x, r) ", "d = Mul (x, t) ", "d = Mul (t, x) ",
                                   "i = Mul (x, two) h = Div (i, r) d = Mul (h, half) "}) {
    EXPECT_EQ(layers(erf_sum(inside) + half_last), "linear -1; gelu 0; ") << inside;
  }
  EXPECT_EQ(layers(erf_sum("d = Div (x, r) ", "s = Add (one, e) ") + half_last),
            "linear -1; gelu 0; ");
  for (const std::string product :
       {"h = Mul (x, half) y = Mul (h, s) ", "h = Mul (half, x) y = Mul (s, h) ",
        "h = Mul (s, half) y = Mul (x, h) ", "h = Div (x, two) y = Mul (h, s) ",
        "f = Mul (s, half) h = Mul (f, one) g = Mul (h, one) y = Mul (x, g) "}) {
    EXPECT_EQ(layers(erf_sum() + product), "linear -1; gelu 0; ") << product;
  }
}

TEST_F(FusionImport, OtherFormulasWithErfAreNoGelu) {
  const auto refused = Not(HasSubstr("gelu"));
  for (const std::string inside :
       {"d = Mul (x, r) ", "d = Div (x, two) ", "d = Identity (x) ", "d = Div (r, x) ",
        "i = Mul (x, x) d = Div (i, r) ", "i = Pow (x, two) d = Div (i, r) "}) {
    EXPECT_THAT(layers(erf_sum(inside) + half_last), refused) << inside;
  }
  for (const std::string sum :
       {"s = Add (e, two) ", "s = Add (e, half) ", "s = Sub (e, one) ", "s = Add (e, x) "}) {
    EXPECT_THAT(layers(erf_sum("d = Div (x, r) ", sum) + half_last), refused) << sum;
  }
  for (const std::string product :
       {"y = Mul (x, s) ", "g = Mul (x, s) y = Mul (g, two) ", "h = Div (x, half) y = Mul (h, s) ",
        "v = Relu (x) g = Mul (v, s) y = Mul (g, half) ",
        "g = Mul (x, s) h = Mul (g, x) y = Mul (h, half) "}) {
    EXPECT_THAT(layers(erf_sum() + product), refused) << product;
  }
}

TEST_F(FusionImport, GeluByTanhIsALayer) {
  EXPECT_EQ(layers(tanh_sum() + half_last), "linear -1; gelu_tanh 0; ");
  EXPECT_EQ(layers(tanh_sum("z = Mul (x, x) p = Mul (z, x) k = Mul (c, p) ") + half_last),
            "linear -1; gelu_tanh 0; ");
  EXPECT_EQ(layers(tanh_sum("z = Pow (x, two) p = Mul (z, x) k = Mul (c, p) ", "a = Add (k, x) ",
                            "q = Mul (w, a) ") +
                   half_last),
            "linear -1; gelu_tanh 0; ");
}

TEST_F(FusionImport, OtherFormulasWithTanhAreNotThatLayer) {
  const auto gelu = HasSubstr("gelu");
  for (const std::string power :
       {"p = Pow (x, two) k = Mul (p, c) ", "p = Pow (x, three) k = Mul (p, half) ",
        "p = Identity (x) k = Mul (p, c) ", "p = Mul (x, x) k = Mul (p, c) ",
        "v = Relu (x) z = Mul (v, x) p = Mul (z, x) k = Mul (p, c) ",
        "z = Pow (x, three) p = Mul (z, x) k = Mul (p, c) "}) {
    EXPECT_THAT(layers(tanh_sum(power) + half_last), Not(gelu)) << power;
  }
  const std::string cube = "p = Pow (x, three) k = Mul (p, c) ";
  for (const std::string sum :
       {"a = Sub (x, k) ", "v = Relu (x) a = Add (v, k) ", "a = Add (k, k) "}) {
    EXPECT_THAT(layers(tanh_sum(cube, sum) + half_last), Not(gelu)) << sum;
  }
  for (const std::string outer :
       {"q = Identity (a) ", "q = Mul (a, half) ", "v = Mul (a, w) q = Mul (v, x) "}) {
    EXPECT_THAT(layers(tanh_sum(cube, "a = Add (x, k) ", outer) + half_last), Not(gelu)) << outer;
  }
}

// --- layer normalisation ---

/// (x − mean)/deviation·scale + shift, part by part.
struct Norm {
  std::string mean = "m = ReduceMean <axes = [-1]> (x) ";
  std::string centred = "c = Sub (x, m) ";
  std::string square = "q = Pow (c, two) ";
  std::string variance = "v = ReduceMean <axes = [-1]> (q) ";
  std::string deviation = "a = Add (v, small) r = Sqrt (a) ";
  std::string quotient = "d = Div (c, r) ";
  std::string scaled = "g = Mul (d, w) ";
  std::string shifted = "y = Add (g, b) ";

  [[nodiscard]] std::string nodes() const {
    return number("two", "2.0") + number("three", "3.0") + number("small", "0.25") +
           onnx_integers("last", "-1", 1) + onnx_zeros("w", "6") + onnx_zeros("b", "6") + mean +
           centred + square + variance + deviation + quotient + scaled + shifted;
  }
};

TEST_F(FusionImport, ALayerNormalisationIsALayerWithItsEpsilon) {
  const Network found = network(Norm{}.nodes());
  const auto* kind = dynamic_cast<const LayerNorm*>(found.layers.back().kind.get());
  ASSERT_NE(kind, nullptr);
  EXPECT_EQ(kind->epsilon(), 0.25F);
  EXPECT_EQ(found.parameters().size(), 1U + 2U);
  for (const Norm& norm : {Norm{.square = "q = Mul (c, c) "}, Norm{.square = "q = Mul (c, x) "},
                           Norm{.deviation = "a = Add (small, v) r = Sqrt (a) "},
                           Norm{.scaled = "g = Mul (w, d) "}, Norm{.shifted = "y = Add (b, g) "},
                           Norm{.mean = "m = ReduceMean <axes = [-1], keepdims = 1> (x) "}}) {
    EXPECT_EQ(layers(norm.nodes()), "linear -1; layer_norm 0; ") << norm.nodes();
  }
  EXPECT_EQ(
      layers(Norm{.mean = "m = ReduceMean (x, last) ", .variance = "v = ReduceMean (q, last) "}
                 .nodes(),
             18),
      "linear -1; layer_norm 0; ");
}

TEST_F(FusionImport, OtherFormulasWithMeansAreNoLayerNormalisation) {
  for (const Norm& norm : {Norm{.mean = "m = ReduceMean <axes = [1]> (x) "},
                           Norm{.mean = "m = ReduceMean <axes = [-1], keepdims = 0> (x) "},
                           Norm{.mean = "z = Relu (x) m = ReduceMean <axes = [-1]> (z) "},
                           Norm{.mean = "m = ReduceMax <axes = [-1]> (x) "},
                           Norm{.centred = "c = Add (x, m) "},
                           Norm{.centred = "c = Sub (m, x) "},
                           Norm{.square = "q = Pow (c, three) "},
                           Norm{.square = "z = Mul (c, c) q = Mul (z, two) "},
                           Norm{.square = "q = Identity (c) "},
                           Norm{.variance = "v = ReduceMean <axes = [-2]> (q) "},
                           Norm{.deviation = "a = Sub (v, small) r = Sqrt (a) "},
                           Norm{.deviation = "a = Add (v, c) r = Sqrt (a) "},
                           Norm{.deviation = "r = Sqrt (v) "},
                           Norm{.deviation = "a = Add (v, small) r = Exp (a) "},
                           Norm{.quotient = "d = Div (x, r) "},
                           Norm{.quotient = "d = Div (r, c) "},
                           Norm{.quotient = "d = Mul (c, r) "},
                           Norm{.scaled = "g = Mul (d, two) "},
                           Norm{.scaled = "g = Add (d, w) "},
                           Norm{.shifted = "y = Add (g, two) "},
                           Norm{.shifted = "y = Sub (g, b) "}}) {
    EXPECT_THAT(layers(norm.nodes()), Not(HasSubstr("layer_norm"))) << norm.nodes();
  }
}

}  // namespace
}  // namespace parbench::test
