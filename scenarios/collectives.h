// Ring collectives between devices as tasks of a plan: copies and, where something is summed, adds.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "scenarios/case_data.h"
#include "scenarios/plan.h"

namespace parbench {

/// A device's part in a collective. Ranks form a ring: rank r sends to rank r + 1.
struct Rank {
  /// Lane of the device that its sends run on; also what it receives from a device that does not
  /// reach its memory.
  LaneId copies = 0;
  LaneId compute = 0;  // lane of the device that its additions run on
  BufferView data;     // all blocks, one after the other, block r being rank r's own
  /// When `data` may be read and its own block is ready; when the other blocks may be overwritten.
  std::vector<TaskId> ready = {};
};

/// For each rank, the tasks after which all of its blocks hold the result and nothing of the
/// collective touches its memory any more.
using Completion = std::vector<std::vector<TaskId>>;

/// Splits `total` elements into `parts` consecutive runs whose lengths differ by at most one.
[[nodiscard]] std::vector<std::int64_t> split_evenly(std::int64_t total, int parts);

/// Every rank begins with its own block and ends with all of them. `block_bytes` has an entry for
/// each rank and adds up to the bytes of `data`. After p − 1 steps each rank has sent the bytes of
/// p − 1 blocks.
Completion add_all_gather(Plan& plan, const std::string& name, const std::vector<Rank>& ranks,
                          const std::vector<std::size_t>& block_bytes);

/// Memory and operations for repeated all-reduces of f32 arrays of one size.
class AllReduce {
 public:
  /// Borrows an inbox of one block on each rank's device.
  AllReduce(CaseData& data, OpSet& ops, const std::vector<int>& devices,
            const std::vector<Stream*>& compute_streams, std::int64_t count);

  /// Every rank's `data` becomes the sum of all ranks': a reduce-scatter, then an all-gather, both
  /// round the ring, 2(p − 1) steps. Collectives of one AllReduce run one after the other; the
  /// caller sees to it through `ready`.
  Completion add(Plan& plan, const std::string& name, const std::vector<Rank>& ranks) const;

 private:
  [[nodiscard]] BufferView block(const BufferView& data, int index) const;
  [[nodiscard]] Task addition(const Rank& rank, int receiver, int index) const;

  std::vector<std::int64_t> counts_;   // elements of each block
  std::vector<std::size_t> offsets_;   // bytes
  std::vector<Tensor> inboxes_;        // by rank
  std::vector<std::vector<Op*>> add_;  // by rank and block; null for an empty block
};

}  // namespace parbench
