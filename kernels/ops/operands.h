// What each operation reads and writes: backends, naive loops and tests take it from here.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "kernels/base/tensor.h"
#include "kernels/ops/ops.h"

namespace parbench {

enum class Access { read, write, read_write };

/// Who determines how an operand lies in memory.
enum class Placement {
  exact,       // the description: as Operand::tensor says
  activation,  // the device: in its activation layout
  planned,     // the operation, when it is planned
  opaque,      // the backend alone knows the bytes and what they mean
};

struct Operand {
  std::string_view role;  // "source", "weights", "diff_destination"
  Access access = Access::read;
  Placement placement = Placement::exact;
  TensorDesc tensor;  // logical shape and type; canonical, unless the description has a layout
  std::optional<double> traffic = {};  // bytes; default: the tensor's, once for each access
};

/// The operands in the order in which Op::enqueue takes them: the lists behind "Arguments" in
/// ops.h. Needs a description that `check` accepts.
[[nodiscard]] std::vector<Operand> operands_of(const OpDesc& desc);

/// Equal for equal descriptions, from the kind of the operation and the shapes of its operands.
/// Needs a description that `check` accepts.
[[nodiscard]] std::size_t hash_of(const OpDesc& desc);

}  // namespace parbench
