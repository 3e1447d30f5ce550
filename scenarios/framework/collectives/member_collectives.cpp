// Plans collectives of members by a communicator or a ring. `add` plans one ring for each
// collective and list of block sizes and reuses it; `all_gather` plans its messages at each call.
#include "scenarios/framework/collectives/member_collectives.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string_view>

#include "scenarios/framework/collectives/algorithms.h"

namespace parbench {

Completion add_to_all(Plan& plan, const std::string& name, const std::vector<Member>& members,
                      Communicator& communicator, Collective collective) {
  const std::size_t bytes = members.front().data.bytes;
  Task task;
  task.name = name;
  task.kind = TaskKind::communication;
  task.sent = work_of(collective, members.size(), bytes).bytes / 2;
  CollectiveCall call{.communicator = &communicator, .collective = collective, .data = {}};
  std::vector<Stream*> streams;
  for (const Member& member : members) {
    streams.push_back(&plan.stream(member.copies));
    task.lanes.push_back(member.copies);
    call.data.push_back(member.data);
    if (has_input(collective)) call.inputs.push_back(member.input);
    task.after.insert(task.after.end(), member.ready.begin(), member.ready.end());
  }
  communicator.prepare(collective, streams, bytes);
  return Completion(members.size(), {plan.add(std::move(task), {std::move(call)})});
}

MemberCollectives::MemberCollectives(CaseParts& parts, std::vector<Member> members)
    : parts_(parts), members_(std::move(members)) {
  std::vector<int> devices;
  for (const Member& member : members_) devices.push_back(member.device);
  communicator_ = parts.context.communicator(devices);
}

Completion MemberCollectives::add(const std::string& name, Collective collective,
                                  const std::vector<BufferView>& data,
                                  const std::vector<std::vector<TaskId>>& ready) {
  const std::vector<Member> members = members_with(data, ready);
  const auto count = static_cast<std::int64_t>(data.front().bytes / sizeof(float));
  const auto blocks = split_evenly(count, static_cast<int>(members_.size()));
  if (has_communicator_for(collective, blocks)) {
    return add_by_communicator(name, collective, members);
  }
  note(collective, "ring of copies and additions");
  const Ring& planned = ring(collective, blocks);
  return add_messages(parts_.plan, name, planned.messages, members, sizeof(float),
                      &planned.additions);
}

Completion MemberCollectives::all_gather(const std::string& name,
                                         const std::vector<std::int64_t>& block_bytes,
                                         const std::vector<BufferView>& data,
                                         const std::vector<std::vector<TaskId>>& ready) {
  const std::int64_t total =
      std::accumulate(block_bytes.begin(), block_bytes.end(), std::int64_t{0});
  const auto is_total = [&](const BufferView& view) { return std::cmp_equal(view.bytes, total); };
  if (block_bytes.size() != members_.size() || !std::ranges::all_of(data, is_total)) {
    throw std::invalid_argument("all-gather: the blocks do not make up the data");
  }
  const std::vector<Member> members = members_with(data, ready);
  if (has_communicator_for(Collective::all_gather, block_bytes)) {
    return add_by_communicator(name, Collective::all_gather, members);
  }
  note(Collective::all_gather, "ring of copies");
  const Messages messages =
      pipelined(rounds_of(Collective::all_gather, Algorithm::ring, block_bytes), 0);
  return add_messages(parts_.plan, name, messages, members, 1);
}

std::vector<Member> MemberCollectives::members_with(
    const std::vector<BufferView>& data, const std::vector<std::vector<TaskId>>& ready) const {
  std::vector<Member> members = members_;
  for (std::size_t m = 0; m < members.size(); ++m) {
    members[m].data = data.at(m);
    members[m].ready = ready.at(m);
  }
  return members;
}

/// Returns whether there is a communicator that can do this collective: libraries gather and
/// scatter blocks of equal sizes only.
bool MemberCollectives::has_communicator_for(Collective collective,
                                             const std::vector<std::int64_t>& blocks) const {
  if (communicator_ == nullptr || !communicator_->offers(collective)) return false;
  return !has_blocks(collective) ||
         std::ranges::adjacent_find(blocks, std::not_equal_to{}) == blocks.end();
}

Completion MemberCollectives::add_by_communicator(const std::string& name, Collective collective,
                                                  const std::vector<Member>& members) {
  Completion done = add_to_all(parts_.plan, name, members, *communicator_, collective);
  note(collective, communicator_->method(collective, members.front().data.bytes));
  return done;
}

const MemberCollectives::Ring& MemberCollectives::ring(Collective collective,
                                                       const std::vector<std::int64_t>& blocks) {
  if (const auto found = rings_.find({collective, blocks}); found != rings_.end()) {
    return found->second;
  }
  Messages messages = pipelined(rounds_of(collective, Algorithm::ring, blocks), chunk_elements);
  Additions additions(messages, parts_, members_);
  return rings_
      .emplace(std::pair(collective, blocks),
               Ring{.messages = std::move(messages), .additions = std::move(additions)})
      .first->second;
}

/// Notes the method of a collective; several methods of the same collective are separated by
/// commas.
void MemberCollectives::note(Collective collective, const std::string& method) {
  const std::string_view name = name_of(collective);
  const auto known = std::ranges::find(
      parts_.notes, name, [](const auto& note) { return std::string_view(note.first); });
  if (known == parts_.notes.end()) {
    parts_.notes.emplace_back(name, method);
  } else if ((", " + known->second + ", ").find(", " + method + ", ") == std::string::npos) {
    known->second += ", " + method;
  }
}

}  // namespace parbench
