// Groups of NCCL's calls, one for each rank.
#include "kernels/cuda/nccl_communicator.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "kernels/cuda/device.h"
#include "kernels/cuda/error.h"
#include "kernels/cuda/stream.h"
#include "kernels/described_op.h"

namespace parbench::cuda {
namespace {

/// Throws where a call failed; `communicator` is null where there is none to ask.
void check_call(const Nccl& nccl, nccl::Result result, nccl::Communicator communicator,
                const CallSite& site) {
  if (result != nccl::success) fail(site, nccl.text_of(result, communicator));
}

CudaStream& stream_of(Stream& stream, const CudaDevice& device) {
  auto* mine = dynamic_cast<CudaStream*>(&stream);
  if (mine == nullptr || &mine->cuda_device() != &device) {
    throw std::invalid_argument("a stream of " + stream.device().info().name +
                                " is given for the rank of " + device.info().name);
  }
  return *mine;
}

}  // namespace

#define PARBENCH_NCCL(result, communicator) \
  check_call(*nccl_, (result), (communicator), {#result, __FILE__, __LINE__})

NcclCommunicator::NcclCommunicator(std::shared_ptr<const Nccl> nccl,
                                   std::vector<CudaDevice*> devices)
    : nccl_(std::move(nccl)),
      name_("NCCL " + nccl_->version()),
      devices_(std::move(devices)),
      ranks_(devices_.size()),
      parts_(devices_.size()) {
  std::vector<int> ordinals;
  for (const CudaDevice* device : devices_) ordinals.push_back(device->ordinal());
  PARBENCH_NCCL(nccl_->functions().comm_init_all(ranks_.data(), size(), ordinals.data()), nullptr);
}

// Nothing of a lost GPU can be freed, and waiting for it may never end. After an error of its own
// NCCL only ends when it is aborted.
NcclCommunicator::~NcclCommunicator() {
  if (is_lost()) return;
  const nccl::Functions& f = nccl_->functions();
  const bool failed = asynchronous_error() != nccl::success;
  for (const nccl::Communicator rank : ranks_) {
    (void)(failed ? f.comm_abort(rank) : f.comm_destroy(rank));
  }
}

nccl::Result NcclCommunicator::asynchronous_error() const {
  for (const nccl::Communicator rank : ranks_) {
    nccl::Result error = nccl::success;
    const nccl::Result asked = nccl_->functions().comm_get_async_error(rank, &error);
    if (asked != nccl::success) return asked;
    if (error != nccl::success && error != nccl::in_progress) return error;
  }
  return nccl::success;
}

void NcclCommunicator::check() const {
  const nccl::Result asynchronous = asynchronous_error();
  check_call(*nccl_, asynchronous, ranks_.front(), {"a collective", __FILE__, __LINE__});
}

void NcclCommunicator::enqueue_checked(Collective collective, std::span<Stream* const> streams,
                                       std::span<const BufferView> data) {
  check();
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    const CudaStream& stream = stream_of(*streams[rank], *devices_[rank]);
    parts_[rank] = {.data = resolved(data[rank], name_of(collective), stream.name(), "data"),
                    .stream = stream.handle()};
  }
  const nccl::Functions& f = nccl_->functions();
  PARBENCH_NCCL(f.group_start(), nullptr);
  nccl::Result launched = nccl::success;
  for (std::size_t rank = 0; rank < ranks_.size() && launched == nccl::success; ++rank) {
    launched = launch(collective, rank, data[rank].bytes);
  }
  const nccl::Result ended = f.group_end();  // also when a call failed, or the group stays open
  PARBENCH_NCCL(launched, ranks_.front());
  PARBENCH_NCCL(ended, ranks_.front());
}

nccl::Result NcclCommunicator::launch(Collective collective, std::size_t rank,
                                      std::size_t bytes) const {
  const nccl::Functions& f = nccl_->functions();
  const auto [data, stream] = parts_[rank];
  if (collective == Collective::all_reduce) {
    return f.all_reduce(data, data, bytes / sizeof(float), nccl::float32, nccl::sum, ranks_[rank],
                        stream);
  }
  const std::size_t block = bytes / ranks_.size();  // in place: rank r sends its r-th block
  return f.all_gather(data + rank * block, data, block, nccl::uint8, ranks_[rank], stream);
}

#undef PARBENCH_NCCL

}  // namespace parbench::cuda
