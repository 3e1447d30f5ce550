// What nodes of an ONNX file compute of given numbers, by the translator and plain loops.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kernels/base/tensor.h"
#include "scenarios/models/general/evaluate.h"
#include "scenarios/models/onnx/reading/graph.h"

namespace parbench::test {

constexpr double infinity = std::numeric_limits<double>::infinity();

inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// One that the onnx library does not know, so that nodes of all operator sets pass its checks.
constexpr int unchecked_opset = 20;

/// An input of a file, computed when the network runs: no constant.
struct Given {
  std::string name;
  Shape shape;
  general::Values values;
  onnx_import::ElementType type = onnx_import::ElementType::floating;
};

/// Output y; or, with no shape and no values, why the nodes are refused.
struct Computed {
  Shape shape;
  general::Values values;
  std::string problem = {};
};

/// Nodes that make y from the inputs, in the text form of the onnx library.
[[nodiscard]] Computed computed(const std::string& nodes, const std::vector<Given>& inputs,
                                int opset = unchecked_opset);

/// A row of a table: what nodes compute of inputs.
struct OperatorRow {
  std::string nodes;
  std::vector<Given> inputs;
  Shape shape;
  general::Values values;
  int opset = unchecked_opset;
};

/// Fails for rows that compute something else, by more than f32 rounds.
void expect_all(const std::vector<OperatorRow>& rows);
/// The same where the rows have the gradient of the sum of y with respect to the first input.
void expect_gradients(const std::vector<OperatorRow>& rows);

/// x of that shape with 1, 2, 3, …
[[nodiscard]] Given counting(const Shape& shape);
/// A row x, {1, …}, of those numbers.
[[nodiscard]] Given row_of(const general::Values& values);
/// A constant of floating-point numbers: `numbers` is "1, 2".
[[nodiscard]] std::string numbers(const std::string& name, const std::string& shape,
                                  const std::string& numbers);

}  // namespace parbench::test
