// Messages as tasks of a plan: copies, and additions of another member's data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/framework/collectives/member.h"
#include "scenarios/framework/collectives/messages.h"
#include "scenarios/framework/prepared_case.h"

namespace parbench {

/// Returns whether operations and copies of each device can access the other device's memory
/// directly: both belong to one process and backend and have host memory.
[[nodiscard]] bool share_memory(const Device& a, const Device& b);

/// Operations that add messages of f32 numbers, and inboxes for these messages.
class Additions {
 public:
  /// Borrows an inbox on the device of each member that adds data from a member with which it does
  /// not share memory. An inbox holds one message, or two if messages are divided into chunks. Uses
  /// only the devices and lanes of `members`.
  Additions(const Messages& messages, CaseParts& parts, const std::vector<Member>& members);

  /// Returns whether a message has to be copied to an inbox before it is added.
  [[nodiscard]] bool needs_inbox(const Message& message) const;
  /// Returns the first element of the inbox for the n-th message that a member receives there.
  [[nodiscard]] std::int64_t inbox_first(int received) const {
    return slot_elements_ * (received % slots_);
  }
  [[nodiscard]] const Tensor& inbox(int member) const { return inboxes_.at(member); }
  /// Returns the addition of f32 numbers at the receiver of a message.
  [[nodiscard]] Op& op(const Message& message) const {
    return *ops_.at({message.to, message.count});
  }

 private:
  std::vector<const Device*> devices_;  // by member
  int slots_ = 1;
  std::int64_t slot_elements_ = 0;
  std::map<int, Tensor> inboxes_;                         // by member
  std::map<std::pair<int, std::int64_t>, Op*> ops_ = {};  // by member and number of elements
};

/// Adds a task for each message: a copy or an addition, or both if the message goes through an
/// inbox. The tasks are communication without a cost key, because consecutive collectives send
/// different memory. They wait for earlier tasks that access the same elements, and for the tasks
/// in `ready` of the members. `additions`: null if no message adds.
Completion add_messages(Plan& plan, const std::string& name, const Messages& messages,
                        const std::vector<Member>& members, std::size_t element_bytes,
                        const Additions* additions = nullptr);

}  // namespace parbench
