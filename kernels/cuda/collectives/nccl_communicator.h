// Collectives between whole GPUs, one rank each, by NCCL.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/core/communicator.h"
#include "kernels/cuda/collectives/nccl.h"
#include "kernels/cuda/collectives/nccl_clique.h"

namespace parbench::cuda {

class CudaDevice;

class NcclCommunicator final : public Communicator {
 public:
  /// `devices`: distinct whole GPUs by rank.
  NcclCommunicator(std::shared_ptr<const Nccl> nccl, std::vector<CudaDevice*> devices);

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] int size() const override { return static_cast<int>(devices_.size()); }
  void check() const override { clique_.check(); }

 private:
  void enqueue_checked(Collective collective, std::span<Stream* const> streams,
                       std::span<const BufferView> data,
                       std::span<const BufferView> inputs) override;

  std::string name_;
  std::vector<CudaDevice*> devices_;
  std::vector<NcclClique::Part> parts_;  // of the collective that is enqueued now, by rank
  NcclClique clique_;
};

}  // namespace parbench::cuda
