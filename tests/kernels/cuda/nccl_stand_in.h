// What the stand-in of NCCL answers, and what it was asked, by its symbol `nccl_script`.
#pragma once

#include <array>
#include <cstddef>
#include <functional>

namespace parbench::test {

/// One call of a collective.
struct NcclCall {
  const void* send = nullptr;
  void* receive = nullptr;
  std::size_t count = 0;
  int type = -1;
  int reduction = -1;  // −1: it adds nothing
  int rank = -1;
  void* stream = nullptr;
  bool in_group = false;
  int peer = -1;  // that it sends to or receives from
};

struct NcclScript {
  int version = 22809;
  int init = 0;  // results, as ncclResult_t
  int split = 0;
  int failing_rank = -1;         // whose collectives fail
  int asynchronous = 0;          // of rank 1
  char id = 0;                   // the first byte of the one by which a rank was joined,
  int ranks = 0;                 // with so many
  std::array<int, 8> devices{};  // as ncclCommInitAll got them
  int splits = 0;
  int color = 0;  // of the last split
  int key = 0;
  int alive = 0;  // communicators made and not ended
  int destroyed = 0;
  int aborted = 0;  // accessed as an atomic
  int open_groups = 0;
  int groups = 0;                      // ended
  std::function<void()> at_group_end;  // called by ncclGroupEnd
  std::array<NcclCall, 16> calls{};
  std::size_t call_count = 0;
  int root = -1;  // of the last broadcast or reduction to one rank
};

}  // namespace parbench::test
