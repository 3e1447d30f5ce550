// Calls as payloads, with times on the clock of rank 0.
#include "bench/ranks/timeline_parts.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "bench/ranks/control/frames.h"

namespace parbench {
namespace {

void append_double(std::string& payload, double value) {
  append_number(payload, std::bit_cast<std::uint64_t>(value));
}

void append_time(std::string& payload, Nanoseconds time) {
  append_number(payload, std::bit_cast<std::uint64_t>(time));
}

void append_call(std::string& payload, const TimedCall& call, Nanoseconds shift) {
  append_number(payload, static_cast<std::uint64_t>(call.task));
  append_number(payload, static_cast<std::uint64_t>(call.lane));
  append_text(payload, call.name);
  for (const Nanoseconds time :
       {call.enqueued.begin, call.enqueued.end, call.ran.begin, call.ran.end}) {
    append_time(payload, time + shift);
  }
  for (const double part : {call.work.flops, call.work.bytes, call.work.seconds}) {
    append_double(payload, part);
  }
  for (const std::string* text : {&call.layer, &call.tensors, &call.kernel}) {
    append_text(payload, *text);
  }
  append_number(payload, call.reference ? 1 : 0);
  append_time(payload, call.team_waiting);
}

/// Reads what the functions above have appended.
class PartReader {
 public:
  explicit PartReader(const std::string& payload) : reader_(payload) {}

  [[nodiscard]] std::uint64_t number() { return reader_.number(); }
  [[nodiscard]] Nanoseconds time() { return std::bit_cast<Nanoseconds>(reader_.number()); }
  [[nodiscard]] double real() { return std::bit_cast<double>(reader_.number()); }

  [[nodiscard]] TimedCall call() {
    TimedCall call;
    call.task = static_cast<TaskId>(reader_.number());
    call.lane = static_cast<LaneId>(reader_.number());
    call.name = reader_.text();
    for (Nanoseconds* one :
         {&call.enqueued.begin, &call.enqueued.end, &call.ran.begin, &call.ran.end}) {
      *one = time();
    }
    for (double* part : {&call.work.flops, &call.work.bytes, &call.work.seconds}) *part = real();
    for (std::string* text : {&call.layer, &call.tensors, &call.kernel}) *text = reader_.text();
    call.reference = reader_.number() != 0;
    call.team_waiting = time();
    return call;
  }

 private:
  PayloadReader reader_;
};

}  // namespace

Timeline joined(RankTeam& team, const Recording& own) {
  const Timeline& part = own.timeline;
  const Nanoseconds shift = nanoseconds_of(own.origin - team.clock().ahead);
  std::string payload;
  append_number(payload, part.calls.empty() ? 0 : 1);
  append_time(payload, part.begin + shift);
  append_time(payload, part.clock_error + nanoseconds_of(team.clock().error));
  append_number(payload, part.calls.size());
  for (const TimedCall& call : part.calls) append_call(payload, call, shift);

  Timeline all;
  all.graph = part.graph;
  bool is_first = true;
  for (const std::string& brought : team.meet(payload)) {
    PartReader reader(brought);
    const bool takes_part = reader.number() != 0;
    const Nanoseconds begin = reader.time();
    const Nanoseconds error = reader.time();
    if (takes_part) {
      all.begin = is_first ? begin : std::min(all.begin, begin);
      is_first = false;
      all.clock_error = std::max(all.clock_error, 2 * error);  // of two clocks, each on its side
    }
    for (std::uint64_t left = reader.number(); left > 0; --left) all.calls.push_back(reader.call());
  }
  const Nanoseconds origin = all.begin;
  for (TimedCall& call : all.calls) {
    for (Nanoseconds* time :
         {&call.enqueued.begin, &call.enqueued.end, &call.ran.begin, &call.ran.end}) {
      *time -= origin;
    }
    all.end = std::max(all.end, call.ran.end);
  }
  all.begin = 0;
  std::ranges::stable_sort(all.calls, {}, [](const TimedCall& call) { return call.ran.begin; });
  for (const TimedCall& call : all.calls) all.begin = std::min(all.begin, call.ran.begin);
  return all;
}

}  // namespace parbench
