// Collectives between devices as tasks of a plan: one task over all members if a library joins
// their devices, otherwise the messages of an algorithm, as copies and additions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernels/core/communicator.h"
#include "scenarios/framework/collectives/member.h"
#include "scenarios/framework/collectives/message_tasks.h"
#include "scenarios/framework/prepared_case.h"

namespace parbench {

/// Number of elements in a chunk of a message. Small enough that a member finds in a cache what the
/// previous member has just written, and large enough that synchronisation per chunk costs little.
inline constexpr std::int64_t chunk_elements = std::int64_t{128} * 1024;

/// Adds a collective as one task on the copy lanes of all members.
Completion add_to_all(Plan& plan, const std::string& name, const std::vector<Member>& members,
                      Communicator& communicator, Collective collective);

/// Plans collectives that the same members repeat: by a communicator of exactly these devices in
/// their order if there is one that can do the collective with these block sizes, otherwise by
/// rings. Collectives of one kind and size share the memory of their ring, so the caller must let
/// each of them wait for the previous one. Notes of the case name the methods: "NCCL 2.28.9", "ring
/// of copies and additions".
class MemberCollectives {
 public:
  /// `members`: devices and lanes. If the device does not compute during the collectives, both
  /// lanes of a member should be its compute lane: the device waits for the result anyway, and a
  /// second lane would add synchronisation. Keeps a reference to `parts`.
  MemberCollectives(CaseParts& parts, std::vector<Member> members);

  /// Adds a collective of f32 numbers. `data`: memory of each member, of equal sizes; `ready`:
  /// tasks of each member after which its memory may be used.
  Completion add(const std::string& name, Collective collective,
                 const std::vector<BufferView>& data,
                 const std::vector<std::vector<TaskId>>& ready);

  /// Adds an all-gather with a block of any size for each member. The blocks add up to the bytes of
  /// each member's data. A ring sends each block whole, not in chunks.
  Completion all_gather(const std::string& name, const std::vector<std::int64_t>& block_bytes,
                        const std::vector<BufferView>& data,
                        const std::vector<std::vector<TaskId>>& ready);

 private:
  /// A ring with its operations and memory.
  struct Ring {
    Messages messages;
    Additions additions;
  };
  [[nodiscard]] std::vector<Member> members_with(
      const std::vector<BufferView>& data, const std::vector<std::vector<TaskId>>& ready) const;
  [[nodiscard]] bool has_communicator_for(Collective collective,
                                          const std::vector<std::int64_t>& blocks) const;
  Completion add_by_communicator(const std::string& name, Collective collective,
                                 const std::vector<Member>& members);
  [[nodiscard]] const Ring& ring(Collective collective, const std::vector<std::int64_t>& blocks);
  void note(Collective collective, const std::string& method);

  CaseParts& parts_;
  std::vector<Member> members_;           // devices and lanes only
  Communicator* communicator_ = nullptr;  // null: rings
  std::map<std::pair<Collective, std::vector<std::int64_t>>, Ring> rings_;
};

}  // namespace parbench
