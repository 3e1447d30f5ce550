// Calls of NCCL, all ranks from one thread.
#include "kernels/cuda/collectives/nccl_clique.h"

#include <utility>

#include "kernels/cuda/runtime/error.h"

namespace parbench::cuda {

#define PARBENCH_NCCL(result) check_call((result), #result, __LINE__)

NcclClique::NcclClique(std::shared_ptr<const Nccl> nccl, const std::vector<int>& ordinals)
    : nccl_(std::move(nccl)), ranks_(ordinals.size()) {
  const auto count = static_cast<int>(ordinals.size());
  PARBENCH_NCCL(nccl_->functions().comm_init_all(ranks_.data(), count, ordinals.data()));
}

// Nothing of a lost GPU can be freed, and waiting for it may never end. After an error of its own
// NCCL ends only when it is aborted.
NcclClique::~NcclClique() {
  if (is_lost()) return;
  const nccl::Functions& f = nccl_->functions();
  const bool failed = asynchronous_error() != nccl::success;
  for (const nccl::Communicator rank : ranks_) {
    (void)(failed ? f.comm_abort(rank) : f.comm_destroy(rank));
  }
}

nccl::Result NcclClique::asynchronous_error() const {
  for (const nccl::Communicator rank : ranks_) {
    nccl::Result error = nccl::success;
    const nccl::Result asked = nccl_->functions().comm_get_async_error(rank, &error);
    if (asked != nccl::success) return asked;
    if (error != nccl::success && error != nccl::in_progress) return error;
  }
  return nccl::success;
}

void NcclClique::check() const { check_call(asynchronous_error(), "a collective", __LINE__); }

void NcclClique::enqueue(Collective collective, std::span<const Part> parts, std::size_t bytes) {
  check();
  const nccl::Functions& f = nccl_->functions();
  PARBENCH_NCCL(f.group_start());
  nccl::Result launched = nccl::success;
  for (std::size_t rank = 0; rank < ranks_.size() && launched == nccl::success; ++rank) {
    launched = launch(collective, rank, parts[rank], bytes);
  }
  const nccl::Result ended = f.group_end();  // also when a call failed, or the group stays open
  PARBENCH_NCCL(launched);
  PARBENCH_NCCL(ended);
}

nccl::Result NcclClique::launch(Collective collective, std::size_t rank, const Part& part,
                                std::size_t bytes) const {
  constexpr int root = 0;
  const nccl::Functions& f = nccl_->functions();
  const nccl::Communicator self = ranks_[rank];
  const std::size_t count = bytes / sizeof(float);
  // In place: rank r sends or receives its r-th block.
  const std::size_t block = bytes / ranks_.size();
  std::byte* own = part.data + rank * block;
  switch (collective) {
    case Collective::all_reduce:
      return f.all_reduce(part.data, part.data, count, nccl::float32, nccl::sum, self, part.stream);
    case Collective::all_gather:
      return f.all_gather(own, part.data, block, nccl::uint8, self, part.stream);
    case Collective::reduce_scatter:
      return f.reduce_scatter(part.data, own, block / sizeof(float), nccl::float32, nccl::sum, self,
                              part.stream);
    case Collective::broadcast:
      return f.broadcast(part.data, part.data, bytes, nccl::uint8, root, self, part.stream);
    case Collective::reduce:
      return f.reduce(part.data, part.data, count, nccl::float32, nccl::sum, root, self,
                      part.stream);
    case Collective::all_to_all:
      return launch_all_to_all(rank, part, bytes);
    case Collective::send_recv:
      break;
  }
  return launch_send_recv(rank, part, bytes);
}

nccl::Result NcclClique::launch_all_to_all(std::size_t rank, const Part& part,
                                           std::size_t bytes) const {
  const nccl::Functions& f = nccl_->functions();
  const std::size_t block = bytes / ranks_.size();
  nccl::Result launched = nccl::success;
  for (std::size_t peer = 0; peer < ranks_.size() && launched == nccl::success; ++peer) {
    launched = f.send(part.input + peer * block, block, nccl::uint8, static_cast<int>(peer),
                      ranks_[rank], part.stream);
    if (launched != nccl::success) break;
    launched = f.receive(part.data + peer * block, block, nccl::uint8, static_cast<int>(peer),
                         ranks_[rank], part.stream);
  }
  return launched;
}

nccl::Result NcclClique::launch_send_recv(std::size_t rank, const Part& part,
                                          std::size_t bytes) const {
  const nccl::Functions& f = nccl_->functions();
  const std::size_t count = ranks_.size();
  const auto next = static_cast<int>((rank + 1) % count);
  const auto before = static_cast<int>((rank + count - 1) % count);
  const nccl::Result sent = f.send(part.input, bytes, nccl::uint8, next, ranks_[rank], part.stream);
  if (sent != nccl::success) return sent;
  return f.receive(part.data, bytes, nccl::uint8, before, ranks_[rank], part.stream);
}

void NcclClique::check_call(nccl::Result result, const char* expression, int line) const {
  if (result != nccl::success) fail({expression, __FILE__, line}, nccl_->text_of(result));
}

#undef PARBENCH_NCCL

}  // namespace parbench::cuda
