// Names of all-reduces, sets of ranks, and times of waits.
#include "kernels/core/ranks/rank_link.h"

#include <numeric>
#include <utility>

namespace parbench {
namespace {

class Inside {
 public:
  explicit Inside(Occupancy& occupancy) : occupancy_(occupancy) { occupancy_.enter(); }
  ~Inside() { occupancy_.leave(); }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  Occupancy& occupancy_;
};

}  // namespace

RankSet RankSet::all(int size) {
  RankSet set{.ranks = std::vector<int>(static_cast<std::size_t>(size))};
  std::iota(set.ranks.begin(), set.ranks.end(), 0);
  return set;
}

std::string_view name_of(RankAllReduce by) {
  switch (by) {
    case RankAllReduce::library:
      return "mpi";
    case RankAllReduce::shared_memory:
      return "shared-memory";
    case RankAllReduce::doubling:
      return "doubling";
    case RankAllReduce::ring:
      return "rank-ring";
    case RankAllReduce::hierarchical:
      break;
  }
  return "hierarchical";
}

void Occupancy::enter() {
  const std::lock_guard lock(mutex_);
  if (threads_++ == 0) begin_ = std::chrono::steady_clock::now();
}

void Occupancy::leave() {
  const std::lock_guard lock(mutex_);
  if (--threads_ == 0) sum_ += std::chrono::steady_clock::now() - begin_;
}

double Occupancy::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(sum_, {}).count();
}

void RankLink::send(int to, int tag, const std::byte* data, std::size_t bytes) {
  const Inside inside(waits_);
  send_message(to, tag, data, bytes);
}

void RankLink::receive(int from, int tag, std::byte* data, std::size_t bytes) {
  const Inside inside(waits_);
  receive_message(from, tag, data, bytes);
}

void RankLink::barrier() {
  const Inside inside(barrier_);
  wait_for_all();
}

void RankLink::collective(Collective collective, std::byte* data, std::size_t bytes,
                          const std::byte* input) {
  const Inside inside(waits_);
  run(collective, data, bytes, input);
}

void RankLink::all_reduce(RankAllReduce by, const RankSet& set, std::byte* data,
                          std::size_t bytes) {
  const Inside inside(waits_);
  add_up(by, set, data, bytes);
}

}  // namespace parbench
