// Operands of each operation. Backends, models and tests use these lists.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "kernels/base/tensor.h"
#include "kernels/ops/ops.h"

namespace parbench {

enum class Access { read, write, read_write };

/// What determines the memory layout of an operand.
enum class Placement {
  exact,       // the description: the layout is that of Operand::tensor
  activation,  // the device: the layout is its activation layout
  planned,     // the operation, when it is planned
  opaque,      // the backend, which also determines the size
};

struct Operand {
  std::string_view role;  // "source", "weights", "diff_destination"
  Access access = Access::read;
  Placement placement = Placement::exact;
  TensorDesc tensor;  // logical shape and type; canonical, unless the description has a layout
  std::optional<double> traffic = {};  // bytes; default: the tensor's bytes, once for each access
};

/// Returns the operands in the order of the views of Op::enqueue, which is the order of "Arguments"
/// at each description. Requires a description that `check` accepts.
[[nodiscard]] std::vector<Operand> operands_of(const OpDesc& desc);

/// Returns a hash of the kind of the operation and the shapes of its operands; equal for equal
/// descriptions. Requires a description that `check` accepts.
[[nodiscard]] std::size_t hash_of(const OpDesc& desc);

}  // namespace parbench
