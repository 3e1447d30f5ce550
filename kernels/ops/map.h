// An element-wise program over strided tensors, with or without a reduction: unary and binary
// functions with broadcasting, selections, permutations, slices, concatenations, casts, sums.
// For conventions see ops.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/base/tensor.h"

namespace parbench {

/// Operation of an instruction of an element program (see ElementProgram), in f32.
/// Comparisons return 1 or 0; `selection` treats every value except 0 as true.
enum class ElementOp : std::uint8_t {
  input,       // the element of input `from[0]`
  number,      // ElementInstruction::number
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
  sign,      // −1, 0 or 1; NaN for NaN
  sine,
  square_root,
  tanh,

  addition,
  difference,
  product,
  quotient,
  power,      // std::pow
  minimum,    // NaN if either is NaN
  maximum,    // NaN if either is NaN
  remainder,  // remainder of a division rounded towards zero, std::fmod
  less,
  equal,

  selection  // from[0] != 0 ? from[1] : from[2]
};

/// Number of earlier results that an operation reads: 0 for input, number and coordinate.
[[nodiscard]] std::size_t operand_count(ElementOp op);

struct ElementInstruction {
  ElementOp op = ElementOp::input;
  // indices of earlier instructions, except for `input` and `coordinate` (see ElementOp)
  std::array<std::uint8_t, 3> from = {};
  float number = 0;

  friend bool operator==(const ElementInstruction&, const ElementInstruction&) = default;
};

/// Instructions in the order of execution. The last instruction computes the result of the program.
using ElementProgram = std::vector<ElementInstruction>;

/// Position of an operand's elements in its buffer of `count` elements: the element at coordinates
/// i has the index offset + Σ strides[d]·i[d], which must be within the buffer. A stride of 0
/// repeats an element; strides may be negative. An input with `values` is not an argument: the
/// planned operation contains the values, as f32.
struct StridedTensor {
  DType dtype = DType::f32;
  std::int64_t count = 0;
  std::int64_t offset = 0;
  Shape strides = {};
  std::shared_ptr<const std::vector<float>> values = {};

  friend bool operator==(const StridedTensor&, const StridedTensor&) = default;
};

enum class Reduction : std::uint8_t { none, sum, maximum, minimum, product };

/// output[i] [+]= reduction of program(inputs at i, r) over r, the last `reduced` coordinates.
/// Inputs and output are f32, bf16 or i32; an i32 output is rounded. Instructions compute in f32,
/// and reductions return the same bits for every number of threads. A Map without dimensions has
/// one element. Elements of the output that no coordinates address are unchanged. Arguments:
/// source0 to source7 (one per input without `values`), destination; without a reduction, the
/// destination may be the memory of inputs that have its type, offset and strides.
struct Map {
  static constexpr std::size_t max_dimensions = 8;
  static constexpr std::size_t max_inputs = 8;
  static constexpr std::size_t max_instructions = 64;

  Shape extents = {};  // kept dimensions, then reduced ones
  std::vector<StridedTensor> inputs = {};
  ElementProgram program = {};
  /// Has a stride for each kept dimension. Each stride must exceed the sum of stride · (extent − 1)
  /// over the dimensions with smaller strides, so that no two coordinates address one element.
  StridedTensor output = {};
  Reduction reduction = Reduction::none;
  int reduced = 0;  // number of reduced dimensions
  bool accumulate = false;

  friend bool operator==(const Map&, const Map&) = default;
};

/// Returns the extents of the dimensions of the output.
[[nodiscard]] Shape kept_extents(const Map& desc);

/// Returns an upper limit for the number of buffer elements that coordinates in `extents` address.
[[nodiscard]] std::int64_t named_elements(const Shape& extents, const StridedTensor& tensor);

}  // namespace parbench
