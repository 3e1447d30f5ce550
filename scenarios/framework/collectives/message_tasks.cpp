// Adds messages as copies and additions, with the dependencies that their elements require.
#include "scenarios/framework/collectives/message_tasks.h"

#include <fmt/format.h>

#include <algorithm>

#include "scenarios/framework/collectives/access_log.h"

namespace parbench {
namespace {

std::string block_text(const Message& message) {
  std::string text = fmt::format("block {}", message.block);
  if (message.chunks > 1) {
    text += fmt::format(", chunk {} of {}", message.chunk + 1, message.chunks);
  }
  return text;
}

class MessageWriter {
 public:
  MessageWriter(Plan& plan, const std::string& name, const std::vector<Member>& members,
                std::size_t element_bytes, const Additions* additions)
      : plan_(plan),
        name_(name),
        members_(members),
        element_bytes_(element_bytes),
        additions_(additions),
        received_(members.size()) {
    for (const Member& member : members) {
      data_.emplace_back(member.ready);
      inboxes_.emplace_back(member.ready);
    }
  }

  void write(const Message& message) {
    if (!message.adds) return write_copy(message);
    if (additions_->needs_inbox(message)) return write_through_inbox(message);
    std::vector<TaskId> after;
    read_source(message, after);
    write_addition(message, source(message), std::move(after));
  }

  [[nodiscard]] Completion completion() const {
    Completion done(members_.size());
    for (std::size_t m = 0; m < members_.size(); ++m) {
      data_[m].append_last(done[m]);
      if (received_[m] > 0) inboxes_[m].append_last(done[m]);
      keep_last_of_lanes(plan_.graph(), done[m]);
    }
    return done;
  }

 private:
  [[nodiscard]] TaskId next_task() const { return static_cast<TaskId>(plan_.graph().tasks.size()); }

  [[nodiscard]] BufferView part(const BufferView& whole, std::int64_t first,
                                std::int64_t count) const {
    return whole.part(static_cast<std::size_t>(first) * element_bytes_,
                      static_cast<std::size_t>(count) * element_bytes_);
  }
  [[nodiscard]] BufferView source(const Message& message) const {
    const Member& from = members_[message.from];
    return message.from_input ? part(from.input, message.source_first, message.count)
                              : part(from.data, message.first, message.count);
  }
  [[nodiscard]] BufferView destination(const Message& message) const {
    return part(members_[message.to].data, message.first, message.count);
  }
  [[nodiscard]] std::string send_name(const Message& message) const {
    return fmt::format("{}{}{}/{}→{}/{}", name_, message.phase.empty() ? "" : "/", message.phase,
                       message.from, message.to, block_text(message));
  }

  void read_source(const Message& message, std::vector<TaskId>& after) {
    if (message.from_input) {
      const std::vector<TaskId>& ready = members_[message.from].ready;
      after.insert(after.end(), ready.begin(), ready.end());
    } else {
      data_[message.from].access({message.first, message.count}, false, next_task(), after);
    }
  }

  /// Returns the lanes of a copy. If both devices share memory, this is the receiver's lane: the
  /// copied data is then in the caches of the core that needs it next. Otherwise `copying_lanes`.
  [[nodiscard]] std::vector<LaneId> copy_lanes(const Message& message) const {
    const LaneId from = members_[message.from].copies;
    const LaneId to = members_[message.to].copies;
    if (share_memory(plan_.stream(from).device(), plan_.stream(to).device())) return {to};
    return copying_lanes(plan_, from, to);
  }

  [[nodiscard]] double bytes_of(const Message& message) const {
    return static_cast<double>(message.count) * static_cast<double>(element_bytes_);
  }

  TaskId add_task(std::string name, std::vector<LaneId> lanes, std::vector<TaskId> after,
                  std::vector<Call> calls, double sent) {
    keep_last_of_lanes(plan_.graph(), after);
    return plan_.add({.name = std::move(name),
                      .kind = TaskKind::communication,
                      .lanes = std::move(lanes),
                      .after = std::move(after),
                      .sent = sent},
                     std::move(calls));
  }

