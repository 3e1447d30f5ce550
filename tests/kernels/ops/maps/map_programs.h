// Element programs and strided tensors in few words, for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "kernels/ops/ops.h"

namespace parbench::test {

/// An instruction's number, and the results of earlier ones as operands.
class ProgramWriter {
 public:
  std::uint8_t input(std::uint8_t index) { return add({.op = ElementOp::input, .from = {index}}); }
  std::uint8_t coordinate(std::uint8_t dimension) {
    return add({.op = ElementOp::coordinate, .from = {dimension}});
  }
  std::uint8_t number(float value) { return add({.op = ElementOp::number, .number = value}); }
  std::uint8_t apply(ElementOp op, std::uint8_t a, std::uint8_t b = 0, std::uint8_t c = 0) {
    return add({.op = op, .from = {a, b, c}});
  }
  [[nodiscard]] const ElementProgram& program() const { return program_; }

 private:
  std::uint8_t add(const ElementInstruction& instruction) {
    program_.push_back(instruction);
    return static_cast<std::uint8_t>(program_.size() - 1);
  }

  ElementProgram program_;
};

/// A row-major tensor.
[[nodiscard]] inline StridedTensor dense(const Shape& extents, DType dtype = DType::f32) {
  StridedTensor tensor{.dtype = dtype, .count = element_count(extents), .strides = extents};
  std::int64_t stride = 1;
  for (std::size_t i = extents.size(); i-- > 0;) {
    tensor.strides[i] = stride;
    stride *= extents[i];
  }
  return tensor;
}

/// The program that returns an input.
[[nodiscard]] inline ElementProgram identity() { return {{.op = ElementOp::input}}; }

}  // namespace parbench::test
