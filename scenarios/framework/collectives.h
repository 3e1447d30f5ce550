// Collectives between devices as tasks of a plan: one task over all ranks where a library joins
// their devices, else a ring of copies and, where something is summed, additions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "scenarios/framework/case_data.h"
#include "scenarios/framework/plan.h"

namespace parbench {

/// A device's part in a collective. In a ring, rank r sends to rank r + 1.
struct Rank {
  /// Lane of the device that its sends run on; also what it receives from a device that does not
  /// reach its memory. A communicator's collectives run there as a whole.
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

/// Every rank begins with its own block and ends with all of them.
class AllGather {
 public:
  /// `block_bytes`: by rank. Without a communicator, and for blocks of unequal sizes, a ring: after
  /// p − 1 steps each rank has sent the bytes of p − 1 blocks. The communicator outlives the plans.
  AllGather(Communicator* communicator, std::vector<std::size_t> block_bytes);

  /// The blocks add up to the bytes of each rank's `data`.
  Completion add(Plan& plan, const std::string& name, const std::vector<Rank>& ranks) const;

  /// "NCCL 2.28.9", "ring of copies".
  [[nodiscard]] std::string method() const;

 private:
  Communicator* communicator_;  // null: the ring
  std::vector<std::size_t> block_bytes_;
};

/// Memory and operations for repeated all-reduces of f32 arrays of one size.
class AllReduce {
 public:
  /// Without a communicator a ring: borrows an inbox of one block on each rank's device. The
  /// communicator outlives the plans.
  AllReduce(Communicator* communicator, CaseData& data, OpSet& ops, const std::vector<int>& devices,
            const std::vector<Stream*>& compute_streams, std::int64_t count);

  /// Every rank's `data` becomes the sum of all ranks'; round the ring by a reduce-scatter, then an
  /// all-gather, 2(p − 1) steps. Collectives of one AllReduce run one after the other; the caller
  /// sees to it through `ready`.
  Completion add(Plan& plan, const std::string& name, const std::vector<Rank>& ranks) const;

  /// "NCCL 2.28.9", "ring of copies and additions".
  [[nodiscard]] std::string method() const;

 private:
  void make_ring(CaseData& data, OpSet& ops, const std::vector<int>& devices,
                 const std::vector<Stream*>& compute_streams);
  Completion add_ring(Plan& plan, const std::string& name, const std::vector<Rank>& ranks) const;
  [[nodiscard]] BufferView block(const BufferView& data, int index) const;
  TaskId add_addition(Plan& plan, std::string name, const Rank& rank, int receiver, int index,
                      std::vector<TaskId> after) const;

  Communicator* communicator_;         // null: the ring
  std::vector<std::int64_t> counts_;   // elements of each block
  std::vector<std::size_t> offsets_;   // bytes
  std::vector<Tensor> inboxes_;        // by rank
  std::vector<std::vector<Op*>> add_;  // by rank and block; null for an empty block
};

}  // namespace parbench
