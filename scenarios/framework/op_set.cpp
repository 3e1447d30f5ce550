// Plans operations and binds their arguments. The checks find mistakes of scenarios before anything
// runs.
#include "scenarios/framework/op_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "kernels/ops/checks.h"
#include "scenarios/framework/symbolic.h"

namespace parbench {
namespace {

bool is_bound(const BufferView& view) { return view.buffer != nullptr; }
bool is_bound(const SymbolicView& view) { return view.base != SymbolicView().base; }

}  // namespace

Op& OpSet::prepare(Stream& stream, const OpDesc& desc) {
  ops_.push_back(stream.device().prepare(desc, stream.threads()));
  Op& op = *ops_.back();
  stream.reserve_scratch(op.scratch_bytes());
  return op;
}

Op& OpSet::prepare_shared(Stream& stream, const OpDesc& desc) {
  check(desc);
  const std::size_t hash = hash_of(desc);
  const auto [begin, end] = shared_.equal_range(hash);
  const auto known = std::find_if(begin, end, [&](const auto& one) {
    return one.second.stream == &stream && one.second.desc == desc;
  });
  if (known != end) return *known->second.op;
  Op& op = prepare(stream, desc);
  shared_.emplace(hash, Shared{.stream = &stream, .desc = desc, .op = &op});
  return op;
}

template <class View>
CallOf<View> bind(Op& op, const std::vector<BindingOf<View>>& bindings) {
  const std::vector<Argument>& arguments = op.arguments();
  CallOf<View> call{&op, std::vector<View>(arguments.size())};
  for (const BindingOf<View>& binding : bindings) {
    const auto argument = std::ranges::find(arguments, binding.role, &Argument::role);
    if (argument == arguments.end()) {
      throw std::invalid_argument(fmt::format("{} has no argument {}", op.name(), binding.role));
    }
    View& view = call.views[argument - arguments.begin()];
    if (is_bound(view)) {
      throw std::invalid_argument(fmt::format("{}: {} is bound twice", op.name(), binding.role));
    }
    if (binding.view.bytes < argument->tensor.bytes) {
      throw std::invalid_argument(fmt::format("{}: {} takes {} bytes, {} are bound", op.name(),
                                              binding.role, argument->tensor.bytes,
                                              binding.view.bytes));
    }
    view = binding.view;
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!is_bound(call.views[i])) {
      throw std::invalid_argument(fmt::format("{}: {} is not bound", op.name(), arguments[i].role));
    }
  }
  return call;
}

template OpCall bind(Op& op, const std::vector<Binding>& bindings);
template SymbolicCall bind(Op& op, const std::vector<SymbolicBinding>& bindings);

}  // namespace parbench
