// Numbers of operands of instructions, and checks of descriptions.
#include "kernels/ops/map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include "kernels/base/error.h"
#include "kernels/ops/checks.h"

namespace parbench {
namespace {

void check_extents(std::string_view name, const Map& desc) {
  if (desc.extents.size() > Map::max_dimensions) {
    throw UsageError(fmt::format("{}: the extents '{}' have {} dimensions; use {} at most", name,
                                 to_string(desc.extents), desc.extents.size(),
                                 Map::max_dimensions));
  }
  if (!std::ranges::all_of(desc.extents, [](std::int64_t n) { return n >= 1; })) {
    throw UsageError(fmt::format("{}: the extents are '{}'; every one must be at least 1", name,
                                 to_string(desc.extents)));
  }
  (void)canonical(desc.extents);  // throws beyond 64 bits
}

void check_reduction(std::string_view name, const Map& desc) {
  const auto dimensions = static_cast<int>(desc.extents.size());
  if (desc.reduced < 0 || desc.reduced > dimensions) {
    throw UsageError(fmt::format("{}: reduced is {}; it must be from 0 to the {} dimensions", name,
                                 desc.reduced, dimensions));
  }
  if (desc.reduction == Reduction::none && desc.reduced > 0) {
    throw UsageError(fmt::format("{}: {} dimensions are reduced by no reduction; choose one", name,
                                 desc.reduced));
  }
}

/// The lowest and the highest element index that coordinates address.
struct Reach {
  std::int64_t first;
  std::int64_t last;
};

/// Extends `reach` by a dimension. Returns false if a stride leads out of a buffer of `max`
/// elements.
bool extend(Reach& reach, std::int64_t extent, std::int64_t stride, std::int64_t max) {
  if (extent == 1 || stride == 0) return true;
  if (stride < -max || stride > max || extent - 1 > max / std::abs(stride)) return false;
  (stride < 0 ? reach.first : reach.last) += (extent - 1) * stride;
  return reach.first >= 0 && reach.last < max;
}

void check_tensor(std::string_view name, std::string_view role, const Shape& extents,
                  const StridedTensor& tensor) {
  if (tensor.strides.size() != extents.size()) {
    throw UsageError(fmt::format("{}: {} has {} strides for {} dimensions", name, role,
                                 tensor.strides.size(), extents.size()));
  }
  // throws beyond 64 bits
  (void)canonical({std::max<std::int64_t>(tensor.count, 1)}, tensor.dtype);
  Reach reach{tensor.offset, tensor.offset};
  bool is_within = tensor.offset >= 0 && tensor.offset < tensor.count;
  for (std::size_t i = 0; is_within && i < extents.size(); ++i) {
    is_within = extend(reach, extents[i], tensor.strides[i], tensor.count);
  }
  if (is_within) return;
  throw UsageError(fmt::format(
      "{}: {} leaves its {} elements with offset {} and strides '{}' over extents '{}'", name, role,
      tensor.count, tensor.offset, to_string(tensor.strides), to_string(extents)));
}

/// Checks StridedTensor::values: one f32 for each element.
void check_values(std::string_view name, const StridedTensor& input) {
  if (input.values == nullptr) return;
  if (input.dtype == DType::f32 && std::cmp_equal(input.values->size(), input.count)) return;
  throw UsageError(fmt::format("{}: an input of {} elements in {} has {} values in f32", name,
                               input.count, to_string(input.dtype), input.values->size()));
}

/// Checks the condition on strides of Map::output, so that no two coordinates address one element.
void check_different_elements(std::string_view name, const Shape& extents,
                              const StridedTensor& output) {
  std::vector<std::pair<std::int64_t, std::int64_t>> loops;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (extents[i] > 1) loops.emplace_back(std::abs(output.strides[i]), extents[i]);
  }
  std::ranges::sort(loops);
  std::int64_t reach = 0;
  for (const auto& [stride, extent] : loops) {
    if (stride <= reach) {
      throw UsageError(fmt::format(
          "{}: coordinates of extents '{}' may share elements of destination with strides '{}'; "
          "each stride must be greater than what the smaller ones reach",
          name, to_string(extents), to_string(output.strides)));
    }
    reach += stride * (extent - 1);
  }
}

[[noreturn]] void refuse_instruction(std::string_view name, std::size_t index,
                                     const std::string& what) {
  throw UsageError(fmt::format("{}: instruction {} reads {}", name, index, what));
}

void check_instruction(std::string_view name, const Map& desc, std::size_t index) {
  const ElementInstruction& instruction = desc.program[index];
  const std::size_t first = instruction.from[0];
  if (instruction.op == ElementOp::input && first >= desc.inputs.size()) {
    refuse_instruction(name, index, fmt::format("input {} of {}", first, desc.inputs.size()));
  }
  if (instruction.op == ElementOp::coordinate && first >= desc.extents.size()) {
    refuse_instruction(name, index, fmt::format("coordinate {} of {}", first, desc.extents.size()));
  }
  for (std::size_t i = 0; i < operand_count(instruction.op); ++i) {
    if (instruction.from.at(i) < index) continue;
    refuse_instruction(name, index,
                       fmt::format("instruction {}; only earlier instructions have results",
                                   static_cast<int>(instruction.from.at(i))));
  }
}

void check_program(std::string_view name, const Map& desc) {
  if (desc.program.empty() || desc.program.size() > Map::max_instructions) {
    throw UsageError(fmt::format("{}: the program has {} instructions; it must have 1 to {}", name,
                                 desc.program.size(), Map::max_instructions));
  }
  for (std::size_t i = 0; i < desc.program.size(); ++i) check_instruction(name, desc, i);
}

}  // namespace

std::size_t operand_count(ElementOp op) {
  if (op <= ElementOp::coordinate) return 0;
  if (op <= ElementOp::tanh) return 1;
  return op == ElementOp::selection ? 3 : 2;
}

Shape kept_extents(const Map& desc) {
  return {desc.extents.begin(), desc.extents.end() - desc.reduced};
}

std::int64_t named_elements(const Shape& extents, const StridedTensor& tensor) {
  std::int64_t elements = 1;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (tensor.strides[i] != 0) elements *= extents[i];
  }
  return std::min(elements, tensor.count);
}

void check_map(std::string_view name, const Map& desc) {
  check_extents(name, desc);
  check_reduction(name, desc);
  check_program(name, desc);
  if (desc.inputs.size() > Map::max_inputs) {
    throw UsageError(
        fmt::format("{}: {} inputs; use {} at most", name, desc.inputs.size(), Map::max_inputs));
  }
  for (std::size_t i = 0; i < desc.inputs.size(); ++i) {
    check_tensor(name, fmt::format("source{}", i), desc.extents, desc.inputs[i]);
  }
  for (const StridedTensor& input : desc.inputs) check_values(name, input);
  if (desc.output.dtype == DType::i32 && desc.accumulate) {
    throw UsageError(fmt::format("{}: the output is i32, to which nothing is added", name));
  }
  const Shape kept = kept_extents(desc);
  check_tensor(name, "destination", kept, desc.output);
  check_different_elements(name, kept, desc.output);
}

}  // namespace parbench
