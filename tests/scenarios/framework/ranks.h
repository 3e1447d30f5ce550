// Ranks of a collective operation on devices without a backend.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "scenarios/framework/collectives.h"
#include "scenarios/framework/prepared_case.h"

namespace parbench::test {

/// `count` floats at each device of a context, and lanes for copies and additions.
struct Ranks {
  Ranks(Context ranks_of, std::int64_t count) : context(std::move(ranks_of)), parts(context) {
    for (int r = 0; r < context.device_count(); ++r) {
      Rank rank;
      rank.compute = add_lane(parts, r, StreamKind::compute);
      rank.copies = add_lane(parts, r, StreamKind::copy);
      tensors.push_back(parts.data.tensor(r, canonical({count})));
      rank.data = tensors.back().view;
      list.push_back(rank);
      devices.push_back(r);
      streams.push_back(&stream_of(parts, rank.compute));
    }
  }

  /// Those of one rank, once the context is committed.
  [[nodiscard]] std::span<float> values(std::size_t rank) const {
    const BufferView& view = tensors[rank].view;
    return {reinterpret_cast<float*>(view.data()), view.bytes / sizeof(float)};
  }

  /// `communicator`: none, for copies and additions.
  [[nodiscard]] AllReduce all_reduce(Communicator* communicator, std::int64_t count) {
    return {communicator, parts.data, parts.ops, devices, streams, count};
  }

  Context context;
  CaseParts parts;
  std::vector<Tensor> tensors;
  std::vector<Rank> list;
  std::vector<int> devices;
  std::vector<Stream*> streams;
};

}  // namespace parbench::test
