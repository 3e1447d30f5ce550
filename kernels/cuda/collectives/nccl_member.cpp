// Joins ranks, enqueues collectives and aborts them.
#include "kernels/cuda/collectives/nccl_member.h"

#include <fmt/format.h>

#include <algorithm>
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

class NcclMember::Use {
 public:
  explicit Use(NcclMember& member) : member_(member) {
    const std::lock_guard lock(member_.mutex_);
    if (member_.failure_) std::rethrow_exception(member_.failure_);
    ++member_.uses_;
  }
  ~Use() {
    {
      const std::lock_guard lock(member_.mutex_);
      --member_.uses_;
    }
    member_.changed_.notify_all();
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  NcclMember& member_;
};

NcclMember::NcclMember(std::shared_ptr<const Nccl> nccl, const Joining& joining,
                       std::function<void()> enter, const Limits& limits)
    : nccl_(std::move(nccl)),
      check_ranks_(joining.check),
      enter_(std::move(enter)),
      limits_(limits),
      size_(joining.size),
      rank_(joining.rank) {
  try {
    join(joining);
  } catch (...) {
    abort();  // also aborts joined_, which NCCL may still be initialising
    throw;
  }
  thread_ = std::thread([this] { watch(); });
}

/// Aborts instead of destroying communicators, because aborting does not wait for other ranks.
/// Collectives that have not ended on all ranks are lost.
NcclMember::~NcclMember() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  if (!aborted_) abort();
}

void NcclMember::join(const Joining& joining) {
  nccl::Config without_blocking{.blocking = 0};
  wait_for_ranks(nccl_->functions().comm_init_rank_config(&joined_, size_, id_of(joining), rank_,
                                                          &without_blocking),
                 "ncclCommInitRankConfig");
  (void)add_group(0, static_cast<std::size_t>(rank_), static_cast<std::size_t>(size_));
}

const NcclMembership& NcclMember::split(std::span<const int> ranks) {
  const auto own = std::ranges::find(ranks, rank_);
  return add_group(own == ranks.end() ? nccl::no_color : 0,
                   static_cast<std::size_t>(own - ranks.begin()), ranks.size());
}

/// `member`: this rank's number in the group, and the key by which ncclCommSplit orders the
/// members.
const NcclMembership& NcclMember::add_group(int color, std::size_t member, std::size_t size) {
  nccl::Config blocking{.blocking = 1};
  nccl::Result result = nccl::success;
  {
    const Use use(*this);
    result =
        nccl_->functions().comm_split(joined_, color, static_cast<int>(member), &made_, &blocking);
  }
  wait_for_ranks(result, "ncclCommSplit");
  const std::lock_guard lock(mutex_);
  return groups_.emplace_back(NcclMembership{
      .communicator = std::exchange(made_, nullptr), .member = member, .size = size});
}

void NcclMember::wait_for_ranks(nccl::Result result, const char* what) {
  const Clock::time_point begin = Clock::now();
  while (result == nccl::in_progress) {
    if (check_ranks_) check_ranks_();
    if (Clock::now() - begin > limits_.joining) {
      throw Error(
          fmt::format("{}: NCCL {} has not connected the GPUs of {} ranks within {} s; check that "
                      "their hosts reach each other (NCCL_SOCKET_IFNAME chooses the network, "
                      "NCCL_DEBUG=INFO logs each step)",
                      what, nccl_->version(), size_, limits_.joining.count()));
    }
    std::this_thread::sleep_for(poll_interval);
    const Use use(*this);
    result = asynchronous_error(joined_);
  }
  check_call(result, what, __LINE__);
}

void NcclMember::enqueue(const NcclMembership& group, Collective collective, const NcclPart& part,
                         std::size_t bytes) {
  nccl::Result launched = nccl::success;
  nccl::Result ended = nccl::success;
  {
    const Use use(*this);
    const nccl::Functions& f = nccl_->functions();
    PARBENCH_NCCL(f.group_start());
    launched = launch(f, group, collective, part, bytes);
    ended = f.group_end();  // also after a failed call, because the group would stay open
  }
  // After an abort, `check` throws its cause.
  if (launched != nccl::success || ended != nccl::success) check();
  PARBENCH_NCCL(launched);
  PARBENCH_NCCL(ended);
}

void NcclMember::check() const {
  const std::lock_guard lock(mutex_);
  if (failure_) std::rethrow_exception(failure_);
}

void NcclMember::watch() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, limits_.between_checks, [this] { return ends_; })) {
    lock.unlock();
    try {
      look();
      lock.lock();
    } catch (...) {
      lock.lock();
      failure_ = std::current_exception();
      changed_.wait_for(lock, limits_.leaving, [this] { return uses_ == 0; });
      lock.unlock();
      abort();
      aborted_ = true;
      return;
    }
  }
}

void NcclMember::look() {
  enter_();
  if (check_ranks_) check_ranks_();
  for (const nccl::Communicator communicator : communicators()) {
    const nccl::Result error = asynchronous_error(communicator);
    if (error != nccl::in_progress) PARBENCH_NCCL(error);
  }
}

/// Does nothing after the GPU was lost: its resources cannot be freed, and waiting may never end.
void NcclMember::abort() {
  if (is_lost()) return;
  const nccl::Functions& f = nccl_->functions();
  for (const nccl::Communicator communicator : communicators()) (void)f.comm_abort(communicator);
  if (joined_ != nullptr) (void)f.comm_abort(joined_);  // also ends a split in progress
  const std::lock_guard lock(mutex_);
  if (made_ != nullptr) (void)f.comm_abort(made_);
}

std::vector<nccl::Communicator> NcclMember::communicators() const {
  const std::lock_guard lock(mutex_);
  std::vector<nccl::Communicator> all;
  for (const NcclMembership& group : groups_) {
    if (group.communicator != nullptr) all.push_back(group.communicator);
  }
  return all;
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
