// What an ONNX file says of a network, as plain data: nodes, constants, the input and the output.
// Weights have shapes and no values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kernels/base/tensor.h"

namespace parbench::onnx_import {

/// A square of a sequence's positions that says which keys (columns) a query (row) may see: those
/// up to its own position.
enum class Mask {
  none,     // anything else
  allowed,  // not zero for these keys, zero for others
  blocked,  // the other way round
  addend,   // 0 for these keys, less than −10⁴ for others
};

/// Elements of a tensor of the file, one behind the other; or one number as often.
struct ValuePiece {
  std::string tensor = {};  // empty: `filled`
  std::int64_t first = 0;
  std::int64_t count = 0;
  double filled = 0;
  Shape transposed_from = {};  // of the tensor, where the elements are those of its transpose

  friend bool operator==(const ValuePiece&, const ValuePiece&) = default;
};

/// What the elements of a tensor are, whatever their size.
enum class ElementType { floating, integer, boolean };

/// A tensor that the file contains, or that follows from such tensors alone.
struct Constant {
  Shape shape;
  /// Of tensors of whole numbers that are small: shapes and axes.
  std::vector<std::int64_t> integers = {};
  ElementType type = ElementType::floating;
  bool is_unsigned = false;
  std::vector<double> numbers = {};   // all values of a tensor of the file that is small
  std::optional<double> scalar = {};  // of a floating-point tensor of one element
  Mask mask = Mask::none;
  bool transposed = false;  // a matrix whose values are those of the source with its axes swapped
  std::string source = {};  // the tensor of the file that has the values; empty: none
  std::optional<double> filled = {};    // the value of all elements, where they have one
  std::vector<ValuePiece> pieces = {};  // where the values are, without a source of all of them
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
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
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
