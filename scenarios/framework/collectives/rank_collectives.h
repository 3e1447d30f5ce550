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

/// Plans collectives of f32 numbers on one lane of each rank. If nothing runs beside them, this is
/// the lane on which the rank computes, because the rank waits for the result anyway and a second
/// lane would only add synchronisation. Uses the communicator that joins these devices in their
/// order, otherwise rings. Rings of one kind and size share memory, so each collective waits for
/// the previous one.
class RankCollectives {
 public:
  /// `ranks`: device and lane of each rank. Keeps a reference to `parts`.
  RankCollectives(CaseParts& parts, std::vector<std::pair<int, LaneId>> ranks);

  /// Adds a collective over `data`, of equal sizes, by rank, which starts after the tasks in
  /// `ready`. Records its method in the case.
  Completion add(const std::string& name, Collective collective,
                 const std::vector<BufferView>& data,
                 const std::vector<std::vector<TaskId>>& ready);

 private:
  /// A ring with its operations and memory.
  struct Ring {
    Messages messages;
    Additions additions;
  };
  [[nodiscard]] bool uses_communicator(Collective collective, std::int64_t count) const;
  [[nodiscard]] const Ring& ring(Collective collective, std::int64_t count);

  CaseParts& parts_;
  std::vector<std::pair<int, LaneId>> ranks_;
  Communicator* communicator_ = nullptr;  // null: use rings
  std::map<std::pair<Collective, std::int64_t>, Ring> rings_;
};

}  // namespace parbench
