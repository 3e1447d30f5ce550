// Collectives between devices as tasks of a plan: one task over all ranks where a library joins
// their devices, else messages of an algorithm: copies and, where something is summed, additions.
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

/// Elements of a chunk of a message. Small enough that what one rank has just written is still in a
/// cache when the next one reads it, and large enough that waiting for it costs little.
inline constexpr std::int64_t chunk_elements = std::int64_t{128} * 1024;

/// Adds a collective as one task on the copy lanes of all ranks, so that it runs beside what
/// computes.
Completion add_to_all(Plan& plan, const std::string& name, const std::vector<Rank>& ranks,
                      Communicator& communicator, Collective collective);

/// Notes how a case does a collective, under its name; ways beside one that is noted follow behind
/// a comma.
void note_method(CaseParts& parts, Collective collective, const std::string& method);

/// Every rank begins with its own block and ends with all of them.
class AllGather {
 public:
  /// `block_bytes`: by rank. Without a communicator, and for blocks of unequal sizes, a ring: after
  /// p − 1 rounds each rank has sent the bytes of p − 1 blocks. The communicator outlives the
  /// plans.
  AllGather(Communicator* communicator, std::vector<std::size_t> block_bytes);

  /// The blocks add up to the bytes of each rank's `data`.
  Completion add(Plan& plan, const std::string& name, const std::vector<Rank>& ranks) const;

  /// How it is done once it has been added: "NCCL 2.28.9", "ring of copies".
  [[nodiscard]] std::string method() const;

 private:
  Communicator* communicator_;  // null: the ring
  std::vector<std::size_t> block_bytes_;
};

/// Memory and operations for repeated all-reduces of f32 arrays of one size.
class AllReduce {
 public:
  /// Without a communicator a ring of chunks: borrows an inbox on each rank's device that does not
  /// share its memory with the others. The communicator outlives the plans.
  AllReduce(Communicator* communicator, CaseData& data, OpSet& ops, const std::vector<int>& devices,
            const std::vector<Stream*>& compute_streams, std::int64_t count);

  /// Every rank's `data` becomes the sum of all ranks'; round the ring by a reduce-scatter, then an
  /// all-gather, 2(p − 1) rounds. Collectives of one AllReduce run one after the other; the caller
  /// sees to it through `ready`.
  Completion add(Plan& plan, const std::string& name, const std::vector<Rank>& ranks) const;

  /// How it is done once it has been added: "NCCL 2.28.9", "ring of copies and additions".
  [[nodiscard]] std::string method() const;

 private:
  Communicator* communicator_;  // null: the ring
  std::size_t ranks_;
  std::size_t bytes_;
  Messages messages_;
  std::optional<Additions> additions_;
};

}  // namespace parbench
