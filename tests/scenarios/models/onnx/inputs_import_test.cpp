// Which inputs of an ONNX file a network has, which are constant, where their samples lie; and the
// loss that follows from its end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/base/error.h"
#include "scenarios/models/layers/sequences.h"
#include "scenarios/models/models.h"
#include "tests/support/onnx_file.h"
#include "tests/support/temporary_folder.h"

namespace parbench::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct InputsImport : testing::Test {
  [[nodiscard]] Network network(const std::string& nodes, const std::string& inputs, int opset = 13,
                                const FileOptions& options = {}) const {
    const std::string path = (folder_ / "model.onnx").string();
    write_onnx(path, inputs, nodes, opset);
    const Model model = model_named(path, options);
    return model.make(model.sizes);
  }

  [[nodiscard]] std::string refusal(const std::string& nodes, const std::string& inputs) const {
    try {
      (void)network(nodes, inputs);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  }

  TemporaryFolder folder_;
};

const std::string table = onnx_zeros("table", "7, 4") + "e = Gather (table, x) ";

/// Rows of x plus rows of another table by the tokens of an input that is constant.
std::string with_other(const std::string& name) {
  return table + onnx_zeros("other", "3, 4") + "o = Gather (other, " + name + ") y = Add (e, o) ";
}

TEST_F(InputsImport, InputsThatAreNamedAfterPositionsTypesAndSegmentsAreConstant) {
  for (const std::string name : {"position_ids", "token_type_ids", "segment_ids"}) {
    const Network found = network(with_other(name), "int64[N, 2] x, int64[N, 2] " + name);
    EXPECT_EQ(found.input, (Shape{2})) << name;
    EXPECT_EQ(found.vocabulary, 7) << name;
  }
  const Network both = network(with_other("other_ids"), "int64[N, 2] x, int64[N, 2] other_ids");
  EXPECT_EQ(both.input, (Shape{4}));
  EXPECT_EQ(both.vocabulary, 3) << "tokens are rows of both tables";
  const Network turned = network(onnx_zeros("table", "3, 4") + onnx_zeros("other", "7, 4") +
                                     "e = Gather (table, x) o = Gather (other, z) y = Add (e, o) ",
                                 "int64[N, 2] x, int64[N, 2] z");
  EXPECT_EQ(turned.vocabulary, 3);
}

TEST_F(InputsImport, MasksAreOnes) {
  const std::string masked = table + onnx_zeros("w", "4, 5") +
                             "c = Cast <to = 1> (mask) two = Constant <value = int64[1] {2}> () "
                             "u = Unsqueeze (c, two) m = Mul (e, u) y = MatMul (m, w) ";
  const Network found = network(masked, "int64[N, 3] x, int64[N, 3] mask");
  std::vector<std::string> kinds;
  for (const Layer& layer : found.layers) kinds.emplace_back(layer.kind->name());
  EXPECT_THAT(kinds, ElementsAre("embedding", "linear")) << "a product with 1 is left out";
}

TEST_F(InputsImport, TokensBesideNumbersAreConstant) {
  const Network found =
      network(onnx_zeros("w", "3, 4") + onnx_zeros("table", "7, 4") + onnx_integers("one", "1", 1) +
                  "m = MatMul (x, w) e = Gather (table, ids) "
                  "s = ReduceSum <keepdims = 0> (e, one) y = Add (m, s) ",
              "float[N, 3] x, int64[N, 5] ids");
  EXPECT_EQ(found.input, (Shape{3}));
  EXPECT_EQ(found.vocabulary, 0);
}

TEST_F(InputsImport, SamplesLieInFrontUnlessTheirNameIsElsewhere) {
  const std::string nodes = onnx_zeros("w", "3, 4") + "m = MatMul (x, w) y = Add (m, z) ";
  EXPECT_EQ(network(nodes, "float[2, 5, 3] x, float[N, 5, 4] z").input, (Shape{35}));
  const std::string turned = onnx_zeros("w", "3, 4") +
                             "m = MatMul (x, w) t = Transpose <perm = [1, 0, 2]> (z) "
                             "y = Add (m, t) ";
  const Network found = network(turned, "float[N, 5, 3] x, float[5, N, 4] z");
  EXPECT_EQ(found.input, (Shape{35}));
  EXPECT_EQ(found.layers.back().output, (Shape{5, 4}));
}

TEST_F(InputsImport, DimensionsWithoutANameHaveThatOfTheirInput) {
  const std::string nodes = onnx_zeros("w", "3, 4") + "y = MatMul (x, w) ";
  const std::string inputs = "float[N, ?, 3] x";
  EXPECT_EQ(
      network(nodes, inputs, 13, {.dimensions = dimensions_named("x.1=6")}).layers.back().output,
      (Shape{6, 4}));
  EXPECT_THAT(refusal(nodes, inputs), HasSubstr("--dim x.1=SIZE"));
}

TEST_F(InputsImport, ASoftmaxOverClassesIsALossInItsOperatorSet) {
  const std::string scores = onnx_zeros("w", "6, 4") + "m = MatMul (x, w) ";
  const auto loss = [&](const std::string& end, const std::string& input, int opset) {
    return network(scores + end, input, opset).loss;
  };
  const std::string rows = "float[N, 6] x";
  const std::string sequences = "float[N, 5, 6] x";
  EXPECT_EQ(loss("y = Softmax (m) ", rows, 12), Loss::cross_entropy);
  EXPECT_EQ(loss("y = LogSoftmax (m) ", rows, 13), Loss::cross_entropy);
  EXPECT_EQ(loss("s = Softmax (m) y = Identity (s) ", rows, 13), Loss::cross_entropy);
  EXPECT_EQ(loss("y = Softmax (m) ", sequences, 13), Loss::cross_entropy);
  EXPECT_EQ(loss("y = Softmax (m) ", sequences, 12), Loss::mean_squared_error)
      << "over positions and classes";
  EXPECT_EQ(loss("y = Softmax <axis = 2> (m) ", sequences, 12), Loss::cross_entropy);
  EXPECT_EQ(loss("y = Softmax <axis = 1> (m) ", sequences, 13), Loss::mean_squared_error);
}

TEST_F(InputsImport, ImagesOfOnePixelAreRowsOfClasses) {
  const std::string pixels = onnx_zeros("w", "4, 3, 1, 1") + "y = Conv (x, w) ";
  EXPECT_EQ(network(pixels, "float[N, 3, 1, 1] x").layers.back().output, (Shape{4}));
  EXPECT_EQ(network(pixels, "float[N, 3, 1, 2] x").layers.back().output, (Shape{4, 1, 2}));
  EXPECT_EQ(network(pixels, "float[N, 3, 2, 1] x").layers.back().output, (Shape{4, 2, 1}));
}

}  // namespace
}  // namespace parbench::test
