// Computes the outputs of an ONNX file by plain loops: what tests/model_files compares with onnx's
// evaluator. Standard input has a line for each input: name, type (floating, integer, boolean),
// whether it is known on reading (0 or 1), a file of f64 in canonical order, and its extents. Each
// output is written to the folder as f64; standard output has a line with its extents.
//   onnx-forward MODEL FOLDER < INPUTS
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/base/error.h"
#include "scenarios/models/general/evaluate.h"
#include "scenarios/models/onnx/reading/file.h"
#include "scenarios/models/onnx/translator.h"

namespace {

using parbench::Shape;
using namespace parbench::onnx_import;  // NOLINT(google-build-using-namespace): a test program

std::vector<double> values_in(const std::string& path, std::int64_t count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  std::ifstream stream(path, std::ios::binary);
  stream.read(reinterpret_cast<char*>(values.data()),
              static_cast<std::streamsize>(values.size() * sizeof(double)));
  return values;
}

ElementType type_named(const std::string& name) {
  if (name == "integer") return ElementType::integer;
  return name == "boolean" ? ElementType::boolean : ElementType::floating;
}

void write(const std::string& path, const std::vector<double>& values) {
  std::ofstream stream(path, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(double)));
}

int run(const std::string& model, const std::string& folder) {
  const Graph file = read_file(model);
  FileValues stored(model);
  Translator translator(file, [&](const std::string& name) { return stored.of(name); });
  std::vector<parbench::general::Values> inputs;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream fields(line);
    std::string name;
    std::string type;
    std::string path;
    int is_known = 0;
    Shape shape;
    fields >> name >> type >> is_known >> path;
    for (std::int64_t extent = 0; fields >> extent;) shape.push_back(extent);
    std::vector<double> values = values_in(path, parbench::element_count(shape));
    if (is_known != 0) {
      translator.add_constant(name, shape, std::move(values), type_named(type));
      continue;
    }
    parbench::general::Extents extents;
    for (const std::int64_t extent : shape) extents.push_back({.size = extent});
    translator.add_input(name, std::move(extents), type_named(type));
    inputs.push_back(std::move(values));
  }
  std::vector<const Node*> nodes;
  for (const Node& node : file.nodes) nodes.push_back(&node);
  translator.translate(nodes);
  for (const Translator::Problem& problem : translator.problems()) {
    fmt::print(stderr, "{}: {}\n", problem.node->op, problem.reason);
  }
  if (!translator.problems().empty()) return 2;
  for (std::size_t i = 0; i < file.outputs.size(); ++i) {
    const Tensor* output = translator.find(file.outputs[i]);
    if (output == nullptr) {
      fmt::print("missing\n");
      continue;
    }
    const parbench::general::Graph& graph =
        output->is_constant ? translator.constants() : translator.network();
    std::vector<parbench::general::Values> parameters;
    for (const int constant : translator.parameters()) {
      parameters.push_back(translator.values_of(constant));
    }
    const std::vector<double> values =
        output->is_constant
            ? translator.values_of(output->operation)
            : parbench::general::evaluate(graph, {output->operation}, inputs, parameters, 1)
                  .front();
    write(fmt::format("{}/output_{}", folder, i), values);
    fmt::print("{}\n",
               fmt::join(parbench::general::shape_at(graph.shape(output->operation), 1), " "));
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 1;
  try {
    return run(arguments[1], arguments[2]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
