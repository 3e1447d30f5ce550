// Each space is a buffer without memory, by whose address rebasing recognises it.
#include "scenarios/training/program/symbolic.h"

namespace parbench {
namespace {

const std::array<Buffer, space_count>& placeholders() {
  static const std::array<Buffer, space_count> spaces;
  return spaces;
}

}  // namespace

BufferView symbolic(Space space, std::size_t offset, std::size_t bytes) {
  return {placeholders().at(static_cast<std::size_t>(space)), offset, bytes};
}

bool is_in(const BufferView& view, Space space) {
  return view.buffer == &placeholders().at(static_cast<std::size_t>(space));
}

BufferView rebase(const BufferView& view, const Bases& bases) {
  for (std::size_t space = 0; space < space_count; ++space) {
    if (view.buffer == &placeholders().at(space)) {
      return bases.at(space).part(view.offset, view.bytes);
    }
  }
  return view;
}

std::vector<Call> rebase(const std::vector<OpCall>& calls, const Bases& bases) {
  std::vector<Call> bound;
  bound.reserve(calls.size());
  for (const OpCall& call : calls) {
    OpCall moved{.op = call.op, .views = {}, .layer = call.layer};
    for (const BufferView& view : call.views) moved.views.push_back(rebase(view, bases));
    bound.emplace_back(std::move(moved));
  }
  return bound;
}

}  // namespace parbench
