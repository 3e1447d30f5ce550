// Rank 0 asks each rank in turn for its time.
#include "bench/ranks/clock_offset.h"

#include <cstddef>

#include "bench/execution/clock.h"

namespace parbench {
namespace {

constexpr int round_trips = 16;
constexpr int tag = 0;

template <class Value>
void send(RankLink& link, int to, const Value& value) {
  link.send(to, tag, reinterpret_cast<const std::byte*>(&value), sizeof(value));
}

template <class Value>
Value receive(RankLink& link, int from) {
  Value value{};
  link.receive(from, tag, reinterpret_cast<std::byte*>(&value), sizeof(value));
  return value;
}

ClockOffset offset_of(RankLink& link, int rank) {
  ClockOffset best{.ahead = 0, .error = 1e9};
  for (int i = 0; i < round_trips; ++i) {
    const double sent = steady_seconds();
    send(link, rank, sent);
    const auto there = receive<double>(link, rank);
    const double back = steady_seconds();
    const double error = (back - sent) / 2;
    if (error < best.error) best = {.ahead = there - (sent + error), .error = error};
  }
  return best;
}

}  // namespace

ClockOffset measure_clock_offset(RankLink& link) {
  if (link.rank() == 0) {
    for (int rank = 1; rank < link.size(); ++rank) send(link, rank, offset_of(link, rank));
    return {};
  }
  for (int i = 0; i < round_trips; ++i) {
    static_cast<void>(receive<double>(link, 0));
    send(link, 0, steady_seconds());
  }
  return receive<ClockOffset>(link, 0);
}

}  // namespace parbench
