// Plans a ring once for each collective and size.
#include "scenarios/framework/collectives/rank_collectives.h"

namespace parbench {

RankCollectives::RankCollectives(CaseParts& parts, std::vector<std::pair<int, LaneId>> ranks)
    : parts_(parts), ranks_(std::move(ranks)) {
  std::vector<int> devices;
  for (const auto& [device, lane] : ranks_) devices.push_back(device);
  communicator_ = parts.context.communicator(devices);
}

/// Returns whether the library is used: it gathers and scatters only blocks of equal sizes.
bool RankCollectives::uses_communicator(Collective collective, std::int64_t count) const {
  if (communicator_ == nullptr || !communicator_->offers(collective)) return false;
  return collective == Collective::all_reduce ||
         count % static_cast<std::int64_t>(ranks_.size()) == 0;
}

const RankCollectives::Ring& RankCollectives::ring(Collective collective, std::int64_t count) {
  if (const auto found = rings_.find({collective, count}); found != rings_.end()) {
    return found->second;
  }
  std::vector<int> devices;
  std::vector<Stream*> streams;
  for (const auto& [device, lane] : ranks_) {
    devices.push_back(device);
    streams.push_back(&stream_of(parts_, lane));
  }
  const auto blocks = split_evenly(count, static_cast<int>(ranks_.size()));
  Messages messages = pipelined(rounds_of(collective, Algorithm::ring, blocks), chunk_elements);
  Additions additions(messages, parts_.data, parts_.ops, devices, streams);
  return rings_
      .emplace(std::pair(collective, count),
               Ring{.messages = std::move(messages), .additions = std::move(additions)})
      .first->second;
}

Completion RankCollectives::add(const std::string& name, Collective collective,
                                const std::vector<BufferView>& data,
                                const std::vector<std::vector<TaskId>>& ready) {
  std::vector<Rank> ranks;
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    const LaneId lane = ranks_[r].second;
    ranks.push_back(
        {.copies = lane, .compute = lane, .data = data.at(r), .ready = ready.at(r), .input = {}});
  }
  const auto count = static_cast<std::int64_t>(data.front().bytes / sizeof(float));
  if (uses_communicator(collective, count)) {
    Completion done = add_to_all(parts_.plan, name, ranks, *communicator_, collective);
    note_method(parts_, collective, communicator_->method(collective, data.front().bytes));
    return done;
  }
  note_method(parts_, collective, "ring of copies and additions");
  const Ring& planned = ring(collective, count);
  return add_messages(parts_.plan, name, planned.messages, ranks, sizeof(float),
                      &planned.additions);
}

}  // namespace parbench
