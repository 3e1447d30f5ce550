// What is taken from ONNX files beside their layers: values, names and random numbers; and how
// large a file may be.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/base/error.h"
#include "scenarios/models/layers/elementwise.h"
#include "scenarios/models/models.h"
#include "scenarios/models/onnx/reading/file.h"
#include "scenarios/models/onnx/reading/limits.h"
#include "tests/support/onnx_file.h"
#include "tests/support/temporary_folder.h"

namespace parbench::test {
namespace {

using ::testing::HasSubstr;

struct OnnxFile : testing::Test {
  [[nodiscard]] std::string file(const std::string& nodes, const std::string& input) const {
    write_onnx(path_, input, nodes, 13);
    return path_;
  }

  /// With the values of the file.
  [[nodiscard]] static Network stored(const std::string& path) {
    const Model model = model_named(path, {.stored_weights = true});
    return model.make(model.sizes);
  }

  TemporaryFolder folder_;
  std::string path_ = (folder_ / "model.onnx").string();
};

const std::string linear_behind_z = onnx_zeros("fc.weight", "4, 3") + onnx_zeros("fc.bias", "4") +
                                    "y = Gemm <transB = 1> (z, fc.weight, fc.bias) ";

TEST_F(OnnxFile, DropoutsOfOneSourceHaveMasksOfTheirOwn) {
  const std::string path =
      file("a = Dropout (x) b = Dropout (x) z = Add (a, b) " + linear_behind_z, "float[N, 3] x");
  const Network found = stored(path);
  std::set<std::uint64_t> subsequences;
  for (const Layer& layer : found.layers) {
    if (const auto* dropout = as<RandomDropout>(layer)) subsequences.insert(dropout->subsequence());
  }
  EXPECT_EQ(subsequences.size(), 2U);
}

/// The names of a file's layers whose nodes have other names than their outputs.
std::vector<std::string> renamed(const std::string& path,
                                 const std::map<std::string, std::string>& names) {
  onnx::ModelProto model;
  std::ifstream stream(path, std::ios::binary);
  EXPECT_TRUE(model.ParseFromIstream(&stream));
  for (onnx::NodeProto& node : *model.mutable_graph()->mutable_node()) {
    const auto found = names.find(node.output(0));
    if (found != names.end()) node.set_name(found->second);
  }
  std::ofstream(path, std::ios::binary) << model.SerializeAsString();
  std::vector<std::string> found;
  for (const Layer& layer : OnnxFile::stored(path).layers) found.push_back(layer.name);
  return found;
}

TEST_F(OnnxFile, LayersOfOneNameAreNumbered) {
  const std::string path =
      file("a = Relu (x) b = Relu (a) z = Add (a, b) " + linear_behind_z, "float[N, 3] x");
  EXPECT_THAT(renamed(path, {{"a", "node"}, {"b", "node"}, {"z", "node"}}),
              ::testing::ElementsAre("node", "node_2", "node_3", "fc"));
}

/// As PyTorch's older exporter names nodes.
TEST_F(OnnxFile, LayersWithWeightsAreNamedAfterTheModulesOfTheirNodes) {
  const std::string path =
      file(onnx_zeros("v", "3, 3") + onnx_zeros("u", "3, 3") +
               "a = MatMul (x, v) b = Relu (a) c = MatMul (b, u) d = Sin (c) z = Add (d, a) " +
               linear_behind_z,
           "float[N, 3] x");
  EXPECT_THAT(
      renamed(path, {{"a", "/blocks/blocks.0/fc1/MatMul"},
                     {"b", "/blocks/blocks.0/act/Relu"},
                     {"c", "/MatMul"},
                     {"z", "/blocks/blocks.10/Add"}}),
      ::testing::ElementsAre("blocks.0.fc1", "blocks.0.act.Relu", "MatMul", "blocks.10.Add", "fc"));
}

TEST_F(OnnxFile, NetworksOfOneFileShareItsValues) {
  const std::string path = file("z = Relu (x) " + linear_behind_z, "float[N, 3] x");
  const Network first = stored(path);
  const Network second = stored(path);
  for (const ParameterSpec& spec : first.parameters()) {
    EXPECT_EQ(first.stored_values(spec).get(), second.stored_values(spec).get()) << spec.name;
  }
  std::filesystem::last_write_time(
      path, std::filesystem::file_time_type::clock::now() + std::chrono::seconds(5));
  const ParameterSpec spec = first.parameters().front();
  EXPECT_NE(first.stored_values(spec).get(), stored(path).stored_values(spec).get())
      << "the file has been written since";
}

TEST_F(OnnxFile, TransposedConvolutionsHaveTheValuesOfTheFile) {
  const Network found =
      stored(file(onnx_zeros("w", "3, 8, 2, 2") + "y = ConvTranspose <strides = [2, 2]> (x, w) ",
                  "float[N, 3, 8, 8] x"));
  const std::vector<ParameterSpec> parameters = found.parameters();
  ASSERT_EQ(parameters.size(), 1U);
  EXPECT_EQ(*found.stored_values(parameters.front()), std::vector<float>(96, 0.0F));
}

std::string refusal_of(const onnx::ModelProto& model) {
  std::istringstream stream(model.SerializeAsString());
  try {
    (void)onnx_import::read_stream(stream, "model.onnx");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST_F(OnnxFile, RefusesModelsWithTooManyParts) {
  onnx::ModelProto model;
  for (int i = 0; i <= onnx_import::max_nodes; ++i) {
    model.mutable_graph()->add_node()->set_op_type("Relu");
  }
  EXPECT_THAT(refusal_of(model), HasSubstr("has 50001 nodes; allowed are 50000"));
  model.clear_graph();
  for (int i = 0; i <= onnx_import::max_initializers; ++i) model.mutable_graph()->add_initializer();
  EXPECT_THAT(refusal_of(model), HasSubstr("has 50001 initializers; allowed are 50000"));
}

TEST_F(OnnxFile, RefusesGraphsThatAreNestedDeeply) {
  const auto nested = [](int depth) {
    onnx::ModelProto model;
    onnx::GraphProto* graph = model.mutable_graph();
    for (int i = 0; i < depth; ++i) {
      onnx::AttributeProto* attribute = graph->add_node()->add_attribute();
      graph = attribute->mutable_g();
    }
    return model;
  };
  EXPECT_THAT(refusal_of(nested(9)), HasSubstr("graphs inside of graphs, more than 8 deep"));
  EXPECT_THAT(refusal_of(nested(8)), HasSubstr("operator set 0")) << "what is checked next";
  EXPECT_THAT(refusal_of(nested(200)), HasSubstr("nests its parts too deeply"));
}

}  // namespace
}  // namespace parbench::test
