// Collectives between devices as tasks of a plan: one task over all members where a library joins
// their devices, else messages of an algorithm: copies and, where something is summed, additions.
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

/// Elements of a chunk of a message. Small enough that what one member has just written is still in
/// a cache when the next one reads it, and large enough that waiting for it costs little.
inline constexpr std::int64_t chunk_elements = std::int64_t{128} * 1024;

/// Adds a collective as one task on the copy lanes of all members.
Completion add_to_all(Plan& plan, const std::string& name, const std::vector<Member>& members,
                      Communicator& communicator, Collective collective);

/// Plans collectives that the same members repeat, by the communicator where one joins just these
/// devices in their order, else by rings. Collectives of one kind and size share the memory of
/// their ring, so that the caller lets each of them wait for the one before. The case notes how
/// they are done: "NCCL 2.28.9", "ring of copies and additions".
class MemberCollectives {
 public:
  /// `members`: devices and lanes. Where nothing runs beside the collectives, both lanes are the
  /// one on which the device computes: it waits for the result anyway, and a second lane would add
  /// waiting between the two. Refers to the parts.
  MemberCollectives(CaseParts& parts, std::vector<Member> members);

  /// Combines f32 numbers in `data`, of equal sizes, by member, once the tasks in `ready` have
  /// ended.
  Completion add(const std::string& name, Collective collective,
                 const std::vector<BufferView>& data,
                 const std::vector<std::vector<TaskId>>& ready);

  /// Gathers blocks of any sizes and numbers, which add up to the bytes of each member's data. Each
  /// of them is one message.
  Completion all_gather(const std::string& name, const std::vector<std::int64_t>& block_bytes,
                        const std::vector<BufferView>& data,
                        const std::vector<std::vector<TaskId>>& ready);

 private:
  /// A ring with the operations and the memory for it.
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
  std::vector<Member> members_;           // without data
  Communicator* communicator_ = nullptr;  // null: rings
  std::map<std::pair<Collective, std::vector<std::int64_t>>, Ring> rings_;
};

}  // namespace parbench
