// NCCL calls for all members from one thread.
#include "kernels/cuda/collectives/nccl_clique.h"

#include <utility>

#include "kernels/cuda/runtime/error.h"

namespace parbench::cuda {

#define PARBENCH_NCCL(result) check_call((result), #result, __LINE__)

NcclClique::NcclClique(std::shared_ptr<const Nccl> nccl, const std::vector<int>& ordinals)
    : nccl_(std::move(nccl)), members_(ordinals.size()) {
  const auto count = static_cast<int>(ordinals.size());
  PARBENCH_NCCL(nccl_->functions().comm_init_all(members_.data(), count, ordinals.data()));
}

// Resources of a lost GPU cannot be freed, and waiting for it may never end. After an error, NCCL
// must be aborted.
NcclClique::~NcclClique() {
  if (is_lost()) return;
  const nccl::Functions& f = nccl_->functions();
  const bool failed = asynchronous_error() != nccl::success;
  for (const nccl::Communicator member : members_) {
    (void)(failed ? f.comm_abort(member) : f.comm_destroy(member));
  }
}

nccl::Result NcclClique::asynchronous_error() const {
  for (const nccl::Communicator member : members_) {
    nccl::Result error = nccl::success;
    const nccl::Result asked = nccl_->functions().comm_get_async_error(member, &error);
    if (asked != nccl::success) return asked;
    if (error != nccl::success && error != nccl::in_progress) return error;
  }
  return nccl::success;
}

void NcclClique::check() const { check_call(asynchronous_error(), "a collective", __LINE__); }

void NcclClique::enqueue(Collective collective, std::span<const NcclPart> parts,
                         std::size_t bytes) {
  check();
  const nccl::Functions& f = nccl_->functions();
  PARBENCH_NCCL(f.group_start());
  nccl::Result launched = nccl::success;
  for (std::size_t member = 0; member < members_.size() && launched == nccl::success; ++member) {
    launched =
        launch(f, {members_[member], member, members_.size()}, collective, parts[member], bytes);
  }
  // Ends the group also after a failed call, because it would stay open.
  const nccl::Result ended = f.group_end();
  PARBENCH_NCCL(launched);
  PARBENCH_NCCL(ended);
}

void NcclClique::check_call(nccl::Result result, const char* expression, int line) const {
  if (result != nccl::success) fail({expression, __FILE__, line}, nccl_->text_of(result));
}

#undef PARBENCH_NCCL

}  // namespace parbench::cuda
