// A graph of general operations, a closed set (OpKind) from which networks are composed. Shapes are
// static except for the number of samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/tensor.h"
#include "kernels/ops/map.h"
#include "scenarios/models/general/constant.h"

namespace parbench::general {

/// The extent of a dimension: `size` or, with `samples`, `size`·N for N samples. A dimension with
/// samples is the row-major join of the dimensions {outer, N, size/outer}.
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

/// Extents of the dimensions of a tensor, at most one of which contains the samples.
using Extents = std::vector<Extent>;

/// Indices of dimensions, or one number per dimension.
using Axes = std::vector<std::int64_t>;

/// Returns the extent of all dimensions joined. Throws std::invalid_argument if two dimensions
/// contain the samples, if a tensor with samples has no elements, if an extent is negative, and
/// beyond 2^48 elements (per sample).
[[nodiscard]] Extent count_of(const Extents& extents);

[[nodiscard]] Shape shape_at(const Extents& extents, std::int64_t samples);
/// Returns extents without samples.
[[nodiscard]] Extents fixed(const Shape& shape);
/// Returns the dimensions [first, end) of a shape.
[[nodiscard]] Extents part_of(const Extents& shape, std::size_t first, std::size_t end);
[[nodiscard]] Extents joined(std::initializer_list<Extents> parts);
/// Returns the indices [first, end).
[[nodiscard]] Axes axes_between(std::size_t first, std::size_t end);
/// Returns for example "{N, 3, 2}"; "{5·N·2}" is one dimension that joins 5, the samples and 2.
[[nodiscard]] std::string to_string(const Extents& extents);

/// Maximum number of rows that can be selected by index. Indices are computed in f32, which
/// represents all integers up to this number.
inline constexpr std::int64_t max_rows = 1 << 24;

enum class OpKind : std::uint8_t {
  input,           // a tensor of the caller
  parameter,       // a trainable tensor of the caller
  constant,        // `values` in canonical order
  element,         // `element` of inputs of the same shape
  reduction,       // `reduction` over `axes`, whose extents become 1
  expansion,       // repeats dimensions of extent 1
  permutation,     // dimension d is the input's dimension axes[d]
  reshape,         // the same elements in canonical order
  detached,        // the input, to which no gradient is propagated
  slice,           // element i of each dimension is the input's element starts + steps·i
  placement,       // inverse of slice: the input's element i at starts + steps·i, zeros elsewhere
  concatenation,   // the inputs one after the other in dimension axes[0]
  product,         // {…, m, k} times {…, k, n} is {…, m, n}; leading dimensions are equal
  rows,            // the rows of input 0 {r, width} at the indices in input 1 {count}
  scattered_rows,  // {r, width}: row k is the sum of the rows i of input 0 {count, width} for which
                   // input 1 {count} has the value k
  layer            // not a general operation, but layer number `index` of the caller
};

/// One operation. Members after `shape` apply to some kinds only (see OpKind).
struct Operation {
  OpKind kind = OpKind::input;
  std::vector<int> inputs = {};  // indices of earlier operations
  Extents shape = {};
  ElementOp element = ElementOp::number;
  float number = 0;         // value of ElementOp::number
  bool by_samples = false;  // divide the number by the number of samples
  int dimension = 0;        // dimension of ElementOp::coordinate
  int index = 0;            // number among the inputs, the parameters or the layers
  Reduction reduction = Reduction::none;
  std::vector<std::int64_t> axes = {};
  std::vector<std::int64_t> starts = {};
  std::vector<std::int64_t> steps = {};
  std::shared_ptr<const Constant> values = {};
};

/// A graph of operations. Functions append operations and return the index of the result.
/// Operations on constants are evaluated if the result has at most `max_folded` elements and no
/// samples. Element operations on numbers become numbers; sums with 0 and products with 1 return
/// the other operand. Functions throw std::invalid_argument for unsupported shapes.
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

  /// Returns the value of an ElementOp::number that is not divided by the number of samples;
  /// nothing for other operations.
  [[nodiscard]] std::optional<float> number_of(int index) const;

  int input(Extents shape);
  int parameter(const Shape& shape);
  int constant(const Shape& shape, std::vector<double> values);
  /// Appends a tensor whose elements all equal `value`.
  int number(float value, Extents shape = {});
  /// Appends a tensor whose elements are their own indices in `dimension`.
  int coordinate(Extents shape, int dimension);

  // Inputs of different shapes are broadcast as by numpy.
  int apply(ElementOp op, int a);
  int apply(ElementOp op, int a, int b);
  int apply(ElementOp op, int a, float b) { return apply(op, a, number(b)); }
  int select(int condition, int a, int b);

  /// Reduces over `axes`; none: over all. Negative axes count from the end. Reduced dimensions keep
  /// the extent 1.
  int reduce(Reduction reduction, int a, std::vector<std::int64_t> axes);
  int sum(int a, std::vector<std::int64_t> axes) {
    return reduce(Reduction::sum, a, std::move(axes));
  }
  int broadcast(int a, const Extents& shape);
  int permute(int a, std::vector<std::int64_t> order);
  /// Moves dimension `from` to position `to`; the other dimensions keep their order.
  int move_axis(int a, std::size_t from, std::size_t to);
  /// Exchanges the last two dimensions.
  int transpose(int a);
  int reshape(int a, Extents shape);
  int detach(int a);
  int slice(int a, std::vector<std::int64_t> starts, std::vector<std::int64_t> steps,
            Extents shape);
  int place(int a, std::vector<std::int64_t> starts, std::vector<std::int64_t> steps,
            Extents shape);
  /// Takes `count` elements of a dimension from `first` on, `step` apart.
  int part(int a, std::size_t axis, std::int64_t first, std::int64_t count, std::int64_t step = 1);
  int concatenate(std::vector<int> parts, std::int64_t axis);
  /// Appends a matrix product, whose leading dimensions are broadcast.
  int multiply(int a, int b);
  int rows(int table, int indices);
  int scatter_rows(int source, int indices, const Extent& count);
  /// Appends an operation whose inputs are in this graph. Not for inputs and parameters: use
  /// `input` and `parameter`, which number them.
  int add(Operation operation) { return append(std::move(operation)); }
  /// Appends an OpKind::layer. `index`: number of the layer in a list of the caller.
  int layer(int index, std::vector<int> inputs, Extents shape);

  /// Appends 1/n, where n is the product of the extents of `axes`, which may include the number of
  /// samples.
  int reciprocal_count(const Extents& shape, const std::vector<std::int64_t>& axes);
  /// Appends the mean over axes; see `reduce`.
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

/// Returns the operations, ascending, at which a traversal from `results` towards their inputs
/// ends: inputs, parameters, and operations for which `stops` is true (by operation). If `results`
/// are gradients, and `stops` selects results of the forward pass, these are the tensors that the
/// backward pass reads.
[[nodiscard]] std::vector<int> read_by(const Graph& graph, const std::vector<int>& results,
                                       const std::vector<bool>& stops);

/// Returns the dimension of an axis, which counts from the end if negative. Throws
/// std::invalid_argument if the axis is out of range.
[[nodiscard]] std::size_t dimension_of(std::int64_t axis, std::size_t rank);

}  // namespace parbench::general
