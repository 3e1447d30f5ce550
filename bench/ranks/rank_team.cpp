// Meetings: every rank sends its status to rank 0, which sends the verdict to all.
#include "bench/ranks/rank_team.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "bench/execution/interrupt.h"
#include "bench/ranks/agreed_failure.h"
#include "bench/ranks/control/watchdog.h"
#include "kernels/base/error.h"

namespace parbench {
namespace {

using Seconds = ControlChannel::Seconds;

/// Another rank does the same work, and may take so many times as long.
constexpr double max_slowness = 10;

constexpr Seconds default_silence = std::chrono::minutes(1);

/// Rank 0 writes its outputs before it ends the run, however short the limit of other waits is.
constexpr Seconds min_end_limit = std::chrono::minutes(1);

/// The seconds in a variable of the environment; nothing where it is not set.
std::optional<Seconds> seconds_in(const char* variable) {
  const char* const text = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe)
  if (text == nullptr) return std::nullopt;
  char* end = nullptr;
  const double seconds = std::strtod(text, &end);
  if (end == text || *end != '\0' || !(seconds >= 2)) {
    throw UsageError(
        fmt::format("{}='{}' is not a valid time; allowed: seconds, at least 2", variable, text));
  }
  return Seconds(seconds);
}

std::string named(int rank, const std::string& host) {
  return fmt::format("rank {} ({})", rank, host);
}

}  // namespace

std::optional<Seconds> rank_patience() { return seconds_in("PARBENCH_RANK_PATIENCE"); }

RankTeam::RankTeam(std::unique_ptr<RankLink> link)
    : link_(std::move(link)),
      patience_(rank_patience()),
      silence_(seconds_in("PARBENCH_RANK_SILENCE").value_or(default_silence)) {
  channel_ =
      std::make_unique<ControlChannel>(connect_ranks(*link_), named(rank(), host_name()), silence_);
  link_->check_with([this] { channel_->check(); });
  clock_ = measure_clock_offset(*link_);
}

RankTeam::~RankTeam() {
  channel_->expect_end();
  try {
    if (leads()) channel_->send_to_all({FrameKind::end});
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): a rank that is lost needs no end
  }
  // MPI waits for all ranks, whose signs of life may end meanwhile.
  const Watchdog watchdog(
      silence_, fmt::format("{} has ended its run, and another rank has not within {:g} s",
                            name_of(rank()), silence_.count()));
  link_.reset();
}

std::string RankTeam::name_of(int rank) const { return channel_->name_of(rank); }

void RankTeam::check() const { channel_->check(); }

/// Returns the limit of a wait that begins now.
Seconds RankTeam::wait_limit() const {
  if (patience_ || !expected_) return patience_.value_or(default_rank_patience);
  return std::max(*expected_, max_slowness * Seconds(std::chrono::steady_clock::now() - met_));
}

void RankTeam::share(int owner, void* data, std::size_t bytes) {
  meet();  // a rank that has failed takes no part
  constexpr int tag = 0;
  auto* const memory = static_cast<std::byte*>(data);
  exchange([&] {
    if (rank() != owner) return link_->receive(owner, tag, memory, bytes);
    for (int other = 0; other < size(); ++other) {
      if (other != owner) link_->send(other, tag, memory, bytes);
    }
  });
}

std::vector<double> RankTeam::largest(std::vector<double> values,
                                      std::vector<std::vector<double>>& by_rank) {
  return unpacked<std::vector<double>>(
      meet_for(packed(values), [&](const std::vector<std::string>& all) {
        for (const std::string& payload : all) {
          by_rank.push_back(unpacked<std::vector<double>>(payload));
          std::ranges::transform(values, by_rank.back(), values.begin(), std::ranges::max);
        }
        return packed(values);
      }));
}

std::string RankTeam::meet_for(const std::string& own, const Combine& combine) {
  using Brought = std::pair<bool, std::string>;  // whether a rank is interrupted, and its own
  const ControlChannel::Limit limit(*channel_, wait_limit());
  ++meetings_;
  const std::string status = packed(Brought(InterruptHandler::requested(), own));
  Brought joint;
  if (leads()) {
    std::vector<std::string> all;
    for (const std::string& payload : collect(status)) {
      auto [interrupted, brought] = unpacked<Brought>(payload);
      joint.first = joint.first || interrupted;
      all.push_back(std::move(brought));
    }
    joint.second = combine(all);
    channel_->send_to_all({FrameKind::verdict, meetings_, packed(joint)});
  } else {
    channel_->send(0, {FrameKind::status, meetings_, status});
    joint = unpacked<Brought>(hear(FrameKind::verdict));
  }
  has_refused_ = false;
  met_ = std::chrono::steady_clock::now();
  interrupted_ = joint.first;
  return joint.second;
}

