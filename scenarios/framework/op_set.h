// Planned operations of a case, and the binding of memory to their arguments by role.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kernels/core/device.h"
#include "scenarios/framework/plan.h"

namespace parbench {

/// Owns operations at stable addresses, as plans require.
class OpSet {
 public:
  /// Plans an operation for one stream (its device and threads) and reserves scratch memory there.
  /// Throws Unsupported if the device does not support the operation.
  Op& prepare(Stream& stream, const OpDesc& desc);
  /// Like `prepare`, but returns one operation for all calls with the same stream and equal
  /// descriptions. Not for Spin, whose operations draw their own random numbers.
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

/// Memory of one argument of an operation.
struct Binding {
  std::string_view role;
  BufferView view;
};

/// Returns a call of an operation. Throws std::invalid_argument for an unknown, duplicate or
/// missing role, and for memory that is too small for its tensor.
[[nodiscard]] OpCall bind(Op& op, const std::vector<Binding>& bindings);

}  // namespace parbench
