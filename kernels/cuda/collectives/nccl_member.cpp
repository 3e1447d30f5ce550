// Joining, collectives and abortion.
#include "kernels/cuda/collectives/nccl_member.h"

#include <fmt/format.h>

#include <cstring>
#include <stdexcept>
#include <utility>

#include "kernels/base/error.h"
#include "kernels/cuda/runtime/error.h"

namespace parbench::cuda {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto poll_interval = std::chrono::milliseconds(1);

nccl::UniqueId id_of(const Joining& joining) {
  nccl::UniqueId id;
  if (joining.id.size() != id.bytes.size()) {
    throw std::invalid_argument(
        fmt::format("an id of NCCL has {} bytes, not {}", id.bytes.size(), joining.id.size()));
  }
  std::memcpy(id.bytes.data(), joining.id.data(), id.bytes.size());
  return id;
}

}  // namespace

#define PARBENCH_NCCL(result) check_call((result), #result, __LINE__)

std::vector<std::byte> make_nccl_id(const Nccl& nccl) {
  nccl::UniqueId id;
  const nccl::Result result = nccl.functions().get_unique_id(&id);
  if (result != nccl::success) {
    fail({"ncclGetUniqueId", __FILE__, __LINE__}, nccl.text_of(result));
  }
  std::vector<std::byte> bytes(id.bytes.size());
  std::memcpy(bytes.data(), id.bytes.data(), bytes.size());
  return bytes;
}

NcclMember::NcclMember(std::shared_ptr<const Nccl> nccl, const Joining& joining,
                       std::function<void()> enter, const Limits& limits)
    : nccl_(std::move(nccl)),
      rank_(static_cast<std::size_t>(joining.rank)),
      size_(static_cast<std::size_t>(joining.size)),
      check_ranks_(joining.check),
      enter_(std::move(enter)) {
  try {
    join(joining, limits);
  } catch (...) {
    abort(joined_);  // with what is being made of it
    throw;
  }
  thread_ = std::thread([this, limits] { watch(limits); });
}

/// By then all collectives have ended on all ranks; to abort waits for none of them.
NcclMember::~NcclMember() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  if (aborted_) return;
  abort(used_);
  abort(joined_);
}

void NcclMember::join(const Joining& joining, const Limits& limits) {
  const nccl::Functions& f = nccl_->functions();
  nccl::Config without_blocking{.blocking = 0};
  wait_for_ranks(f.comm_init_rank_config(&joined_, joining.size, id_of(joining), joining.rank,
                                         &without_blocking),
                 "ncclCommInitRankConfig", joining, limits);
  nccl::Config blocking{.blocking = 1};
  wait_for_ranks(f.comm_split(joined_, 0, joining.rank, &used_, &blocking), "ncclCommSplit",
                 joining, limits);
}

void NcclMember::wait_for_ranks(nccl::Result result, const char* what, const Joining& joining,
                                const Limits& limits) const {
  const Clock::time_point begin = Clock::now();
  while (result == nccl::in_progress) {
    if (joining.check) joining.check();
    if (Clock::now() - begin > limits.joining) {
      throw Error(fmt::format(
          "{}: NCCL {} has not joined the GPUs of {} ranks within {} s; can their hosts reach each "
          "other? NCCL_SOCKET_IFNAME names the network, NCCL_DEBUG=INFO shows what it does",
          what, nccl_->version(), joining.size, limits.joining.count()));
    }
    std::this_thread::sleep_for(poll_interval);
    result = asynchronous_error(joined_);
  }
  check_call(result, what, __LINE__);
}

void NcclMember::enqueue(Collective collective, const NcclPart& part, std::size_t bytes) {
  check();
  const nccl::Functions& f = nccl_->functions();
  PARBENCH_NCCL(f.group_start());
  const nccl::Result launched = launch(f, {used_, rank_, size_}, collective, part, bytes);
  const nccl::Result ended = f.group_end();  // also when a call failed, or the group stays open
  if (launched != nccl::success || ended != nccl::success) check();  // says more where it aborted
  PARBENCH_NCCL(launched);
  PARBENCH_NCCL(ended);
}

void NcclMember::check() const {
  const std::lock_guard lock(mutex_);
  if (failure_) std::rethrow_exception(failure_);
}

void NcclMember::watch(const Limits& limits) {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, limits.between_checks, [this] { return ends_; })) {
    lock.unlock();
    try {
      look();
      lock.lock();
    } catch (...) {
      lock.lock();
      failure_ = std::current_exception();
      lock.unlock();
      abort(used_);
      abort(joined_);
      aborted_ = true;
      return;
    }
  }
}

void NcclMember::look() {
  enter_();
  if (check_ranks_) check_ranks_();
  const nccl::Result error = asynchronous_error(used_);
  if (error != nccl::in_progress) PARBENCH_NCCL(error);
}

/// Nothing of a lost GPU can be freed, and waiting for it may never end.
void NcclMember::abort(nccl::Communicator communicator) const noexcept {
  if (communicator == nullptr || is_lost()) return;
  (void)nccl_->functions().comm_abort(communicator);
}

nccl::Result NcclMember::asynchronous_error(nccl::Communicator communicator) const {
  nccl::Result error = nccl::success;
  const nccl::Result asked = nccl_->functions().comm_get_async_error(communicator, &error);
  return asked != nccl::success ? asked : error;
}

void NcclMember::check_call(nccl::Result result, const char* expression, int line) const {
  if (result != nccl::success) fail({expression, __FILE__, line}, nccl_->text_of(result));
}

#undef PARBENCH_NCCL

}  // namespace parbench::cuda
