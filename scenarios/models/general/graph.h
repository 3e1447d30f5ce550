// A graph of general operations: a closed set from which every network can be composed. Shapes are
// static but for the number of samples. Each function appends an operation and returns its index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/tensor.h"
#include "kernels/ops/map.h"
#include "scenarios/models/general/constant.h"

namespace parbench::general {

/// The extent of a dimension: `size`, or `size` times the number of samples. Samples that were
/// joined with other dimensions lie inside of `outer` and outside of size/outer elements.
struct Extent {
  std::int64_t size = 1;
  bool samples = false;
  std::int64_t outer = 1;

  [[nodiscard]] std::int64_t at(std::int64_t number_of_samples) const {
    return samples ? size * number_of_samples : size;
  }
  [[nodiscard]] bool is_one() const { return size == 1 && !samples; }

  friend bool operator==(const Extent&, const Extent&) = default;
};

/// At most one dimension has samples.
using Extents = std::vector<Extent>;

/// Dimensions by number, or a number for each.
using Axes = std::vector<std::int64_t>;

/// All dimensions as one. Throws std::invalid_argument where two have samples, where a tensor with
/// samples has no elements, and where a tensor is larger than any memory.
[[nodiscard]] Extent count_of(const Extents& extents);

[[nodiscard]] Shape shape_at(const Extents& extents, std::int64_t samples);
/// "{N, 3, 2}", "{N·4, 7}"; "{5·N·2}" has samples inside of 5.
[[nodiscard]] std::string to_string(const Extents& extents);

enum class OpKind : std::uint8_t {
  input,           // a tensor from outside
  parameter,       // the same, trainable
  constant,        // `values`, in canonical order
  element,         // `element` of inputs of its own shape
  reduction,       // over `axes`, whose extents become 1
  expansion,       // dimensions of extent 1 are repeated
  permutation,     // dimension d is the input's dimension axes[d]
  reshape,         // the same elements in canonical order
  detached,        // the input without its gradient
  slice,           // element i of each dimension is the input's element starts + steps·i
  placement,       // zeros but for the input's element i at starts + steps·i: the adjoint of slice
  concatenation,   // the inputs behind each other in dimension axes[0]
  product,         // {…, m, k} times {…, k, n} is {…, m, n}; leading dimensions are equal
  rows,            // of input 0 {r, width}, the rows that input 1 {count} names
  scattered_rows,  // {r, width}: sums of the rows of input 0 {count, width} that input 1 sends
                   // there
  layer            // what is no general operation: `index` is known to who appended it
};

/// One operation. Members beyond the first three belong to the kinds that OpKind names them for.
struct Operation {
  OpKind kind = OpKind::input;
  std::vector<int> inputs = {};  // indices of earlier operations
  Extents shape = {};
  ElementOp element = ElementOp::number;
  float number = 0;         // of ElementOp::number
  bool by_samples = false;  // the number is divided by that of samples
  int dimension = 0;        // of ElementOp::coordinate
  int index = 0;            // of inputs, parameters and layers, each from 0
  Reduction reduction = Reduction::none;
  std::vector<std::int64_t> axes = {};
  std::vector<std::int64_t> starts = {};
  std::vector<std::int64_t> steps = {};
  std::shared_ptr<const Constant> values = {};
};

/// All functions throw std::invalid_argument for shapes that do not fit, with the shapes in the
/// message. Operations on constants alone are constants, if they have at most `max_folded`
/// elements; those on numbers are numbers, and sums with 0 and products with 1 are the other
/// operand.
class Graph {
 public:
  static constexpr std::int64_t max_folded = 1 << 20;

  [[nodiscard]] const std::vector<Operation>& operations() const { return operations_; }
  [[nodiscard]] const Operation& at(int index) const {
    return operations_.at(static_cast<std::size_t>(index));
  }
  [[nodiscard]] const Extents& shape(int index) const { return at(index).shape; }
  [[nodiscard]] int input_count() const { return inputs_; }
  [[nodiscard]] int parameter_count() const { return parameters_; }

  /// The number that an operation is, whatever its shape; nothing for others.
  [[nodiscard]] std::optional<float> number_of(int index) const;

  int input(Extents shape);
  int parameter(const Shape& shape);
  int constant(const Shape& shape, std::vector<double> values);
  /// A number of any shape.
  int number(float value, Extents shape = {});
  /// The index of each element in a dimension.
  int coordinate(Extents shape, int dimension);

  // Inputs of different shapes are broadcast as numpy has it.
  int apply(ElementOp op, int a);
  int apply(ElementOp op, int a, int b);
  int apply(ElementOp op, int a, float b) { return apply(op, a, number(b)); }
  int select(int condition, int a, int b);

  /// Axes count from the end where they are negative; none: all. The dimensions stay, with
  /// extent 1.
  int reduce(Reduction reduction, int a, std::vector<std::int64_t> axes);
  int sum(int a, std::vector<std::int64_t> axes) {
    return reduce(Reduction::sum, a, std::move(axes));
  }
  int broadcast(int a, const Extents& shape);
  int permute(int a, std::vector<std::int64_t> order);
  int reshape(int a, Extents shape);
  int detach(int a);
  int slice(int a, std::vector<std::int64_t> starts, std::vector<std::int64_t> steps,
            Extents shape);
  int place(int a, std::vector<std::int64_t> starts, std::vector<std::int64_t> steps,
            Extents shape);
  int concatenate(std::vector<int> parts, std::int64_t axis);
  /// Leading dimensions are broadcast.
  int multiply(int a, int b);
  int rows(int table, int indices);
  int scatter_rows(int source, int indices, const Extent& count);
  /// An operation as it is; its inputs are operations of this graph. Not for sources.
  int add(Operation operation) { return append(std::move(operation)); }
  /// An operation of another kind.
  int layer(int index, std::vector<int> inputs, Extents shape);

  /// One divided by the number of elements in those dimensions, which may include the samples.
  int reciprocal_count(const Extents& shape, const std::vector<std::int64_t>& axes);
  /// The mean over axes, as reduce.
  int mean(int a, const std::vector<std::int64_t>& axes);

 private:
  int append(Operation operation);
  int append_element(ElementOp op, std::vector<int> inputs);
  int multiply_rows(int a, int b);
  [[nodiscard]] int folded(const Operation& operation);

  std::vector<Operation> operations_;
  int inputs_ = 0;
  int parameters_ = 0;
};

/// What results depend on among `stops` (by operation) and sources, ascending: of a backward pass,
/// what it reads of the forward pass.
[[nodiscard]] std::vector<int> read_by(const Graph& graph, const std::vector<int>& results,
                                       const std::vector<bool>& stops);

/// The dimension of an axis that may count from the end. Throws std::invalid_argument outside.
[[nodiscard]] std::size_t dimension_of(std::int64_t axis, std::size_t rank);

}  // namespace parbench::general
