// Operations of NCCL's stand-in, which tasks of streams execute: messages between two members, one
// at a time, and sums of what they have brought.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "tests/cuda_stand_in/nccl/communicator.h"

namespace parbench::stand_in {
namespace {

struct Message {
  int peer;
  bool is_sent;
  std::byte* data;
  std::size_t bytes;
  const std::string* terms;
  std::size_t moved = 0;
  bool has_ended = false;
};

/// Moves a part between the message and its mailbox. Returns false if the mailbox is not ready.
bool move_part(const ncclComm& self, const Board& board, Message& message) {
  const auto own = static_cast<std::size_t>(self.rank);
  const auto peer = static_cast<std::size_t>(message.peer);
  Board::Mailbox& box = message.is_sent ? board->mail[own][peer] : board->mail[peer][own];
  if (box.is_full == message.is_sent) return false;
  const std::size_t bytes = std::min(box.part.size(), message.bytes - message.moved);
  if (message.is_sent) {
    box.terms[message.terms->copy(box.terms.data(), box.terms.size() - 1)] = '\0';
    if (bytes > 0) std::memcpy(box.part.data(), message.data + message.moved, bytes);
  } else if (*message.terms != box.terms.data()) {
    fail(board, ncclInvalidUsage,
         fmt::format("NCCL: unequal order: member {} is at {}, member {} at {}", own,
                     *message.terms, peer, box.terms.data()));
    return false;
  } else if (bytes > 0) {
    std::memcpy(message.data + message.moved, box.part.data(), bytes);
  }
  message.moved += bytes;
  message.has_ended = message.moved == message.bytes;
  box.is_full = message.is_sent;
  return true;
}

/// Messages between two members keep their order. Returns false if the communicator has failed.
bool exchange(const ncclComm& self, const Board& board, std::vector<Message> messages) {
  Clock::time_point end = Clock::now() + nccl_limit();
  for (;;) {
    std::set<std::pair<int, bool>> waiting;
    const Message* first = nullptr;
    for (Message& message : messages) {
      if (message.has_ended || waiting.contains({message.peer, message.is_sent})) continue;
      if (move_part(self, board, message)) end = Clock::now() + nccl_limit();
      if (message.has_ended) continue;
      waiting.emplace(message.peer, message.is_sent);
      if (first == nullptr) first = &message;
    }
    if (first == nullptr) return true;
    if (self.aborted || board->failure != ncclSuccess) return false;
    if (Clock::now() > end) {
      fail(board, ncclRemoteError,
           fmt::format("NCCL: {} of member {} waits for member {} longer than {} s", *first->terms,
                       self.rank, first->peer, nccl_limit().count()));
    }
    {
      const std::lock_guard lock(state().mutex);
      if (state().lost != cudaSuccess) return false;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

/// A collective, piece by piece; the first piece has no bytes, so that all members compare the
/// terms.
void run_collective(const ncclComm& self, const Board& board, const NcclOperation& all) {
  constexpr std::size_t max_piece = 1U << 20U;
  const NcclKind kind = all.kind;
  const bool sums = kind != NcclKind::all_gather && kind != NcclKind::broadcast;
  const bool gets_all = kind != NcclKind::reduce || self.rank == all.root;
  const std::size_t bytes = all.count * all.element;
  std::vector<std::vector<float>> parts(static_cast<std::size_t>(self.size));
  for (std::size_t first = 0, piece = 0;; piece = std::min(max_piece, bytes - first)) {
    std::vector<Message> messages;
    for (int peer = 0; peer < self.size; ++peer) {
      const auto block = static_cast<std::size_t>(peer) * bytes;
      auto& part = parts[static_cast<std::size_t>(peer)];
      if (sums) part.resize(piece / sizeof(float));
      if (piece == 0 ||
          (kind == NcclKind::broadcast ? self.rank == all.root
                                       : kind != NcclKind::reduce || peer == all.root)) {
        std::byte* from = all.from + (kind == NcclKind::reduce_scatter ? block : 0) + first;
        messages.push_back({peer, true, from, piece, &all.terms});
      }
      if (piece == 0 || (kind == NcclKind::broadcast ? peer == all.root : gets_all)) {
        std::byte* to = sums ? reinterpret_cast<std::byte*>(part.data())
                             : all.to + (kind == NcclKind::all_gather ? block : 0) + first;
        messages.push_back({peer, false, to, piece, &all.terms});
      }
    }
    if (!exchange(self, board, std::move(messages))) return;
    for (std::size_t i = 0; sums && gets_all && i < piece / sizeof(float); ++i) {
      float sum = 0;
      for (const auto& part : parts) sum += part[i];
      std::memcpy(all.to + first + i * sizeof sum, &sum, sizeof sum);
    }
    first += piece;
    if (first == bytes) return;
  }
}

}  // namespace

std::chrono::seconds nccl_limit() {
  return std::chrono::seconds(setting("PARBENCH_STAND_IN_NCCL_SECONDS", 30));
}

void run(ncclComm& self, const Board& board, const std::vector<NcclOperation>& operations) {
  if (self.aborted) return;
  if (self.busy.exchange(true)) {
    fail(board, ncclInvalidUsage, "NCCL: operations of a member at once: streams without order");
    return;
  }
  if (operations.front().kind < NcclKind::send) {
    run_collective(self, board, operations.front());
  } else {
    std::vector<Message> messages;
    for (const NcclOperation& each : operations) {
      const bool is_sent = each.kind == NcclKind::send;
      messages.push_back({each.root, is_sent, is_sent ? each.from : each.to,
                          each.count * each.element, &each.terms});
    }
    (void)exchange(self, board, std::move(messages));
  }
  self.busy = false;
}

Board::Board(std::string name) : path(std::move(name)) {
  constexpr int permissions = 0600;
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, permissions);
  if (file < 0 || ftruncate(file, sizeof(Shared)) != 0) refuse("NCCL", "no file " + path);
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) refuse("NCCL", "no shared memory in " + path);
  (void)close(file);
  shared_ = static_cast<Shared*>(memory);
}

Board::~Board() { (void)munmap(shared_, sizeof(Shared)); }

void Board::unlink() const { (void)::unlink(path.c_str()); }

}  // namespace parbench::stand_in
