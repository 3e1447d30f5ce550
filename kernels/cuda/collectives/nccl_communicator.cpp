// Streams and views as NCCL takes them.
#include "kernels/cuda/collectives/nccl_communicator.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

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
    throw std::invalid_argument(fmt::format("a stream of {} is given for the rank of {}",
                                            stream.device().info().name, device.info().name));
  }
  return *mine;
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
  for (std::size_t rank = 0; rank < parts_.size(); ++rank) {
    const CudaStream& stream = stream_of(*streams[rank], *devices_[rank]);
    parts_[rank] = {.data = resolved(data[rank], name_of(collective), stream.name(), "data"),
                    .input = inputs.empty() ? nullptr
                                            : resolved(inputs[rank], name_of(collective),
                                                       stream.name(), "input"),
                    .stream = stream.handle()};
  }
  const TracedCall traced = stream_of(*streams.front(), *devices_.front()).trace_collective();
  clique_.enqueue(collective, parts_, data.front().bytes);
}

}  // namespace parbench::cuda
