// Collectives by NCCL whose members are whole GPUs: several GPUs of this process, or one GPU of
// each of several processes.
#pragma once

#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/core/communicator.h"
#include "kernels/cuda/collectives/nccl.h"
#include "kernels/cuda/collectives/nccl_clique.h"
#include "kernels/cuda/collectives/nccl_member.h"

namespace parbench::cuda {

class CudaDevice;

/// Collectives that have run, with the number of bits of their sizes. NCCL chooses algorithms by
/// size, and may make an algorithm's connections when it first runs.
using LaunchedCollectives = std::set<std::pair<Collective, int>>;

class NcclCommunicator final : public Communicator {
 public:
  /// `devices`: distinct whole GPUs, by member.
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
  std::vector<NcclPart> parts_;  // parts of the collective being enqueued, by member
  LaunchedCollectives launched_;
  NcclClique clique_;
};

/// Collectives across processes with one GPU each. Streams and views of other ranks are ignored.
class NcclRankCommunicator final : public Communicator {
 public:
  /// Joins all ranks, which must construct their communicators at the same time. `device`: a whole
  /// GPU.
  NcclRankCommunicator(std::shared_ptr<const Nccl> nccl, CudaDevice& device,
                       const Joining& joining);

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] int size() const override { return static_cast<int>(group_->size); }
  void check() const override { member_->check(); }
  [[nodiscard]] std::unique_ptr<Communicator> split(std::span<const int> ranks) override;

 private:
  /// Splits a communicator of `ranks` from `all`.
  NcclRankCommunicator(const NcclRankCommunicator& all, std::span<const int> ranks);

  void enqueue_checked(Collective collective, std::span<Stream* const> streams,
                       std::span<const BufferView> data,
                       std::span<const BufferView> inputs) override;

  std::string name_;
  CudaDevice& device_;
  // owner of NCCL's communicators, shared with the objects that `split` makes
  std::shared_ptr<NcclMember> member_;
  const NcclMembership* group_;  // NCCL's communicator for this object; owned by member_
  LaunchedCollectives launched_;
};

}  // namespace parbench::cuda
