// One task for a communicator; else the ring algorithms: in step s, rank r sends block r − s and
// receives block r − s − 1.
#include "scenarios/framework/collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace parbench {
namespace {

int modulo(int value, int size) { return ((value % size) + size) % size; }

/// Without a cost key, like all tasks here: collectives that follow each other send other memory.
TaskId add_send(Plan& plan, std::string name, const Rank& from, const Rank& to,
                const CopyCall& copy, std::vector<TaskId> after) {
  std::vector<Call> calls;
  if (copy.source.bytes > 0) calls.emplace_back(copy);
  return plan.add({.name = std::move(name),
                   .kind = TaskKind::communication,
                   .lanes = {copying_lane(plan, from.copies, to.copies)},
                   .after = std::move(after)},
                  std::move(calls));
}

void append(std::vector<TaskId>& to, const std::vector<TaskId>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

std::vector<std::size_t> offsets_of(const std::vector<std::size_t>& bytes) {
  std::vector<std::size_t> offsets(bytes.size());
  std::exclusive_scan(bytes.begin(), bytes.end(), offsets.begin(), std::size_t{0});
  return offsets;
}

/// The whole collective as one task on the copy lanes, so that it runs beside what computes.
Completion add_to_all(Plan& plan, const std::string& name, const std::vector<Rank>& ranks,
                      Communicator& communicator, Collective collective) {
  Task task;
  task.name = name;
  task.kind = TaskKind::communication;
  CollectiveCall call{.communicator = &communicator, .collective = collective, .data = {}};
  for (const Rank& rank : ranks) {
    task.lanes.push_back(rank.copies);
    call.data.push_back(rank.data);
    append(task.after, rank.ready);
  }
  return Completion(ranks.size(), {plan.add(std::move(task), {std::move(call)})});
}

/// The gathering half of both collectives: rank r begins with block r + `shift` and passes on what
/// it received. `have` are the tasks that give each rank its first block.
Completion gather(Plan& plan, const std::string& name, const std::vector<Rank>& ranks,
                  const std::vector<std::size_t>& bytes, int shift,
                  std::vector<std::vector<TaskId>> have) {
  const int size = static_cast<int>(ranks.size());
  const std::vector<std::size_t> offsets = offsets_of(bytes);
  Completion last = have;
  for (int step = 0; step < size - 1; ++step) {
    std::vector<std::vector<TaskId>> received(ranks.size());
    Completion touched(ranks.size());
    for (int r = 0; r < size; ++r) {
      const int to = modulo(r + 1, size);
      const int block = modulo(r + shift - step, size);
      std::vector<TaskId> after = have[r];
      append(after, ranks[to].ready);
      const TaskId id =
          add_send(plan, fmt::format("{}/{}→{}/block {}", name, r, to, block), ranks[r], ranks[to],
                   {.destination = ranks[to].data.part(offsets[block], bytes[block]),
                    .source = ranks[r].data.part(offsets[block], bytes[block])},
                   std::move(after));
      received[to].push_back(id);
      touched[r].push_back(id);
      touched[to].push_back(id);
    }
    have = std::move(received);
    last = std::move(touched);
  }
  return last;
}

}  // namespace

std::vector<std::int64_t> split_evenly(std::int64_t total, int parts) {
  if (parts < 1) throw std::invalid_argument("a split needs at least one part");
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(parts), total / parts);
  for (std::int64_t i = 0; i < total % parts; ++i) ++sizes[i];
  return sizes;
}

AllGather::AllGather(Communicator* communicator, std::vector<std::size_t> block_bytes)
    : communicator_(communicator), block_bytes_(std::move(block_bytes)) {
  const bool equal =
      std::ranges::adjacent_find(block_bytes_, std::not_equal_to{}) == block_bytes_.end();
  if (!equal) communicator_ = nullptr;
}

Completion AllGather::add(Plan& plan, const std::string& name,
                          const std::vector<Rank>& ranks) const {
  const std::size_t total =
      std::accumulate(block_bytes_.begin(), block_bytes_.end(), std::size_t{0});
  std::vector<std::vector<TaskId>> have;
  for (const Rank& rank : ranks) {
    if (block_bytes_.size() != ranks.size() || rank.data.bytes != total) {
      throw std::invalid_argument("all-gather: the blocks do not make up the data");
    }
    have.push_back(rank.ready);
  }
  if (communicator_ != nullptr) {
    return add_to_all(plan, name, ranks, *communicator_, Collective::all_gather);
  }
  return gather(plan, name, ranks, block_bytes_, 0, std::move(have));
}