  void add_copy(const Message& message, const BufferView& to, std::vector<TaskId> after) {
    std::vector<Call> calls;
    if (message.count > 0)
      calls.emplace_back(CopyCall{.destination = to, .source = source(message)});
    add_task(send_name(message), copy_lanes(message), std::move(after), std::move(calls),
             bytes_of(message));
  }

  void write_copy(const Message& message) {
    std::vector<TaskId> after;
    read_source(message, after);
    data_[message.to].access({message.first, message.count}, true, next_task(), after);
    add_copy(message, destination(message), std::move(after));
  }

  void write_through_inbox(const Message& message) {
    const std::int64_t slot = additions_->inbox_first(received_[message.to]++);
    const BufferView inbox = part(additions_->inbox(message.to).view, slot, message.count);
    AccessLog& log = inboxes_[message.to];
    std::vector<TaskId> free;
    read_source(message, free);
    log.access({slot, message.count}, true, next_task(), free);
    add_copy(message, inbox, std::move(free));
    std::vector<TaskId> after{next_task() - 1};
    log.access({slot, message.count}, false, next_task(), after);
    write_addition(message, inbox, std::move(after));
  }

  void write_addition(const Message& message, const BufferView& summand,
                      std::vector<TaskId> after) {
    data_[message.to].access({message.first, message.count}, true, next_task(), after);
    std::vector<Call> calls;
    if (message.count > 0) {
      calls.emplace_back(bind(additions_->op(message),
                              {{"source", summand}, {"destination", destination(message)}}));
    }
    const bool has_come = additions_->needs_inbox(message);
    std::string name = has_come
                           ? fmt::format("{}/add/{}/{}", name_, message.to, block_text(message))
                           : send_name(message);
    add_task(std::move(name), {members_[message.to].compute}, std::move(after), std::move(calls),
             has_come ? 0 : bytes_of(message));
  }

  Plan& plan_;
  const std::string& name_;
  const std::vector<Member>& members_;
  std::size_t element_bytes_;
  const Additions* additions_;
  std::vector<AccessLog> data_;     // by member
  std::vector<AccessLog> inboxes_;  // by member
  std::vector<int> received_;       // number of messages received in inboxes, by member
};

}  // namespace

bool share_memory(const Device& a, const Device& b) {
  const bool same_process = a.info().rank == b.info().rank;
  return same_process && a.info().backend == b.info().backend && a.info().host_memory &&
         b.info().host_memory;
}

Additions::Additions(const Messages& messages, CaseParts& parts,
                     const std::vector<Member>& members) {
  for (const Member& member : members) devices_.push_back(&parts.context.device(member.device));
  for (const Message& message : messages) {
    if (!message.adds) continue;
    slot_elements_ = std::max(slot_elements_, message.count);
    if (message.chunks > 1) slots_ = 2;
    Op*& op = ops_[{message.to, message.count}];
    if (op != nullptr || message.count == 0) continue;
    op = &parts.ops.prepare(stream_of(parts, members.at(message.to).compute),
                            Accumulate{message.count});
  }
  for (const Message& message : messages) {
    if (!message.adds || !needs_inbox(message) || inboxes_.contains(message.to)) continue;
    Tensor& inbox = inboxes_[message.to];
    inbox = parts.data.tensor(members.at(message.to).device, canonical({slots_ * slot_elements_}));
    // With NaN in the inbox, verification detects a missing copy.
    if (slot_elements_ > 0) parts.data.poison(inbox);
  }
}

bool Additions::needs_inbox(const Message& message) const {
  return !share_memory(*devices_.at(message.from), *devices_.at(message.to));
}

Completion add_messages(Plan& plan, const std::string& name, const Messages& messages,
                        const std::vector<Member>& members, std::size_t element_bytes,
                        const Additions* additions) {
  MessageWriter writer(plan, name, members, element_bytes, additions);
  for (const Message& message : messages) writer.write(message);
  return writer.completion();
}

}  // namespace parbench
