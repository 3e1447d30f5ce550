// Collectives that the same ranks repeat.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/framework/collectives.h"
#include "scenarios/framework/prepared_case.h"

namespace parbench {

/// Plans collectives of f32 numbers on one lane of each rank. Where nothing runs beside them that
/// is the lane on which the rank computes: it waits for the result anyway, and a second lane would
/// add waiting between the two. By the communicator where one joins just these devices in their
/// order, else by rings, whose memory collectives of one kind and size share: each of them waits
/// for the one before.
class RankCollectives {
 public:
  /// A device and its lane, by rank. Refers to the parts.
  RankCollectives(CaseParts& parts, std::vector<std::pair<int, LaneId>> ranks);

  /// Combines `data`, of equal sizes, by rank, once the tasks in `ready` have ended. The case notes
  /// how.
  Completion add(const std::string& name, Collective collective,
                 const std::vector<BufferView>& data,
                 const std::vector<std::vector<TaskId>>& ready);

 private:
  /// A ring with the operations and the memory for it.
  struct Ring {
    Messages messages;
    Additions additions;
  };
  [[nodiscard]] bool uses_communicator(Collective collective, std::int64_t count) const;
  [[nodiscard]] const Ring& ring(Collective collective, std::int64_t count);

  CaseParts& parts_;
  std::vector<std::pair<int, LaneId>> ranks_;
  Communicator* communicator_ = nullptr;  // null: rings
  std::map<std::pair<Collective, std::int64_t>, Ring> rings_;
};

}  // namespace parbench
