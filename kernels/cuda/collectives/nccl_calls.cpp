// Collectives as calls of NCCL.
#include "kernels/cuda/collectives/nccl_calls.h"

namespace parbench::cuda {
namespace {

nccl::Result launch_all_to_all(const nccl::Functions& f, const NcclMembership& self,
                               const NcclPart& part, std::size_t bytes) {
  const std::size_t block = bytes / self.size;
  nccl::Result launched = nccl::success;
  for (std::size_t peer = 0; peer < self.size && launched == nccl::success; ++peer) {
    launched = f.send(part.input + peer * block, block, nccl::uint8, static_cast<int>(peer),
                      self.communicator, part.stream);
    if (launched != nccl::success) break;
    launched = f.receive(part.data + peer * block, block, nccl::uint8, static_cast<int>(peer),
                         self.communicator, part.stream);
  }
  return launched;
}

nccl::Result launch_send_recv(const nccl::Functions& f, const NcclMembership& self,
                              const NcclPart& part, std::size_t bytes) {
  const auto next = static_cast<int>((self.member + 1) % self.size);
  const auto before = static_cast<int>((self.member + self.size - 1) % self.size);
  const nccl::Result sent =
      f.send(part.input, bytes, nccl::uint8, next, self.communicator, part.stream);
  if (sent != nccl::success) return sent;
  return f.receive(part.data, bytes, nccl::uint8, before, self.communicator, part.stream);
}

}  // namespace

nccl::Result launch(const nccl::Functions& f, const NcclMembership& self, Collective collective,
                    const NcclPart& part, std::size_t bytes) {
  constexpr int root = 0;
  const nccl::Communicator us = self.communicator;
  const std::size_t count = bytes / sizeof(float);
  // All-gather and reduce-scatter work in place: block m of the data belongs to member m.
  const std::size_t block = bytes / self.size;
  std::byte* own = part.data + self.member * block;
  switch (collective) {
    case Collective::all_reduce:
      return f.all_reduce(part.data, part.data, count, nccl::float32, nccl::sum, us, part.stream);
    case Collective::all_gather:
      return f.all_gather(own, part.data, block, nccl::uint8, us, part.stream);
    case Collective::reduce_scatter:
      return f.reduce_scatter(part.data, own, block / sizeof(float), nccl::float32, nccl::sum, us,
                              part.stream);
    case Collective::broadcast:
      return f.broadcast(part.data, part.data, bytes, nccl::uint8, root, us, part.stream);
    case Collective::reduce:
      return f.reduce(part.data, part.data, count, nccl::float32, nccl::sum, root, us, part.stream);
    case Collective::all_to_all:
      return launch_all_to_all(f, self, part, bytes);
    case Collective::send_recv:
      break;
  }
  return launch_send_recv(f, self, part, bytes);
}

}  // namespace parbench::cuda
