// Work that calls the link. Memory is resolved when it runs, as it may have moved since.
#include "scenarios/framework/ranks/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace parbench {
namespace {

class MessageWork final : public HostWork {
 public:
  MessageWork(RankLink& link, const RankMessage& message) : link_(link), message_(message) {}

  void run() override {
    if (message_.from == link_.rank()) {
      link_.send(message_.to, message_.tag, message_.source.data(), message_.source.bytes);
    } else {
      link_.receive(message_.from, message_.tag, message_.destination.data(),
                    message_.destination.bytes);
    }
  }

 private:
  RankLink& link_;
  RankMessage message_;
};

class BarrierWork final : public HostWork {
 public:
  explicit BarrierWork(RankLink& link) : link_(link) {}
  void run() override { link_.barrier(); }

 private:
  RankLink& link_;
};

class CollectiveWork final : public HostWork {
 public:
  CollectiveWork(RankLink& link, Collective collective, const BufferView& data,
                 const BufferView& input)
      : link_(link), collective_(collective), data_(data), input_(input) {}
  void run() override { link_.collective(collective_, data_.data(), data_.bytes, input_.data()); }

 private:
  RankLink& link_;
  Collective collective_;
  BufferView data_;
  BufferView input_;  // of no buffer in place
};

class AllReduceWork final : public HostWork {
 public:
  AllReduceWork(RankLink& link, const RankSet& set, const BufferView& data)
      : link_(link), set_(set), data_(data) {}
  void run() override { link_.all_reduce(set_, data_.data(), data_.bytes); }

 private:
  RankLink& link_;
  const RankSet& set_;
  BufferView data_;
};

std::vector<int> all_ranks_of(const RankLink& link) {
  std::vector<int> ranks(static_cast<std::size_t>(link.size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

}  // namespace

std::unique_ptr<HostWork> make_message_work(RankLink& link, const RankMessage& message) {
  if (message.source.bytes != message.destination.bytes) {
    throw std::invalid_argument(fmt::format("a message of {} bytes for {} bytes of memory",
                                            message.source.bytes, message.destination.bytes));
  }
  if (message.from != link.rank() && message.to != link.rank()) return nullptr;
  return std::make_unique<MessageWork>(link, message);
}

std::unique_ptr<HostWork> make_barrier_work(RankLink& link) {
  return std::make_unique<BarrierWork>(link);
}

RankCommunicator::RankCommunicator(RankLink& link)
    : RankCommunicator(link, {.ranks = all_ranks_of(link)}) {}

RankCommunicator::RankCommunicator(RankLink& link, RankSet set)
    : link_(link), set_(std::move(set)), are_all_(set_.ranks == all_ranks_of(link)) {
  const auto own = std::ranges::find(set_.ranks, link_.rank());
  if (own != set_.ranks.end()) own_ = static_cast<std::size_t>(own - set_.ranks.begin());
}

std::unique_ptr<HostWork> RankCommunicator::make_work(Collective collective, const BufferView& data,
                                                      const BufferView& input) const {
  if (are_all_) return std::make_unique<CollectiveWork>(link_, collective, data, input);
  if (!offers(collective)) {
    throw std::invalid_argument(fmt::format("{} joins some ranks for all-reduces, not for {}",
                                            name(), name_of(collective)));
  }
  return std::make_unique<AllReduceWork>(link_, set_, data);
}

void RankCommunicator::enqueue_checked(Collective collective, std::span<Stream* const> streams,
                                       std::span<const BufferView> data,
                                       std::span<const BufferView> inputs) {
  if (!own_) return;
  const BufferView& view = data[*own_];
  const BufferView input = inputs.empty() ? BufferView() : inputs[*own_];
  std::unique_ptr<HostWork>& work =
      works_[{collective, view.buffer, view.offset, view.bytes, input.buffer, input.offset}];
  if (work == nullptr) work = make_work(collective, view, input);
  streams[*own_]->perform(*work);
}

}  // namespace parbench
