// What an ONNX file says of a network, as plain data: nodes, constants, the input and the output.
// Weights have shapes and no values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kernels/base/tensor.h"

namespace parbench::onnx_import {

/// What the elements of a tensor are, whatever their size.
enum class ElementType { floating, integer, boolean };

/// A tensor that the file contains.
struct Constant {
  Shape shape;
  ElementType type = ElementType::floating;
  bool is_unsigned = false;
  std::vector<double> numbers = {};  // all values where they are few
};

/// An attribute of a kind that no known operator has.
struct Unreadable {};

struct Graph;

/// Nested graphs are those of branches and loops.
using Attribute = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>,
                               Constant, std::shared_ptr<const Graph>, Unreadable>;

struct Node {
  std::string name;  // may be empty
  std::string op;    // with its domain in front where that is not ONNX's own
  /// "" for one that is left out. What nested graphs read from outside is behind the node's own.
  std::vector<std::string> inputs = {};
  std::vector<std::string> outputs = {};
  std::map<std::string, Attribute, std::less<>> attributes = {};
};

/// That of a node, or of its output: nodes need no name.
[[nodiscard]] inline std::string name_of(const Node& node) {
  if (!node.name.empty()) return node.name;
  return node.outputs.empty() ? "without an output" : node.outputs.front();
}

/// Dimensions that the file leaves open are `open_dimension`.
inline constexpr std::int64_t open_dimension = -1;

struct Input {
  std::string name;
  Shape shape;                               // with the samples in front
  std::vector<std::string> dimensions = {};  // the names of open ones; empty for others
  ElementType type = ElementType::floating;
  bool is_numbers = true;  // floating-point
  bool is_tokens = false;  // i32 or i64
};

struct Graph {
  std::int64_t opset = 0;
  std::vector<Node> nodes;  // each behind those whose outputs it reads
  std::map<std::string, Constant, std::less<>> constants;
  std::vector<Input> inputs;  // without those that have a constant's name
  std::vector<std::string> outputs;
};

}  // namespace parbench::onnx_import
