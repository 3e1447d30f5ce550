// NCCL's functions: communicators, and groups of operations.
#include "tests/cuda_stand_in/nccl/communicator.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <type_traits>

#include "kernels/cuda/collectives/nccl_api.h"
#include "tests/cuda_stand_in/libraries.h"

using namespace parbench::stand_in;  // NOLINT(google-build-using-namespace): the vendor's functions

namespace {

std::pair<std::mutex, std::string>& last_error() {
  static auto& only = *new std::pair<std::mutex, std::string>;
  return only;
}

/// Operations that a thread has called since it began a group.
struct Planned {
  ncclComm_t self;
  cudaStream_t stream;
  std::vector<NcclOperation> operations;
};
struct Group {
  int depth = 0;
  ncclResult_t failure = ncclSuccess;
  std::vector<Planned> planned;
};
thread_local Group group;

ncclResult_t lost(const Call& call) {
  return call.lost() == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

/// Whether the members have joined, each on a GPU of its own.
ncclResult_t joined(const ncclComm& self) {
  std::set<int> devices;
  for (int member = 0; member < self.size; ++member) {
    const int device = self.board->member(member).joined;
    if (device == 0) return ncclInProgress;
    devices.insert(device);
  }
  self.board->unlink();
  if (std::cmp_equal(devices.size(), self.size)) return ncclSuccess;
  return fail(*self.board, ncclInvalidUsage, "NCCL: duplicate GPU: two members are on one");
}

/// Lets the child join the members that have announced its colour, once all members have.
ncclResult_t proceed_with_split(ncclComm& self) {
  const Board::Split& own = self.board->member(self.rank).splits[self.splits];
  std::vector<std::pair<int, int>> chosen;  // key and rank
  for (int member = 0; member < self.size; ++member) {
    const Board::Split& split = self.board->member(member).splits[self.splits];
    if (!split.announced) return ncclInProgress;
    if (split.color == own.color) chosen.emplace_back(split.key, member);
  }
  if (self.child != nullptr) {
    std::ranges::sort(chosen);
    const auto place = std::ranges::find(chosen, std::pair(own.key, self.rank));
    self.child->join(static_cast<int>(place - chosen.begin()), static_cast<int>(chosen.size()));
    if (const ncclResult_t status = joined(*self.child)) return status;
    self.child->ready = true;
  }
  *std::exchange(self.made, nullptr) = self.child;
  ++self.splits;
  return ncclSuccess;
}

/// The state of a communicator, after the progress that other members allow.
ncclResult_t proceed(const Call& call, ncclComm& self) {
  if (self.aborted) return ncclInternalError;
  if (const ncclResult_t status = lost(call)) return status;
  if (const int failure = (*self.board)->failure) return static_cast<ncclResult_t>(failure);
  ncclResult_t status = joined(self);
  if (status == ncclSuccess && self.made != nullptr) status = proceed_with_split(self);
  if (status == ncclSuccess) self.ready = true;
  return status;
}

/// Returns at once where the communicator does not block, otherwise when the others have come.
ncclResult_t finish(const char* name, ncclComm& self) {
  const Clock::time_point end = Clock::now() + nccl_limit();
  for (;; std::this_thread::sleep_for(std::chrono::microseconds(100))) {
    const Call call(name);
    const ncclResult_t status = proceed(call, self);
    if (status != ncclInProgress || !self.blocking) return status;
    if (Clock::now() > end) return fail(*self.board, ncclRemoteError, "NCCL: members are missing");
  }
}

ncclResult_t check_usable(const Call& call, const ncclComm* self) {
  call.check(self);
  if (const ncclResult_t status = lost(call)) return status;
  if (self->ready) return ncclSuccess;
  return reject(ncclInvalidArgument, fmt::format("{}: not ready yet", call.name()));
}

std::string path_of(const ncclUniqueId& id) {
  return std::string("/dev/shm/parbench-nccl-") + id.internal;
}

bool blocks(const Call& call, const ncclConfig_t* config, bool otherwise) {
  if (config == nullptr) return otherwise;
  const bool is_valid = config->magic == 0xcafebeef && config->version >= 21400 &&
                        config->size >= offsetof(ncclConfig_t, cgaClusterSize);
  if (!is_valid) refuse(call.name(), "a configuration that is not initialised");
  return config->blocking == NCCL_CONFIG_UNDEF_INT ? otherwise : config->blocking != 0;
}

ncclResult_t end_group() {
  if (--group.depth > 0) return ncclSuccess;
  const std::vector<Planned> planned = std::exchange(group.planned, {});
  if (const ncclResult_t failure = std::exchange(group.failure, ncclSuccess)) return failure;
  Call call("ncclGroupEnd");
  for (const Planned& each : planned) {
    // each algorithm, which the real library chooses by size, connects the members when it begins
    static const std::array<char, 65> algorithms{};
    const NcclOperation& first = each.operations.front();
    load(call, each.self->device, &algorithms.at(std::bit_width(first.count * first.element)));
  }
  for (const auto& [self, stream, operations] : planned) {
    const auto reference = stream->capture ? self->captured : nullptr;
    if (!reference) ++self->queued;
    const auto task = [member = self, board = self->board, all = operations, reference] {
      run(*member, *board, all);
      const std::lock_guard lock(state().mutex);
      if (!reference) --member->queued;
      state().changed.notify_all();
    };
    submit(*stream, task, Work::collective);
  }
  return ncclSuccess;
}

/// Why an operation is refused; null if it is not.
const char* problem_of(const Call& call, const ncclComm& self, const CUstream_st& stream,
                       const NcclOperation& operation) {
  if (operation.element == 0) return "only u8, and sums of f32";
  if (operation.root < 0 || operation.root >= self.size) return "no such member";
  if (stream.context->device != self.device || stream.context->green) {
    return "the stream does not belong to the communicator's device";
  }
  const std::size_t bytes = operation.count * operation.element;
  const auto all = static_cast<std::size_t>(self.size) * bytes;
  const std::size_t read = operation.kind == NcclKind::reduce_scatter ? all : bytes;
  const std::size_t written = operation.kind == NcclKind::all_gather ? all : bytes;
  for (const auto& [address, size] : {std::pair(operation.from, read), {operation.to, written}}) {
    if (size == 0 || address == nullptr) continue;
    const Allocation* memory = allocation_of(call.name(), address, size);
    const bool is_here = memory != nullptr && (memory->kind != Allocation::Kind::device ||
                                               memory->device == self.device);
    if (!is_here) return "the data are not in memory of the communicator's device";
  }
  return nullptr;
}

/// Adds to the group of this thread. Messages become one task, because they proceed independently.
void plan(ncclComm_t self, cudaStream_t stream, const NcclOperation& operation) {
  const auto same = std::ranges::find_if(group.planned, [&](const Planned& each) {
    return each.self == self && each.stream == stream &&
           std::min(each.operations.front().kind, operation.kind) >= NcclKind::send;
  });
  if (same != group.planned.end()) {
    same->operations.push_back(operation);
  } else {
    group.planned.push_back({self, stream, {operation}});
  }
}

/// Adds an operation to the group of this thread, or enqueues it as a group of its own.
ncclResult_t add(NcclKind kind, const char* name, const void* from, void* to, std::size_t count,
                 ncclDataType_t type, ncclRedOp_t reduction, int root, ncclComm_t self,
                 cudaStream_t stream) {
  const bool sums =
      kind == NcclKind::all_reduce || kind == NcclKind::reduce_scatter || kind == NcclKind::reduce;
  const bool is_known = type == ncclFloat32 ? reduction == ncclSum : type == ncclUint8 && !sums;
  const bool is_message = kind >= NcclKind::send;
  const std::size_t element = type == ncclUint8 ? 1 : sizeof(float);
  const NcclOperation operation{
      kind,
      fmt::format("{} of {} × type {}, root {}", is_message ? "a message" : name, count,
                  static_cast<int>(type), is_message ? 0 : root),
      count,
      is_known ? element : 0,
      root,
      const_cast<std::byte*>(static_cast<const std::byte*>(from)),
      static_cast<std::byte*>(to)};
  ++group.depth;
  ncclResult_t status = ncclSuccess;
  {
    const Call call(name, {stream});
    status = check_usable(call, self);
    const char* problem =
        status == ncclSuccess ? problem_of(call, *self, *stream, operation) : nullptr;
    if (problem != nullptr)
      status = reject(ncclInvalidArgument, std::string(name) + ": " + problem);
  }
  if (status == ncclSuccess) {
    plan(self, stream, operation);
  } else {
    group.failure = status;
  }
  const ncclResult_t ended = end_group();
  return status != ncclSuccess ? status : ended;
}

/// Whether a caller with the product's type of a function calls the vendor's: enumerations may be
/// integers.
template <class Own, class Vendors>
consteval bool agree() {
  if constexpr (std::is_pointer_v<Own> && std::is_pointer_v<Vendors>) {
    return std::is_const_v<std::remove_pointer_t<Own>> ==
           std::is_const_v<std::remove_pointer_t<Vendors>>;
  } else {
    return sizeof(Own) == sizeof(Vendors) && alignof(Own) == alignof(Vendors) &&
           std::is_class_v<Own> == std::is_class_v<Vendors>;
  }
}
template <class R, class... A, class S, class... B>
void* entry(R (* /*own*/)(A...), S (*vendors)(B...)) {
  static_assert(agree<R, S>() && (agree<A, B>() && ...));
  return reinterpret_cast<void*>(vendors);
}

namespace own = parbench::cuda::nccl;
static_assert(own::success == ncclSuccess && own::in_progress == ncclInProgress);
static_assert(own::uint8 == ncclUint8 && own::float32 == ncclFloat32 && own::sum == ncclSum);
static_assert(own::no_color == NCCL_SPLIT_NOCOLOR);
static_assert(offsetof(own::Config, size) == offsetof(ncclConfig_t, size) &&
              offsetof(own::Config, magic) == offsetof(ncclConfig_t, magic) &&
              offsetof(own::Config, version) == offsetof(ncclConfig_t, version) &&
              offsetof(own::Config, blocking) == offsetof(ncclConfig_t, blocking) &&
              sizeof(own::Config) == offsetof(ncclConfig_t, minCTAs));

}  // namespace

namespace parbench::stand_in {

ncclResult_t reject(ncclResult_t result, const std::string& reason) {
  std::fprintf(stderr, "CUDA stand-in: %s\n", reason.c_str());
  const std::lock_guard lock(last_error().first);
  last_error().second = reason;
  return result;
}

ncclResult_t fail(const Board& board, ncclResult_t result, const std::string& reason) {
  int none = ncclSuccess;
  const bool is_first = board->failure.compare_exchange_strong(none, result);
  return is_first ? reject(result, reason) : static_cast<ncclResult_t>(none);
}

// clang-format off
#define PARBENCH_NCCL_FUNCTIONS(add) \
  add(get_version, GetVersion) add(get_error_string, GetErrorString) \
  add(get_last_error, GetLastError) add(comm_init_all, CommInitAll) \
  add(get_unique_id, GetUniqueId) add(comm_init_rank_config, CommInitRankConfig) \
  add(comm_split, CommSplit) add(comm_destroy, CommDestroy) add(comm_abort, CommAbort) \
  add(comm_get_async_error, CommGetAsyncError) add(group_start, GroupStart) \
  add(group_end, GroupEnd) add(all_reduce, AllReduce) add(all_gather, AllGather) \
  add(reduce_scatter, ReduceScatter) add(broadcast, Broadcast) add(reduce, Reduce) \
  add(send, Send) add(receive, Recv)
// clang-format on

#define PARBENCH_NCCL_ENTRY(own, vendors) {"nccl" #vendors, entry(f.own, nccl##vendors)},
Functions nccl_functions() {
  constexpr own::Functions f;
  return {PARBENCH_NCCL_FUNCTIONS(PARBENCH_NCCL_ENTRY)};
}

}  // namespace parbench::stand_in

ncclResult_t ncclGetVersion(int* version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
  return result == ncclInvalidUsage ? "invalid usage" : "CUDA stand-in";
}

const char* ncclGetLastError(ncclComm_t /*self*/) {
  thread_local std::string text;
  const std::lock_guard lock(last_error().first);
  text = last_error().second;
  return text.c_str();
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  static std::atomic<unsigned int> number = 0;
  *id = {};
  const std::string text = fmt::format("{}-{}-{:08x}", getpid(), ++number, std::random_device{}());
  text.copy(id->internal, sizeof id->internal - 1);
  return ncclSuccess;
}

ncclResult_t ncclCommInitAll(ncclComm_t* made, int count, const int* devices) {
  ncclUniqueId id;
  (void)ncclGetUniqueId(&id);
  const Call call(__func__);
  if (const ncclResult_t status = lost(call)) return status;
  std::vector<int> ordinals;
  for (int member = 0; member < count; ++member) {
    ordinals.push_back(devices != nullptr ? devices[member] : member);
    if (ordinals.back() >= 0 && ordinals.back() < device_count()) continue;
    return reject(ncclInvalidArgument, fmt::format("{}: no device {}", __func__, ordinals.back()));
  }
  for (int member = 0; member < count; ++member) {
    made[member] = make<ncclComm>(path_of(id), ordinals[static_cast<std::size_t>(member)], true);
    made[member]->join(member, count);
  }
  ncclResult_t status = ncclSuccess;
  for (int member = 0; member < count; ++member) {
    status = proceed(call, *made[member]);
    made[member]->alive = status == ncclSuccess;
  }
  return status;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* made, int count, ncclUniqueId id, int rank,
                                    ncclConfig_t* config) {
  {
    const Call call(__func__);
    if (const ncclResult_t status = lost(call)) return status;
    const bool fits = std::cmp_less_equal(count, Board::max_members) && rank >= 0 && rank < count;
    if (!fits || group.depth > 0) {
      return reject(ncclInvalidArgument,
                    fmt::format("{}: rank {} of {}, or in a group", __func__, rank, count));
    }
    *made = make<ncclComm>(path_of(id), current_context()->device, blocks(call, config, true));
    (*made)->join(rank, count);
  }
  return finish(__func__, **made);
}

ncclResult_t ncclCommSplit(ncclComm_t self, int color, int key, ncclComm_t* made,
                           ncclConfig_t* config) {
  {
    const Call call(__func__);
    if (const ncclResult_t status = check_usable(call, self)) return status;
    auto& splits = self->board->member(self->rank).splits;
    const bool fits = color >= NCCL_SPLIT_NOCOLOR && self->splits < splits.size();
    if (!fits || group.depth > 0) {
      return reject(ncclInvalidArgument,
                    fmt::format("{}: colour {}, or in a group", __func__, color));
    }
    const std::string path = fmt::format("{}-{}-{}", self->board->path, self->splits, color);
    self->child = color == NCCL_SPLIT_NOCOLOR
                      ? nullptr
                      : make<ncclComm>(path, self->device, blocks(call, config, self->blocking));
    self->made = made;
    self->ready = false;
    splits[self->splits].color = color;
    splits[self->splits].key = key;
    splits[self->splits].announced = true;
  }
  return finish(__func__, *self);
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t self, ncclResult_t* error) {
  const Call call(__func__, {self});
  *error = proceed(call, *self);
  return ncclSuccess;
}

/// Waits for the operations of streams.
ncclResult_t ncclCommDestroy(ncclComm_t self) {
  Call call(__func__);
  if (const ncclResult_t status = check_usable(call, self)) return status;
  if (self->captured.use_count() > 1) refuse(__func__, "a graph has operations of it");
  call.wait([&] { return self->queued == 0; }, "operations of the communicator");
  self->board.reset();
  self->alive = false;
  return lost(call);
}

/// Ends the operation that runs, and those that streams reach later. The child of a split in
/// progress is returned, and must be aborted too.
ncclResult_t ncclCommAbort(ncclComm_t self) {
  Call call(__func__, {self});
  self->aborted = true;
  call.wait([&] { return !self->busy; }, "operations of an aborted communicator");
  if (self->made != nullptr) *std::exchange(self->made, nullptr) = self->child;
  self->board->unlink();
  self->board.reset();
  self->alive = false;
  return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
  ++group.depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (group.depth == 0) return reject(ncclInvalidUsage, "ncclGroupEnd: no group was started");
  return end_group();
}

#define PARBENCH_OPERATION(Name, kind, from, to, reduction, root, ...)                          \
  ncclResult_t nccl##Name(__VA_ARGS__, ncclComm_t self, cudaStream_t stream) {                  \
    return add(NcclKind::kind, __func__, from, to, count, type, reduction, root, self, stream); \
  }
#define PARBENCH_DATA const void *from, void *to, std::size_t count, ncclDataType_t type
PARBENCH_OPERATION(AllReduce, all_reduce, from, to, op, 0, PARBENCH_DATA, ncclRedOp_t op)
PARBENCH_OPERATION(AllGather, all_gather, from, to, ncclSum, 0, PARBENCH_DATA)
PARBENCH_OPERATION(ReduceScatter, reduce_scatter, from, to, op, 0, PARBENCH_DATA, ncclRedOp_t op)
PARBENCH_OPERATION(Broadcast, broadcast, from, to, ncclSum, root, PARBENCH_DATA, int root)
PARBENCH_OPERATION(Reduce, reduce, from, to, op, root, PARBENCH_DATA, ncclRedOp_t op, int root)
PARBENCH_OPERATION(Send, send, from, nullptr, ncclSum, peer, const void* from, std::size_t count,
                   ncclDataType_t type, int peer)
PARBENCH_OPERATION(Recv, receive, nullptr, to, ncclSum, peer, void* to, std::size_t count,
                   ncclDataType_t type, int peer)
