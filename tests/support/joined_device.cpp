// Collectives on one stream.
#include "tests/support/joined_device.h"

#include <utility>

#include "kernels/base/error.h"
#include "kernels/ops/ops.h"

namespace parbench::test {

std::unique_ptr<Communicator> JoinedDevice::make_communicator(std::span<Device* const> ranks) {
  return std::make_unique<CopyingCommunicator>(std::vector<Device*>(ranks.begin(), ranks.end()));
}

std::vector<std::unique_ptr<Device>> joined(std::vector<std::unique_ptr<Device>> devices) {
  for (auto& device : devices) device = std::make_unique<JoinedDevice>(std::move(device));
  return devices;
}

CopyingCommunicator::CopyingCommunicator(std::vector<Device*> devices)
    : devices_(std::move(devices)), done_(devices_.front()->make_event(EventKind::ordering)) {
  for (Device* device : devices_) come_.push_back(device->make_event(EventKind::ordering));
}

void CopyingCommunicator::check() const {
  if (!failure.empty()) throw Error(failure);
}

void CopyingCommunicator::enqueue_checked(Collective collective, std::span<Stream* const> streams,
                                          std::span<const BufferView> data,
                                          std::span<const BufferView> inputs) {
  Stream& first = *streams.front();
  for (std::size_t rank = 1; rank < streams.size(); ++rank) {
    streams[rank]->record(*come_[rank]);
    first.wait(*come_[rank]);
  }
  const bool spreads = collective == Collective::all_reduce || collective == Collective::broadcast;
  if (collective == Collective::all_gather) {
    gather(first, data);
  } else if (collective == Collective::all_to_all) {
    exchange(first, data, inputs);
  } else if (collective == Collective::send_recv) {
    send(first, data, inputs);
  } else if (collective != Collective::broadcast) {
    add_to_first(first, data);
  }
  if (collective == Collective::reduce_scatter) scatter(first, data);
  for (const BufferView& rank : data.subspan(1)) {
    if (spreads) first.copy(rank, data.front());
  }
  first.record(*done_);
  for (Stream* stream : streams.subspan(1)) stream->wait(*done_);
}

void CopyingCommunicator::add_to_first(Stream& stream, std::span<const BufferView> data) {
  const auto count = static_cast<std::int64_t>(data.front().bytes / sizeof(float));
  std::unique_ptr<Op>& addition = additions_[count];
  if (!addition) addition = devices_.front()->prepare(Accumulate{count}, stream.threads());
  stream.reserve_scratch(addition->scratch_bytes());
  for (const BufferView& rank : data.subspan(1)) {
    addition->enqueue(stream, std::vector<BufferView>{rank, data.front()});
  }
}

void CopyingCommunicator::gather(Stream& stream, std::span<const BufferView> data) {
  const std::size_t block = data.front().bytes / data.size();
  for (std::size_t from = 0; from < data.size(); ++from) {
    for (std::size_t to = 0; to < data.size(); ++to) {
      if (to == from) continue;
      stream.copy(data[to].part(from * block, block), data[from].part(from * block, block));
    }
  }
}

void CopyingCommunicator::scatter(Stream& stream, std::span<const BufferView> data) {
  const std::size_t block = data.front().bytes / data.size();
  for (std::size_t to = 1; to < data.size(); ++to) {
    stream.copy(data[to].part(to * block, block), data.front().part(to * block, block));
  }
}

void CopyingCommunicator::exchange(Stream& stream, std::span<const BufferView> data,
                                   std::span<const BufferView> inputs) {
  const std::size_t block = data.front().bytes / data.size();
  for (std::size_t from = 0; from < data.size(); ++from) {
    for (std::size_t to = 0; to < data.size(); ++to) {
      stream.copy(data[to].part(from * block, block), inputs[from].part(to * block, block));
    }
  }
}

void CopyingCommunicator::send(Stream& stream, std::span<const BufferView> data,
                               std::span<const BufferView> inputs) {
  for (std::size_t from = 0; from < data.size(); ++from) {
    stream.copy(data[(from + 1) % data.size()], inputs[from]);
  }
}

}  // namespace parbench::test
