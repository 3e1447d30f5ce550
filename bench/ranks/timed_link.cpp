// A clock around each call.
#include "bench/ranks/timed_link.h"

namespace parbench {

class TimedLink::Inside {
 public:
  explicit Inside(Occupancy& occupancy) : occupancy_(occupancy) { occupancy_.enter(); }
  ~Inside() { occupancy_.leave(); }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  Occupancy& occupancy_;
};

void TimedLink::Occupancy::enter() {
  const std::lock_guard lock(mutex_);
  if (threads_++ == 0) begin_ = std::chrono::steady_clock::now();
}

void TimedLink::Occupancy::leave() {
  const std::lock_guard lock(mutex_);
  if (--threads_ == 0) sum_ += std::chrono::steady_clock::now() - begin_;
}

double TimedLink::Occupancy::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(sum_, {}).count();
}

TimedLink::Times TimedLink::take() { return {waits_.take(), barrier_.take()}; }

void TimedLink::send(int to, int tag, const std::byte* data, std::size_t bytes) {
  const Inside inside(waits_);
  link_->send(to, tag, data, bytes);
}

void TimedLink::receive(int from, int tag, std::byte* data, std::size_t bytes) {
  const Inside inside(waits_);
  link_->receive(from, tag, data, bytes);
}

void TimedLink::barrier() {
  const Inside inside(barrier_);
  link_->barrier();
}

void TimedLink::collective(Collective collective, std::byte* data, std::size_t bytes,
                           const std::byte* input) {
  const Inside inside(waits_);
  link_->collective(collective, data, bytes, input);
}

void TimedLink::all_reduce(RankAllReduce by, const RankSet& set, std::byte* data,
                           std::size_t bytes) {
  const Inside inside(waits_);
  link_->all_reduce(by, set, data, bytes);
}

}  // namespace parbench
