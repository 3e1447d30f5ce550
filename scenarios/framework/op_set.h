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
  /// descriptions. Not for Spin, because each of its operations has a random generator of its own.
  Op& prepare_shared(Stream& stream, const OpDesc& desc);

 private:
  struct Shared {
    const Stream* stream;
    OpDesc desc;
    Op* op;
  };
  std::vector<std::unique_ptr<Op>> ops_;
  std::unordered_multimap<std::size_t, Shared> shared_;  // by hash_of(desc)
};

/// Memory of one argument of an operation.
template <class View>
struct BindingOf {
  std::string_view role;
  View view;
};
using Binding = BindingOf<BufferView>;

/// Returns a call of an operation: an OpCall, or for a SymbolicView (symbolic.h) a SymbolicCall.
/// Throws std::invalid_argument for an unknown, duplicate or missing role, and for memory that is
/// too small for its tensor.
template <class View = BufferView>
[[nodiscard]] CallOf<View> bind(Op& op, const std::vector<BindingOf<View>>& bindings);

}  // namespace parbench
