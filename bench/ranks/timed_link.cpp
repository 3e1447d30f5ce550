// A clock around each call.
#include "bench/ranks/timed_link.h"

#include <chrono>

namespace parbench {
namespace {

/// Adds its life to a sum.
class Stopwatch {
 public:
  explicit Stopwatch(std::atomic<std::int64_t>& sum) : sum_(sum) {}
  ~Stopwatch() {
    const auto passed = std::chrono::steady_clock::now() - begin_;
    sum_ += std::chrono::duration_cast<std::chrono::nanoseconds>(passed).count();
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  std::atomic<std::int64_t>& sum_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

double in_seconds(std::int64_t nanoseconds) { return 1e-9 * static_cast<double>(nanoseconds); }

}  // namespace

TimedLink::Times TimedLink::take() {
  return {in_seconds(waits_.exchange(0)), in_seconds(barrier_.exchange(0))};
}

void TimedLink::send(int to, int tag, const std::byte* data, std::size_t bytes) {
  const Stopwatch watch(waits_);
  link_->send(to, tag, data, bytes);
}

void TimedLink::receive(int from, int tag, std::byte* data, std::size_t bytes) {
  const Stopwatch watch(waits_);
  link_->receive(from, tag, data, bytes);
}

void TimedLink::barrier() {
  const Stopwatch watch(barrier_);
  link_->barrier();
}

void TimedLink::collective(Collective collective, std::byte* data, std::size_t bytes,
                           const std::byte* input) {
  const Stopwatch watch(waits_);
  link_->collective(collective, data, bytes, input);
}

void TimedLink::all_reduce(const RankSet& set, std::byte* data, std::size_t bytes) {
  const Stopwatch watch(waits_);
  link_->all_reduce(set, data, bytes);
}

}  // namespace parbench
