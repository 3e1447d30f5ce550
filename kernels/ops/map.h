// An element-wise program over strided tensors, with or without a reduction: unary and binary
// functions with broadcasting, selections, permutations, slices, concatenations, casts, sums.
// Conventions are those of ops.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/base/tensor.h"

namespace parbench {

/// What one step of an element program computes from the results of earlier steps, in f32.
/// Comparisons give 1 or 0; `select` takes anything but 0 as true.
enum class ElementOp : std::uint8_t {
  input,       // the element of input `from[0]`
  number,      // ElementStep::number
  coordinate,  // the index of the element in dimension `from[0]` of Map::extents

  absolute,
  ceiling,
  cosine,
  error_function,
  exponential,
  floor,
  logarithm,  // natural
  negation,
  reciprocal,
  rounding,  // to the nearest whole number, ties to even
  sign,      // −1, 0 or 1; that of NaN is NaN
  sine,
  square_root,
  tanh,

  addition,
  difference,
  product,
  quotient,
  power,      // as std::pow
  minimum,    // NaN where one of both is
  maximum,    // NaN where one of both is
  remainder,  // of a division rounded towards zero, as std::fmod
  less,
  equal,

  selection  // from[0] != 0 ? from[1] : from[2]
};

/// How many earlier results an operation reads: 0 for input, number and coordinate.
[[nodiscard]] std::size_t operand_count(ElementOp op);

struct ElementStep {
  ElementOp op = ElementOp::input;
  std::array<std::uint8_t, 3> from = {};  // indices of earlier steps, or as ElementOp says
  float number = 0;

  friend bool operator==(const ElementStep&, const ElementStep&) = default;
};

/// Steps in the order of execution; the last one is the result.
using ElementProgram = std::vector<ElementStep>;

/// How an operand's elements lie in its buffer of `count` elements: the one at coordinates i is at
/// offset + Σ strides[d]·i[d], which must be within the buffer. A stride of 0 repeats, a negative
/// one goes backwards. An input with `values` is no argument: the planned operation has them, as
/// f32.
struct StridedTensor {
  DType dtype = DType::f32;
  std::int64_t count = 0;
  std::int64_t offset = 0;
  Shape strides = {};
  std::shared_ptr<const std::vector<float>> values = {};

  friend bool operator==(const StridedTensor&, const StridedTensor&) = default;
};

enum class Reduction : std::uint8_t { none, sum, maximum, minimum, product };

/// output[i] [+]= reduction over the last `reduced` coordinates of program(inputs at i…). Inputs
/// are f32, bf16 or i32, and so is the output, where i32 is rounded; all arithmetic is f32, and
/// reductions give the same bits for every number of threads. Without dimensions there is one
/// element. Elements of the output that no coordinates name stay as they are. Arguments: source0 to
/// source7, as many as there are inputs, destination; where nothing is reduced, it may be the
/// memory of inputs that have its type, offset and strides.
struct Map {
  static constexpr std::size_t max_rank = 8;
  static constexpr std::size_t max_inputs = 8;
  static constexpr std::size_t max_steps = 64;

  Shape extents = {};  // of the kept dimensions, then of the reduced ones
  std::vector<StridedTensor> inputs = {};
  ElementProgram program = {};
  /// Its strides are those of the kept dimensions, in which each goes beyond what the smaller ones
  /// reach, so that no two coordinates name one element.
  StridedTensor output = {};
  Reduction reduction = Reduction::none;
  int reduced = 0;  // dimensions
  bool accumulate = false;

  friend bool operator==(const Map&, const Map&) = default;
};

/// Extents of the dimensions that the output has.
[[nodiscard]] Shape kept_extents(const Map& desc);

/// Elements of a buffer that coordinates in `extents` name, at most.
[[nodiscard]] std::int64_t named_elements(const Shape& extents, const StridedTensor& tensor);

}  // namespace parbench
