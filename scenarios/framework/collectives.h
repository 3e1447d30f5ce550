// Collectives between devices as tasks of a plan. If a library joins the devices, a collective is
// one task over all ranks; otherwise it consists of messages of an algorithm: copies and, for sums,
// additions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/core/communicator.h"
#include "scenarios/framework/case_data.h"
#include "scenarios/framework/collectives/algorithms.h"
#include "scenarios/framework/collectives/message_tasks.h"
#include "scenarios/framework/collectives/messages.h"
#include "scenarios/framework/collectives/rank.h"
#include "scenarios/framework/plan.h"

namespace parbench {

struct CaseParts;

/// Number of elements of a chunk of a message. Small enough that data that one rank has just
/// written is still in a cache when the next rank reads it, and large enough that waiting for it
/// costs little.
inline constexpr std::int64_t chunk_elements = std::int64_t{128} * 1024;

/// Adds a collective as one task on the copy lanes of all ranks, so that it runs beside
/// computation.
Completion add_to_all(Plan& plan, const std::string& name, const std::vector<Rank>& ranks,
                      Communicator& communicator, Collective collective);

/// Records how a case does a collective, under the collective's name. Several methods are separated
/// by commas.
void note_method(CaseParts& parts, Collective collective, const std::string& method);

/// An all-gather: every rank begins with its own block and ends with all blocks.
class AllGather {
 public:
  /// `block_bytes`: by rank. Without a communicator, or if blocks have unequal sizes, uses a ring:
  /// after p − 1 rounds each rank has sent the bytes of p − 1 blocks. The communicator must outlive
  /// the plans.
  AllGather(Communicator* communicator, std::vector<std::size_t> block_bytes);

  /// Each rank's `data` has the bytes of all blocks together.
  Completion add(Plan& plan, const std::string& name, const std::vector<Rank>& ranks) const;

  /// Returns the method, once a collective has been added: "NCCL 2.28.9", "ring of copies".
  [[nodiscard]] std::string method() const;

 private:
  Communicator* communicator_;  // null: use a ring
  std::vector<std::size_t> block_bytes_;
};

/// Memory and operations for repeated all-reduces of f32 arrays of one size.
class AllReduce {
 public:
  /// Without a communicator, uses a ring of chunks and borrows an inbox on the device of each rank
  /// that does not share its memory with the others. The communicator must outlive the plans.
  AllReduce(Communicator* communicator, CaseData& data, OpSet& ops, const std::vector<int>& devices,
            const std::vector<Stream*>& compute_streams, std::int64_t count);

  /// Sums `data` of all ranks. A ring does a reduce-scatter, then an all-gather, in 2(p − 1)
  /// rounds. Collectives of one AllReduce must run one after the other, which callers ensure with
  /// `ready`.
  Completion add(Plan& plan, const std::string& name, const std::vector<Rank>& ranks) const;

  /// Returns the method, once a collective has been added: "NCCL 2.28.9", "ring of copies and
  /// additions".
  [[nodiscard]] std::string method() const;

 private:
  Communicator* communicator_;  // null: use a ring
  std::size_t ranks_;
  std::size_t bytes_;
  Messages messages_;
  std::optional<Additions> additions_;
};

}  // namespace parbench
