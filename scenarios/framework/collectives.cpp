// Collectives between devices: those of a communicator, otherwise rings.
#include "scenarios/framework/collectives.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "scenarios/framework/prepared_case.h"

namespace parbench {

Completion add_to_all(Plan& plan, const std::string& name, const std::vector<Rank>& ranks,
                      Communicator& communicator, Collective collective) {
  Task task;
  task.name = name;
  task.kind = TaskKind::communication;
  task.sent = work_of(collective, ranks.size(), ranks.front().data.bytes).bytes / 2;
  CollectiveCall call{.communicator = &communicator, .collective = collective, .data = {}};
  std::vector<Stream*> streams;
  for (const Rank& rank : ranks) streams.push_back(&plan.stream(rank.copies));
  communicator.prepare(collective, streams, ranks.front().data.bytes);
  for (const Rank& rank : ranks) {
    task.lanes.push_back(rank.copies);
    call.data.push_back(rank.data);
    if (has_input(collective)) call.inputs.push_back(rank.input);
    task.after.insert(task.after.end(), rank.ready.begin(), rank.ready.end());
  }
  return Completion(ranks.size(), {plan.add(std::move(task), {std::move(call)})});
}

void note_method(CaseParts& parts, Collective collective, const std::string& method) {
  const std::string_view name = name_of(collective);
  const auto known = std::ranges::find(
      parts.notes, name, [](const auto& note) { return std::string_view(note.first); });
  if (known == parts.notes.end()) {
    parts.notes.emplace_back(name, method);
  } else if ((", " + known->second + ", ").find(", " + method + ", ") == std::string::npos) {
    known->second += ", " + method;
  }
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
  for (const Rank& rank : ranks) {
    if (block_bytes_.size() != ranks.size() || rank.data.bytes != total) {
      throw std::invalid_argument("all-gather: the blocks do not make up the data");
    }
  }
  if (communicator_ != nullptr) {
    return add_to_all(plan, name, ranks, *communicator_, Collective::all_gather);
  }
  const std::vector<std::int64_t> blocks(block_bytes_.begin(), block_bytes_.end());
  const Messages messages =
      pipelined(rounds_of(Collective::all_gather, Algorithm::ring, blocks), 0);
  return add_messages(plan, name, messages, ranks, 1);
}

std::string AllGather::method() const {
  if (communicator_ == nullptr) return "ring of copies";
  const std::size_t total =
      std::accumulate(block_bytes_.begin(), block_bytes_.end(), std::size_t{0});
  return communicator_->method(Collective::all_gather, total);
}

AllReduce::AllReduce(Communicator* communicator, CaseData& data, OpSet& ops,
                     const std::vector<int>& devices, const std::vector<Stream*>& compute_streams,
                     std::int64_t count)
    : communicator_(communicator),
      ranks_(devices.size()),
      bytes_(static_cast<std::size_t>(count) * sizeof(float)) {
  if (communicator_ != nullptr) return;
  const auto blocks = split_evenly(count, static_cast<int>(devices.size()));
  messages_ = pipelined(rounds_of(Collective::all_reduce, Algorithm::ring, blocks), chunk_elements);
  additions_.emplace(messages_, data, ops, devices, compute_streams);
}

Completion AllReduce::add(Plan& plan, const std::string& name,
                          const std::vector<Rank>& ranks) const {
  if (ranks.size() != ranks_) throw std::invalid_argument("all-reduce: other ranks");
  if (communicator_ != nullptr) {
    return add_to_all(plan, name, ranks, *communicator_, Collective::all_reduce);
  }
  return add_messages(plan, name, messages_, ranks, sizeof(float), &*additions_);
}

std::string AllReduce::method() const {
  if (communicator_ == nullptr) return "ring of copies and additions";
  return communicator_->method(Collective::all_reduce, bytes_);
}

}  // namespace parbench
