// Collectives between whole GPUs, one rank each, by NCCL.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/communicator.h"
#include "kernels/cuda/nccl.h"

namespace parbench::cuda {

class CudaDevice;

class NcclCommunicator final : public Communicator {
 public:
  /// `devices`: distinct whole GPUs by rank. NCCL makes its buffers now, and joins the GPUs at the
  /// first collective of each kind and size.
  NcclCommunicator(std::shared_ptr<const Nccl> nccl, std::vector<CudaDevice*> devices);
  ~NcclCommunicator() override;
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] int size() const override { return static_cast<int>(devices_.size()); }
  void check() const override;

 private:
  /// What a rank takes part with.
  struct Part {
    std::byte* data = nullptr;
    cudaStream_t stream = nullptr;
  };

  void enqueue_checked(Collective collective, std::span<Stream* const> streams,
                       std::span<const BufferView> data) override;
  [[nodiscard]] nccl::Result launch(Collective collective, std::size_t rank,
                                    std::size_t bytes) const;
  /// The first error that was met beside the calls.
  [[nodiscard]] nccl::Result asynchronous_error() const;

  std::shared_ptr<const Nccl> nccl_;
  std::string name_;
  std::vector<CudaDevice*> devices_;
  std::vector<nccl::Communicator> ranks_;
  std::vector<Part> parts_;  // of the collective that is enqueued now, by rank
};

}  // namespace parbench::cuda
