// Members of a collective operation on devices without a backend.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/framework/collectives/member_collectives.h"

namespace parbench::test {

/// `count` floats at each device of a context, and lanes for copies and additions.
struct Members {
  Members(Context members_of, std::int64_t count) : context(std::move(members_of)), parts(context) {
    for (int device = 0; device < context.device_count(); ++device) {
      Member member = member_on(device, add_lane(parts, device, StreamKind::compute));
      member.copies = add_lane(parts, device, StreamKind::copy);
      tensors.push_back(parts.data.tensor(device, canonical({count})));
      views.push_back(tensors.back().view);
      streams.push_back(&stream_of(parts, member.compute));
      list.push_back(std::move(member));
    }
  }

  /// Those of one member, once the context is committed.
  [[nodiscard]] std::span<float> values(std::size_t member) const {
    const BufferView& view = views[member];
    return {reinterpret_cast<float*>(view.data()), view.bytes / sizeof(float)};
  }

  /// Nothing to wait for.
  [[nodiscard]] Completion at_once() const { return Completion(list.size()); }
  /// Adds an all-reduce of all values.
  Completion add_up(const std::string& name = "sum") {
    return MemberCollectives(parts, list).add(name, Collective::all_reduce, views, at_once());
  }
  /// Adds an all-gather of blocks of these bytes.
  Completion gather(const std::vector<std::int64_t>& block_bytes) {
    return MemberCollectives(parts, list).all_gather("gather", block_bytes, views, at_once());
  }

  Context context;
  CaseParts parts;
  std::vector<Tensor> tensors;
  std::vector<BufferView> views;  // by member
  std::vector<Member> list;       // devices and lanes
  std::vector<Stream*> streams;
};

}  // namespace parbench::test
