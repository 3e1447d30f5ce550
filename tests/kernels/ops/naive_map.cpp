// The expected values of programs over strided tensors, one element after the other.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/kernels/ops/naive_parts.h"

namespace parbench::test {
namespace {

std::size_t index_of(const StridedTensor& tensor, const Shape& coordinates) {
  std::int64_t index = tensor.offset;
  for (std::size_t i = 0; i < tensor.strides.size(); ++i) {
    index += tensor.strides[i] * coordinates[i];
  }
  return size(index);
}

/// A choice between two numbers, or NaN where one of both is.
double either(double a, double b, double chosen) {
  return std::isnan(a) || std::isnan(b) ? NAN : chosen;
}

double unary(ElementOp op, double x) {
  switch (op) {
    case ElementOp::absolute:
      return std::abs(x);
    case ElementOp::ceiling:
      return std::ceil(x);
    case ElementOp::cosine:
      return std::cos(x);
    case ElementOp::error_function:
      return std::erf(x);
    case ElementOp::exponential:
      return std::exp(x);
    case ElementOp::floor:
      return std::floor(x);
    case ElementOp::logarithm:
      return std::log(x);
    case ElementOp::negation:
      return -x;
    case ElementOp::reciprocal:
      return 1 / x;
    case ElementOp::rounding:
      return std::nearbyint(x);
    case ElementOp::sign:
      return std::isnan(x) ? x : static_cast<double>((x > 0) - (x < 0));
    case ElementOp::sine:
      return std::sin(x);
    case ElementOp::square_root:
      return std::sqrt(x);
    default:
      return std::tanh(x);
  }
}

double binary(ElementOp op, double a, double b) {
  switch (op) {
    case ElementOp::addition:
      return a + b;
    case ElementOp::difference:
      return a - b;
    case ElementOp::product:
      return a * b;
    case ElementOp::quotient:
      return a / b;
    case ElementOp::power:
      return std::pow(a, b);
    case ElementOp::minimum:
      return either(a, b, std::min(a, b));
    case ElementOp::maximum:
      return either(a, b, std::max(a, b));
    case ElementOp::remainder:
      return std::fmod(a, b);
    case ElementOp::less:
      return a < b ? 1 : 0;
    default:
      return a == b ? 1 : 0;
  }
}

double element(const Map& desc, const Tensors& inputs, const Shape& coordinates) {
  Values results;
  for (const ElementInstruction& instruction : desc.program) {
    const auto from = [&](std::size_t i) { return results[instruction.from.at(i)]; };
    const std::size_t first = instruction.from[0];
    if (instruction.op == ElementOp::input) {
      const StridedTensor& input = desc.inputs[first];
      const std::size_t index = index_of(input, coordinates);
      results.push_back(input.values != nullptr
                            ? double{(*input.values)[index]}
                            : in(inputs, "source" + std::to_string(first))[index]);
    } else if (instruction.op == ElementOp::number) {
      results.push_back(double{instruction.number});
    } else if (instruction.op == ElementOp::coordinate) {
      results.push_back(static_cast<double>(coordinates[first]));
    } else if (operand_count(instruction.op) == 1) {
      results.push_back(unary(instruction.op, from(0)));
    } else if (operand_count(instruction.op) == 2) {
      results.push_back(binary(instruction.op, from(0), from(1)));
    } else {
      results.push_back(from(0) != 0 ? from(1) : from(2));
    }
  }
  return results.back();
}

double reduced(Reduction reduction, double total, double value) {
  switch (reduction) {
    case Reduction::none:
      return value;
    case Reduction::sum:
      return total + value;
    case Reduction::product:
      return total * value;
    case Reduction::maximum:
      return either(total, value, std::max(total, value));
    case Reduction::minimum:
      return either(total, value, std::min(total, value));
  }
  return NAN;
}

/// Moves on to the next coordinates, the last dimension first; false after the last ones.
bool advance(Shape& coordinates, const Shape& extents) {
  for (std::size_t i = extents.size(); i-- > 0;) {
    if (++coordinates[i] < extents[i]) return true;
    coordinates[i] = 0;
  }
  return false;
}

}  // namespace

Tensors compute(const Map& desc, const Tensors& inputs) {
  const auto found = inputs.find("destination");
  Values destination = found == inputs.end() ? Values(size(desc.output.count)) : found->second;
  const Values before = destination;
  std::vector<bool> begun(destination.size());
  Shape coordinates(desc.extents.size());
  do {
    const std::size_t index = index_of(desc.output, coordinates);
    const double value = element(desc, inputs, coordinates);
    destination[index] = begun[index] ? reduced(desc.reduction, destination[index], value) : value;
    begun[index] = true;
  } while (advance(coordinates, desc.extents));
  for (std::size_t i = 0; desc.accumulate && i < destination.size(); ++i) {
    if (begun[i]) destination[i] += before[i];
  }
  return {{"destination", destination}};
}

}  // namespace parbench::test
