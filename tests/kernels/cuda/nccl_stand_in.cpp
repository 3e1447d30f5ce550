// Stands in for libnccl.so.2: notes what it is asked and answers by a script. NCCL_STAND_IN_OLD
// leaves out what came with NCCL 2.13.
#include "tests/kernels/cuda/nccl_stand_in.h"

#include <atomic>

using parbench::test::NcclCall;
using parbench::test::NcclScript;

struct ncclComm {
  int rank = 0;
};

namespace {
std::array<ncclComm, 8> communicators;
}  // namespace

extern "C" {

NcclScript nccl_script;

int ncclGetVersion(int* version) {
  *version = nccl_script.version;
  return 0;
}

const char* ncclGetErrorString(int result) {
  return result == 5 ? "invalid usage" : "unhandled error";
}

#ifndef NCCL_STAND_IN_OLD
const char* ncclGetLastError(ncclComm*) { return "the words of the last error"; }
#endif

int ncclCommInitAll(ncclComm** made, int count, const int* devices) {
  if (nccl_script.init != 0) return nccl_script.init;
  for (int rank = 0; rank < count; ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    communicators[index].rank = rank;
    made[rank] = &communicators[index];
    nccl_script.devices[index] = devices[rank];
    ++nccl_script.alive;
  }
  return 0;
}

#ifndef NCCL_STAND_IN_OLD
struct UniqueId {
  std::array<char, 128> bytes;
};

int ncclGetUniqueId(UniqueId* id) {
  id->bytes.fill('i');
  return 0;
}

int ncclCommInitRankConfig(ncclComm** made, int ranks, UniqueId id, int rank, void*) {
  nccl_script.id = id.bytes.front();
  nccl_script.ranks = ranks;
  communicators.front().rank = rank;
  *made = communicators.data();
  ++nccl_script.alive;
  return nccl_script.init;
}

int ncclCommSplit(ncclComm*, int color, int key, ncclComm** made, void*) {
  ++nccl_script.splits;
  nccl_script.color = color;
  nccl_script.key = key;
  *made = nullptr;
  if (color == -1) return 0;  // NCCL_SPLIT_NOCOLOR
  *made = &communicators[static_cast<std::size_t>(nccl_script.splits)];
  (*made)->rank = key;
  ++nccl_script.alive;
  return nccl_script.split;
}
#endif

int ncclCommDestroy(ncclComm*) {
  --nccl_script.alive;
  ++nccl_script.destroyed;
  return 0;
}

int ncclCommAbort(ncclComm*) {
  --nccl_script.alive;
  ++std::atomic_ref(nccl_script.aborted);
  return 0;
}

int ncclCommGetAsyncError(ncclComm* communicator, int* error) {
  *error = communicator->rank == 1 ? nccl_script.asynchronous : 0;
  return 0;
}

int ncclGroupStart() {
  ++nccl_script.open_groups;
  return 0;
}

int ncclGroupEnd() {
  if (nccl_script.at_group_end) nccl_script.at_group_end();
  --nccl_script.open_groups;
  ++nccl_script.groups;
  return 0;
}

int ncclAllReduce(const void* send, void* receive, std::size_t count, int type, int reduction,
                  ncclComm* communicator, void* stream) {
  nccl_script.calls[nccl_script.call_count++] = NcclCall{send,      receive,
                                                         count,     type,
                                                         reduction, communicator->rank,
                                                         stream,    nccl_script.open_groups > 0};
  return communicator->rank == nccl_script.failing_rank ? 5 : 0;
}

int ncclAllGather(const void* send, void* receive, std::size_t count, int type,
                  ncclComm* communicator, void* stream) {
  return ncclAllReduce(send, receive, count, type, -1, communicator, stream);
}

int ncclReduceScatter(const void* send, void* receive, std::size_t count, int type, int reduction,
                      ncclComm* communicator, void* stream) {
  return ncclAllReduce(send, receive, count, type, reduction, communicator, stream);
}

int ncclBroadcast(const void* send, void* receive, std::size_t count, int type, int root,
                  ncclComm* communicator, void* stream) {
  nccl_script.root = root;
  return ncclAllReduce(send, receive, count, type, -1, communicator, stream);
}

int ncclReduce(const void* send, void* receive, std::size_t count, int type, int reduction,
               int root, ncclComm* communicator, void* stream) {
  nccl_script.root = root;
  return ncclAllReduce(send, receive, count, type, reduction, communicator, stream);
}

int ncclSend(const void* from, std::size_t count, int type, int peer, ncclComm* communicator,
             void* stream) {
  const int result = ncclAllReduce(from, nullptr, count, type, -1, communicator, stream);
  nccl_script.calls[nccl_script.call_count - 1].peer = peer;
  return result;
}

int ncclRecv(void* to, std::size_t count, int type, int peer, ncclComm* communicator,
             void* stream) {
  const int result = ncclAllReduce(nullptr, to, count, type, -1, communicator, stream);
  nccl_script.calls[nccl_script.call_count - 1].peer = peer;
  return result;
}

}  // extern "C"
