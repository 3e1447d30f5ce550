// Communicators of NCCL's stand-in, whose members are in one process or in several.
#pragma once

#include <nccl.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "tests/cuda_stand_in/objects.h"

namespace parbench::stand_in {

enum class NcclKind { all_reduce, all_gather, reduce_scatter, broadcast, reduce, send, receive };

struct NcclOperation {
  NcclKind kind;
  std::string terms;  // text that must be equal at all members, or at sender and receiver
  std::size_t count;
  std::size_t element;  // bytes
  int root;             // of a message: the other member
  std::byte* from;
  std::byte* to;
};

/// File in /dev/shm, which begins with zeros and is unlinked when all members have joined.
class Board {
 public:
  static constexpr std::size_t max_members = 16;
  struct Split {
    std::atomic<bool> announced;
    int color;
    int key;
  };
  struct Member {
    std::atomic<int> joined;  // its device + 1
    std::array<Split, 64> splits;
  };
  struct Mailbox {
    std::atomic<bool> is_full;
    std::array<char, 128> terms;
    std::array<std::byte, 65536> part;
  };
  struct Shared {
    std::atomic<int> failure;  // ncclResult_t
    std::array<Member, max_members> members;
    std::array<std::array<Mailbox, max_members>, max_members> mail;  // by sender and receiver
  };

  explicit Board(std::string name);
  ~Board();
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  Shared* operator->() const { return shared_; }
  [[nodiscard]] Member& member(int rank) const {
    return shared_->members.at(static_cast<std::size_t>(rank));
  }
  void unlink() const;
  const std::string path;

 private:
  Shared* shared_;
};

/// Executes one collective, or messages that proceed independently.
void run(ncclComm& self, const Board& board, const std::vector<NcclOperation>& operations);

/// Longest wait for other members.
[[nodiscard]] std::chrono::seconds nccl_limit();

/// Writes the reason to stderr, and keeps it for ncclGetLastError.
ncclResult_t reject(ncclResult_t result, const std::string& reason);
/// Makes it the asynchronous error of all members, unless they have one.
ncclResult_t fail(const Board& board, ncclResult_t result, const std::string& reason);

}  // namespace parbench::stand_in

// NOLINTNEXTLINE(readability-identifier-naming): the vendor's name
struct ncclComm : parbench::stand_in::Object {
  ncclComm(const std::string& path, int ordinal, bool blocks)
      : Object("NCCL communicator"),
        board(std::make_shared<parbench::stand_in::Board>(path)),
        device(ordinal),
        blocking(blocks) {}
  void join(int own, int members) {
    rank = own;
    size = members;
    board->member(rank).joined = device + 1;
  }

  std::shared_ptr<parbench::stand_in::Board> board;
  int rank = 0;
  int size = 0;  // 0: not known yet
  int device;
  bool blocking;
  bool ready = false;  // whether the caller knows that the last initialisation or split has ended
  // the split in progress: its child, null for a member without colour, and where to return it
  ncclComm* child = nullptr;
  ncclComm** made = nullptr;
  std::size_t splits = 0;  // that have ended
  int queued = 0;          // operations in streams, without those of graphs
  std::shared_ptr<bool> captured =
      std::make_shared<bool>();  // each operation of a graph refers to it
  std::atomic<bool> busy = false;
  std::atomic<bool> aborted = false;
};
