// Work that calls the link. Memory is resolved when it runs, as it may have moved since.
#include "scenarios/framework/ranks/messages.h"

#include <fmt/format.h>

#include <stdexcept>

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

void RankCommunicator::enqueue_checked(Collective collective, std::span<Stream* const> streams,
                                       std::span<const BufferView> data,
                                       std::span<const BufferView> inputs) {
  const auto own = static_cast<std::size_t>(link_.rank());
  const BufferView& view = data[own];
  const BufferView input = inputs.empty() ? BufferView() : inputs[own];
  std::unique_ptr<HostWork>& work =
      works_[{collective, view.buffer, view.offset, view.bytes, input.buffer, input.offset}];
  if (work == nullptr) work = std::make_unique<CollectiveWork>(link_, collective, view, input);
  streams[own]->perform(*work);
}

}  // namespace parbench
