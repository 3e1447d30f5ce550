// Planned operations that a case owns, and the binding of memory to their arguments by role.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kernels/core/device.h"
#include "scenarios/framework/plan.h"

namespace parbench {

/// Owns operations at stable addresses, as plans need them.
class OpSet {
 public:
  /// Plans an operation for one stream (its device, its threads) and makes room for its scratch
  /// there. Throws Unsupported when the device does not have it.
  Op& prepare(Stream& stream, const OpDesc& desc);
  /// The same; calls with one stream and equal descriptions return one operation. Not for Spin,
  /// which draws numbers of its own.
  Op& prepare_shared(Stream& stream, const OpDesc& desc);

 private:
  struct Shared {
    const Stream* stream;
    OpDesc desc;
    Op* op;
  };
  std::vector<std::unique_ptr<Op>> ops_;
  std::unordered_multimap<std::size_t, Shared> shared_;  // by hash_of
};

/// Memory for one argument of an operation.
struct Binding {
  std::string_view role;
  BufferView view;
};

/// One call of an operation. Throws std::invalid_argument when a role is unknown, given twice or
/// left out, or when its memory is too small for the tensor.
[[nodiscard]] OpCall bind(Op& op, const std::vector<Binding>& bindings);

}  // namespace parbench
