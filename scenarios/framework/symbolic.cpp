// Replaces spaces by memory.
#include "scenarios/framework/symbolic.h"

#include <stdexcept>

namespace parbench {

BufferView rebase(const SymbolicView& view, const Bases& bases) {
  BufferView memory;
  if (const auto* space = std::get_if<Space>(&view.base)) {
    memory = bases.at(static_cast<std::size_t>(*space));
    if (memory.buffer == nullptr && view.bytes > 0) {
      throw std::logic_error("a call accesses a space without memory");
    }
  } else {
    memory.buffer = std::get<const Buffer*>(view.base);
  }
  return memory.part(view.offset, view.bytes);
}

OpCall rebase(const SymbolicCall& call, const Bases& bases) {
  OpCall bound{.op = call.op, .views = {}, .layer = call.layer};
  for (const SymbolicView& view : call.views) bound.views.push_back(rebase(view, bases));
  return bound;
}

std::vector<Call> rebase(const std::vector<SymbolicCall>& calls, const Bases& bases) {
  std::vector<Call> bound;
  bound.reserve(calls.size());
  for (const SymbolicCall& call : calls) bound.emplace_back(rebase(call, bases));
  return bound;
}

}  // namespace parbench