std::string AllGather::method() const {
  return communicator_ != nullptr ? communicator_->name() : "ring of copies";
}

AllReduce::AllReduce(Communicator* communicator, CaseData& data, OpSet& ops,
                     const std::vector<int>& devices, const std::vector<Stream*>& compute_streams,
                     std::int64_t count)
    : communicator_(communicator), counts_(split_evenly(count, static_cast<int>(devices.size()))) {
  if (communicator_ == nullptr) make_ring(data, ops, devices, compute_streams);
}

std::string AllReduce::method() const {
  return communicator_ != nullptr ? communicator_->name() : "ring of copies and additions";
}

void AllReduce::make_ring(CaseData& data, OpSet& ops, const std::vector<int>& devices,
                          const std::vector<Stream*>& compute_streams) {
  std::size_t offset = 0;
  for (const std::int64_t elements : counts_) {
    offsets_.push_back(offset);
    offset += static_cast<std::size_t>(elements) * sizeof(float);
  }
  for (std::size_t r = 0; r < devices.size(); ++r) {
    inboxes_.push_back(data.tensor(devices[r], canonical({counts_.front()})));
    std::vector<Op*> ops_of_rank;
    for (const std::int64_t elements : counts_) {
      ops_of_rank.push_back(
          elements > 0 ? &ops.prepare(*compute_streams.at(r), Accumulate{elements}) : nullptr);
    }
    add_.push_back(std::move(ops_of_rank));
  }
}

BufferView AllReduce::block(const BufferView& data, int index) const {
  return data.part(offsets_[index], static_cast<std::size_t>(counts_[index]) * sizeof(float));
}

TaskId AllReduce::add_addition(Plan& plan, std::string name, const Rank& rank, int receiver,
                               int index, std::vector<TaskId> after) const {
  std::vector<Call> calls;
  if (Op* op = add_[receiver][index]; op != nullptr) {
    calls.emplace_back(
        bind(*op, {{"source", inboxes_[receiver].view}, {"destination", block(rank.data, index)}}));
  }
  return plan.add({.name = std::move(name),
                   .kind = TaskKind::communication,
                   .lanes = {rank.compute},
                   .after = std::move(after)},
                  std::move(calls));
}

Completion AllReduce::add(Plan& plan, const std::string& name,
                          const std::vector<Rank>& ranks) const {
  if (ranks.size() != counts_.size()) throw std::invalid_argument("all-reduce: other ranks");
  if (communicator_ != nullptr) {
    return add_to_all(plan, name, ranks, *communicator_, Collective::all_reduce);
  }
  return add_ring(plan, name, ranks);
}

Completion AllReduce::add_ring(Plan& plan, const std::string& name,
                               const std::vector<Rank>& ranks) const {
  const int size = static_cast<int>(ranks.size());
  std::vector<std::vector<TaskId>> have;
  for (const Rank& rank : ranks) have.push_back(rank.ready);
  for (int step = 0; step < size - 1; ++step) {
    std::vector<std::vector<TaskId>> summed(ranks.size());
    for (int r = 0; r < size; ++r) {
      const int to = modulo(r + 1, size);
      const int index = modulo(r - step, size);
      const std::size_t bytes = block(ranks[r].data, index).bytes;
      std::vector<TaskId> free = have[r];
      append(free, have[to]);  // the inbox is free once the last sum was taken from it
      const TaskId arrived = add_send(
          plan, fmt::format("{}/scatter/{}→{}/block {}", name, r, to, index), ranks[r], ranks[to],
          {.destination = inboxes_[to].view.part(0, bytes), .source = block(ranks[r].data, index)},
          std::move(free));
      std::vector<TaskId> after{arrived};
      append(after, ranks[to].ready);
      summed[to].push_back(add_addition(plan, fmt::format("{}/add/{}/block {}", name, to, index),
                                        ranks[to], to, index, std::move(after)));
    }
    have = std::move(summed);
  }
  std::vector<std::size_t> bytes;
  for (const std::int64_t elements : counts_) bytes.push_back(elements * sizeof(float));
  return gather(plan, name + "/gather", ranks, bytes, 1, std::move(have));
}

}  // namespace parbench
