// Writes a file, reads it, and evaluates its graph.
#include "tests/scenarios/models/onnx/operator_runs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "scenarios/models/general/gradient.h"
#include "scenarios/models/onnx/reading/file.h"
#include "scenarios/models/onnx/translator.h"
#include "tests/support/onnx_file.h"
#include "tests/support/temporary_folder.h"

namespace parbench::test {
namespace {

using onnx_import::ElementType;

std::string type_text(ElementType type) {
  if (type == ElementType::integer) return "int64";
  return type == ElementType::boolean ? "bool" : "float";
}

bool is_about(double value, double wanted) {
  constexpr double tolerance = 2e-6;
  if (std::isnan(wanted) || std::isinf(wanted)) {
    return value == wanted || (std::isnan(value) && std::isnan(wanted));
  }
  return std::abs(value - wanted) <= tolerance * (1 + std::abs(wanted));
}

/// y, or the gradient of its sum with respect to the first input.
Computed run(const std::string& nodes, const std::vector<Given>& inputs, int opset,
             bool differentiates) {
  const TemporaryFolder folder;
  const std::string path = (folder / "model.onnx").string();
  std::vector<std::string> texts;
  for (const Given& one : inputs) {
    texts.push_back(
        fmt::format("{}[{}] {}", type_text(one.type), fmt::join(one.shape, ", "), one.name));
  }
  write_onnx(path, fmt::format("{}", fmt::join(texts, ", ")), nodes, opset);
  const onnx_import::Graph file = onnx_import::read_file(path);
  onnx_import::FileValues stored(path);
  onnx_import::Translator translator(file,
                                     [&](const std::string& name) { return stored.of(name); });
  std::vector<general::Values> values;
  for (const Given& one : inputs) {
    general::Extents extents;
    for (const std::int64_t size : one.shape) extents.push_back({.size = size});
    translator.add_input(one.name, std::move(extents), one.type);
    values.push_back(one.values);
  }
  std::vector<const onnx_import::Node*> all;
  for (const onnx_import::Node& node : file.nodes) all.push_back(&node);
  translator.translate(all);
  if (!translator.problems().empty()) return {{}, {}, translator.problems().front().reason};
  const onnx_import::Tensor* y = translator.find("y");
  if (y == nullptr) return {{}, {}, "nothing makes y"};
  if (y->is_constant) {
    return {general::shape_at(translator.constants().shape(y->operation), 1),
            translator.values_of(y->operation)};
  }
  std::vector<general::Values> parameters;
  for (const int constant : translator.parameters()) {
    parameters.push_back(translator.values_of(constant));
  }
  general::Graph& graph = translator.network();
  int wanted = y->operation;
  if (differentiates) {
    const int input = translator.find(inputs.front().name)->operation;
    const int ones = graph.number(1, graph.shape(wanted));
    wanted = general::add_gradients(graph, wanted, ones, {input}).at(input);
  }
  return {general::shape_at(graph.shape(wanted), 1),
          general::evaluate(graph, {wanted}, values, parameters, 1).front()};
}

void expect_result(const OperatorRow& row, bool differentiates) {
  const Computed found = run(row.nodes, row.inputs, row.opset, differentiates);
  EXPECT_EQ(found.problem, "") << row.nodes;
  EXPECT_EQ(found.shape, row.shape) << row.nodes;
  EXPECT_TRUE(std::ranges::equal(found.values, row.values, is_about))
      << row.nodes << "\n"
      << testing::PrintToString(found.values) << "\nwanted:\n"
      << testing::PrintToString(row.values);
}

}  // namespace

Computed computed(const std::string& nodes, const std::vector<Given>& inputs, int opset) {
  return run(nodes, inputs, opset, false);
}

void expect_all(const std::vector<OperatorRow>& rows) {
  for (const OperatorRow& row : rows) expect_result(row, false);
}

void expect_gradients(const std::vector<OperatorRow>& rows) {
  for (const OperatorRow& row : rows) expect_result(row, true);
}

Given counting(const Shape& shape) {
  general::Values values(static_cast<std::size_t>(element_count(shape)));
  std::iota(values.begin(), values.end(), 1);
  return {"x", shape, std::move(values)};
}

Given row_of(const general::Values& values) {
  return {"x", {1, static_cast<std::int64_t>(values.size())}, values};
}

std::string numbers(const std::string& name, const std::string& shape, const std::string& numbers) {
  return fmt::format("{} = Constant <value = float[{}] {{{}}}> () ", name, shape, numbers);
}

}  // namespace parbench::test
