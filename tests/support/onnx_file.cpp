// Parses text and renames what the text form cannot spell.
#include "tests/support/onnx_file.h"

#include <fmt/format.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

namespace parbench::test {
namespace {

/// Zeros that nodes would make become tensors of the file, as weights are.
void store_zeros(onnx::GraphProto& graph) {
  constexpr std::int64_t max_count = 1 << 16;
  std::map<std::string, std::vector<std::int64_t>> shapes;
  for (const onnx::NodeProto& node : graph.node()) {
    if (node.op_type() != "Constant" || !node.output(0).ends_with("_shape")) continue;
    const onnx::TensorProto& shape = node.attribute(0).t();
    shapes[node.output(0)] = {shape.int64_data().begin(), shape.int64_data().end()};
  }
  google::protobuf::RepeatedPtrField<onnx::NodeProto> left;
  for (const onnx::NodeProto& node : graph.node()) {
    const bool is_filled = node.op_type() == "ConstantOfShape" && node.attribute().empty();
    const auto shape = is_filled ? shapes.find(node.output(0) + "_shape") : shapes.end();
    std::int64_t count = 1;
    if (shape != shapes.end()) {
      for (const std::int64_t size : shape->second)
        count *= std::clamp(size, std::int64_t{0}, max_count);
    }
    if (shape == shapes.end() || count == 0 || count > max_count) {
      *left.Add() = node;
      continue;
    }
    onnx::TensorProto& tensor = *graph.add_initializer();
    tensor.set_name(node.output(0));
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    for (const std::int64_t size : shape->second) tensor.add_dims(size);
    tensor.set_raw_data(std::string(static_cast<std::size_t>(count) * sizeof(float), '\0'));
  }
  graph.mutable_node()->Swap(&left);
}

}  // namespace

std::string onnx_zeros(const std::string& name, const std::string& shape) {
  const auto count = std::ranges::count(shape, ',') + 1;
  return fmt::format(
      "{0}_shape = Constant <value = int64[{2}] {{ {1} }}> () {0} = ConstantOfShape ({0}_shape) ",
      name, shape, count);
}

std::string onnx_integers(const std::string& name, const std::string& numbers, int count) {
  return fmt::format("{} = Constant <value = int64[{}] {{{}}}> () ", name, count, numbers);
}

std::string onnx_convolution(const std::string& output, const std::string& input,
                             const std::string& shape, const std::string& more) {
  return onnx_zeros(output + ".weight", shape) +
         fmt::format("{0} = Conv <pads = [1, 1, 1, 1]{2}> ({1}, {0}.weight) ", output, input, more);
}

std::string onnx_biased_convolution(const std::string& output, const std::string& input,
                                    const std::string& shape) {
  return onnx_zeros(output + ".weight", shape) +
         onnx_zeros(output + ".bias", shape.substr(0, shape.find(','))) +
         fmt::format("{0} = Conv <pads = [1, 1, 1, 1]> ({1}, {0}.weight, {0}.bias) ", output,
                     input);
}

std::string onnx_normalisation(const std::string& output, const std::string& input,
                               const std::string& channels) {
  std::string text;
  for (const char* part : {"weight", "bias", "mean", "var"}) {
    text += onnx_zeros(fmt::format("{}.{}", output, part), channels);
  }
  return text +
         fmt::format("{0} = BatchNormalization ({1}, {0}.weight, {0}.bias, {0}.mean, {0}.var) ",
                     output, input);
}

std::string onnx_classifier(const std::string& input) {
  return onnx_zeros("fc.weight", "10, 8") + onnx_zeros("fc.bias", "10") +
         fmt::format(
             "mean = GlobalAveragePool ({}) rows = Flatten (mean) "
             "y = Gemm <transB = 1> (rows, fc.weight, fc.bias) ",
             input);
}

void write_onnx(const std::filesystem::path& path, const std::string& inputs,
                const std::string& nodes, int opset) {
  // Its identifiers have no dots, which names of weights have.
  const std::string text = std::regex_replace(
      fmt::format(
          "<ir_version: 8, opset_import: [\"\" : {}]> model ({}) => (float[N, M] y) {{ {} }}",
          opset, inputs, nodes),
      std::regex("\\.([a-z])"), "__$1");
  onnx::ModelProto model;
  const auto status = onnx::OnnxParser::Parse(model, text.c_str());
  if (!status.IsOK()) throw std::runtime_error(status.ErrorMessage());
  store_zeros(*model.mutable_graph());
  for (onnx::TensorProto& tensor : *model.mutable_graph()->mutable_initializer()) {
    tensor.set_name(std::regex_replace(tensor.name(), std::regex("__"), "."));
  }
  for (onnx::NodeProto& node : *model.mutable_graph()->mutable_node()) {
    for (auto* names : {node.mutable_input(), node.mutable_output()}) {
      for (std::string& name : *names) name = std::regex_replace(name, std::regex("__"), ".");
    }
  }
  std::ofstream stream(path, std::ios::binary);
  if (!model.SerializeToOstream(&stream)) throw std::runtime_error("cannot write " + path.string());
}

}  // namespace parbench::test
