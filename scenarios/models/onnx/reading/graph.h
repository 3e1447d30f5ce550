// The content of an ONNX file as plain data: nodes, constants, inputs and outputs. Large constants,
// such as weights, have shapes but no values.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "kernels/base/tensor.h"

namespace parbench::onnx_import {

/// Kind of a tensor's elements, independent of their size.
enum class ElementType { floating, integer, boolean };

/// Smallest and largest number of an integer type.
struct IntegerRange {
  float low = 0;
  float high = 0;
};

/// A tensor whose values the file contains.
struct Constant {
  Shape shape;
  ElementType type = ElementType::floating;
  std::optional<IntegerRange> range = {};  // of the type, if it is an integer type of 8 or 16 bits
  std::vector<double> numbers = {};        // all values of a small constant; otherwise empty
};

/// Stands for an attribute of a kind that is not read, such as a list of floats.
struct Unreadable {};

struct Graph;

/// Value of an attribute. Graphs are branches, or bodies of loops.
using Attribute =
    std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>,
                 std::vector<std::string>, Constant, std::shared_ptr<const Graph>, Unreadable>;

struct Node {
  std::string name;  // may be empty
  std::string op;    // with its domain as prefix, except for ONNX's own domain
  /// Names; "" for an omitted input. The node's own inputs are followed by the outer names that
  /// nested graphs read.
  std::vector<std::string> inputs = {};
  std::vector<std::string> outputs = {};
  std::map<std::string, Attribute, std::less<>> attributes = {};
};

/// Returns the name of a node or, if it has none, of its first output.
[[nodiscard]] inline std::string name_of(const Node& node) {
  if (!node.name.empty()) return node.name;
  return node.outputs.empty() ? "without an output" : node.outputs.front();
}

/// Stands for dimensions that the file leaves open.
inline constexpr std::int64_t open_dimension = -1;

struct Input {
  std::string name;
  Shape shape = {};                          // open dimensions: open_dimension
  std::vector<std::string> dimensions = {};  // names of open dimensions; empty for others
  ElementType type = ElementType::floating;
  bool is_numbers = true;  // whether the elements are floating-point
  bool is_tokens = false;  // whether the elements are i32 or i64
};

struct Graph {
  std::int64_t opset = 0;
  std::vector<Node> nodes;  // each follows the nodes whose outputs it reads
  std::map<std::string, Constant, std::less<>> constants;
  std::vector<Input> inputs;  // without those with the name of a constant or of an output of a node
  std::vector<std::string> outputs;
};

}  // namespace parbench::onnx_import