double RankTeam::broadcast(double value) {
  if (leads()) {
    channel_->send_to_all({FrameKind::value, meetings_, packed(value)});
    return value;
  }
  const ControlChannel::Limit limit(*channel_, wait_limit());
  return unpacked<double>(hear(FrameKind::value));
}

void RankTeam::run(const std::function<void()>& work, const std::function<void()>& failed) {
  try {
    work();
  } catch (const RunEnded&) {
    throw;
  } catch (const TimedOut& error) {
    if (leads()) throw;
    give_up(error.what());
  } catch (...) {
    failed();
  }
}

void RankTeam::together(const std::function<void()>& work) {
  has_refused_ = false;
  expected_.reset();  // nothing is known of the work
  run(work, [this] {
    if (std::exchange(has_refused_, false)) throw;
    fail(std::current_exception());
  });
  meet();
  expected_.reset();
}

void RankTeam::exchange(const std::function<void()>& work) {
  const ControlChannel::Limit limit(*channel_, wait_limit());
  run(work, [this] { give_up(described(std::current_exception()).text); });
}

void RankTeam::give_up(const std::string& reason) {
  if (!leads()) channel_->give_up({FrameKind::fatal, meetings_, reason});
  throw RankLost(reason);
}

void RankTeam::stop_others() noexcept {
  try {
    channel_->expect_end();
    channel_->send_to_all({FrameKind::stop});
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): they notice rank 0's end too
  }
}

void RankTeam::wait_for_end() {
  const ControlChannel::Limit limit(*channel_, std::max(wait_limit(), min_end_limit));
  try {
    for (;;) static_cast<void>(hear(FrameKind::end));
  } catch (const RunEnded&) {  // NOLINT(bugprone-empty-catch): that is what it waits for
  }
}

/// On rank 0: the statuses of all, its own first. Throws the failure of one that has none.
std::vector<std::string> RankTeam::collect(const std::string& own) {
  std::vector<std::string> statuses{own};
  std::optional<AgreedFailure> refusal;
  for (int other = 1; other < size(); ++other) {
    Frame frame = channel_->receive(other);
    while (frame.number < meetings_) frame = channel_->receive(other);  // of one that was refused
    if (frame.kind == FrameKind::status) statuses.push_back(std::move(frame.payload));
    if (frame.kind != FrameKind::failure || refusal) continue;
    refusal = unpacked<AgreedFailure>(frame.payload);
    refusal->by = name_of(other);
  }
  if (!refusal) return statuses;
  const std::string payload = packed(*refusal);
  channel_->send_to_all({FrameKind::refusal, meetings_, payload});
  throw_refusal(payload);
}

/// On the other ranks: waits for the next frame of that kind.
std::string RankTeam::hear(FrameKind wanted) {
  Frame frame = channel_->receive(0);
  if (frame.kind == FrameKind::refusal) {
    meetings_ = frame.number;
    throw_refusal(frame.payload);
  }
  if (frame.kind == FrameKind::end) {
    channel_->expect_end();
    throw RunEnded();
  }
  if (frame.kind != wanted) {
    give_up("it does something else than rank 0, a defect of parbench: please report it");
  }
  return std::move(frame.payload);
}

/// Comes to a meeting with a failure instead of a status.
void RankTeam::fail(const std::exception_ptr& failure) {
  const ControlChannel::Limit limit(*channel_, wait_limit());
  ++meetings_;
  const std::string payload = packed(described(failure));
  if (leads()) {
    channel_->send_to_all({FrameKind::refusal, meetings_, payload});
    std::rethrow_exception(failure);
  }
  channel_->send(0, {FrameKind::failure, meetings_, payload});
  for (;;) {
    const Frame frame = channel_->receive(0);
    if (frame.kind == FrameKind::end) throw RunEnded();
    if (frame.kind == FrameKind::refusal) throw_refusal(frame.payload);
  }
}

void RankTeam::throw_refusal(const std::string& payload) {
  has_refused_ = true;
  throw_failure(unpacked<AgreedFailure>(payload));
}

}  // namespace parbench
