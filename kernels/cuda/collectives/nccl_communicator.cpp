// Converts streams and views to arguments of NCCL.
#include "kernels/cuda/collectives/nccl_communicator.h"

#include <fmt/format.h>

#include <bit>
#include <stdexcept>

#include "kernels/core/described_op.h"
#include "kernels/cuda/device/device.h"
#include "kernels/cuda/runtime/stream.h"

namespace parbench::cuda {
namespace {

std::vector<int> ordinals_of(const std::vector<CudaDevice*>& devices) {
  std::vector<int> ordinals;
  for (const CudaDevice* device : devices) ordinals.push_back(device->ordinal());
  return ordinals;
}

CudaStream& stream_of(Stream& stream, const CudaDevice& device) {
  auto* mine = dynamic_cast<CudaStream*>(&stream);
  if (mine == nullptr || &mine->cuda_device() != &device) {
    throw std::invalid_argument(fmt::format("a stream of {} is given for the member on {}",
                                            stream.device().info().name, device.info().name));
  }
  return *mine;
}

NcclPart part_of(Collective collective, const CudaStream& stream, std::span<const BufferView> data,
                 std::span<const BufferView> inputs, std::size_t member) {
  return {.data = resolved(data[member], name_of(collective), stream.name(), "data"),
          .input = inputs.empty()
                       ? nullptr
                       : resolved(inputs[member], name_of(collective), stream.name(), "input"),
          .stream = stream.handle()};
}

/// Returns whether a collective of this size was not in the set before, and adds it.
bool is_first(Collective collective, std::size_t bytes, LaunchedCollectives& launched) {
  return launched.insert({collective, std::bit_width(bytes)}).second;
}

}  // namespace

NcclCommunicator::NcclCommunicator(std::shared_ptr<const Nccl> nccl,
                                   std::vector<CudaDevice*> devices)
    : name_("NCCL " + nccl->version()),
      devices_(std::move(devices)),
      parts_(devices_.size()),
      clique_(std::move(nccl), ordinals_of(devices_)) {}

void NcclCommunicator::enqueue_checked(Collective collective, std::span<Stream* const> streams,
                                       std::span<const BufferView> data,
                                       std::span<const BufferView> inputs) {
  for (std::size_t member = 0; member < parts_.size(); ++member) {
    CudaStream& stream = stream_of(*streams[member], *devices_[member]);
    stream.join_collective();
    parts_[member] = part_of(collective, stream, data, inputs, member);
  }
  const CudaStream& first = stream_of(*streams.front(), *devices_.front());
  if (is_first(collective, data.front().bytes, launched_)) first.await_waiting_streams();
  const TracedCall traced = first.trace_collective();
  clique_.enqueue(collective, parts_, data.front().bytes);
}

NcclRankCommunicator::NcclRankCommunicator(std::shared_ptr<const Nccl> nccl, CudaDevice& device,
                                           const Joining& joining)
    : name_("NCCL " + nccl->version()),
      device_(device),
      member_(std::make_shared<NcclMember>(
          std::move(nccl), joining, [&device] { device.enter_gpu(); }, NcclMember::Limits{})),
      group_(&member_->all()) {}

NcclRankCommunicator::NcclRankCommunicator(const NcclRankCommunicator& all,
                                           std::span<const int> ranks)
    : name_(all.name_),
      device_(all.device_),
      member_(all.member_),
      group_(&member_->split(ranks)) {}

std::unique_ptr<Communicator> NcclRankCommunicator::split(std::span<const int> ranks) {
  device_.make_current();
  return std::unique_ptr<Communicator>(new NcclRankCommunicator(*this, ranks));
}

void NcclRankCommunicator::enqueue_checked(Collective collective, std::span<Stream* const> streams,
                                           std::span<const BufferView> data,
                                           std::span<const BufferView> inputs) {
  if (group_->communicator == nullptr) return;  // this rank is not a member
  const std::size_t own = group_->member;
  CudaStream& stream = stream_of(*streams[own], device_);
  const NcclPart part = part_of(collective, stream, data, inputs, own);
  device_.make_current();
  if (is_first(collective, data.front().bytes, launched_)) stream.await_waiting_streams();
  const TracedCall traced = stream.trace_call();
  member_->enqueue(*group_, collective, part, data.front().bytes);
}

}  // namespace parbench::cuda
