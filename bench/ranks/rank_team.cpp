// Meetings: every rank sends a value to rank 0, which combines them and sends the result to all.
#include "bench/ranks/rank_team.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <exception>

#include "bench/execution/clock.h"
#include "bench/execution/interrupt.h"
#include "bench/ranks/agreed_failure.h"
#include "bench/ranks/control/watchdog.h"
#include "kernels/base/error.h"
#include "kernels/base/number.h"

namespace parbench {
namespace {

using Seconds = ControlChannel::Seconds;

/// Allowed ratio between the durations of the same work on two ranks.
constexpr double max_slowness = 10;

constexpr Seconds default_silence = std::chrono::minutes(1);

/// Minimum limit of the wait for the end of the run, during which rank 0 writes its outputs.
constexpr Seconds min_end_limit = std::chrono::minutes(1);

/// Returns the seconds in an environment variable; nothing if it is not set.
std::optional<Seconds> seconds_in(const char* variable) {
  const char* const text = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe)
  if (text == nullptr) return std::nullopt;
  const auto seconds = number_in<double>(text);
  if (seconds && *seconds >= 2) return Seconds(*seconds);
  throw UsageError(
      fmt::format("{}='{}' is not a valid time; allowed: seconds, at least 2", variable, text));
}

}  // namespace

std::optional<Seconds> rank_patience() { return seconds_in("PARBENCH_RANK_PATIENCE"); }

RankTeam::RankTeam(std::unique_ptr<RankLink> link)
    : link_(std::move(link)),
      patience_(rank_patience()),
      silence_(seconds_in("PARBENCH_RANK_SILENCE").value_or(default_silence)) {
  channel_ = std::make_unique<ControlChannel>(*link_, silence_);
  link_->check_with([this] { channel_->check(); });
  clock_ = measure_clock_offset(*link_);
  meet();  // sets the time
}

RankTeam::~RankTeam() {
  Watchdog watchdog;  // MPI waits for all ranks
  watchdog.start(silence_,
                 fmt::format("{} has ended its run, and another rank has not within {:g} s",
                             name_of(rank()), silence_.count()));
  channel_->end(Frame::Kind::end);
  link_->check_with({});
  channel_.reset();
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
  meet();  // throws if a rank has failed
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

/// The value that a rank sends to a meeting, and the result that all receive.
struct RankTeam::Brought {
  bool interrupted = false;
  double time = 0;             // time of rank 0's clock, sent to all
  AgreedFailure failure = {};  // the failure that replaces the value of this rank
  std::string content = {};

  void fields(Archive& archive) { archive(interrupted, time, failure, content); }
};

/// Sends the value of each rank to rank 0, which combines them. Returns the combined value, or the
/// first failure.
RankTeam::Brought RankTeam::exchange_all(Brought own, const Combine& combine) {
  const ControlChannel::Limit limit(*channel_, wait_limit());
  own.interrupted = InterruptHandler::requested();
  Brought joint = own;
  if (leads()) {
    std::vector<std::string> all{std::move(own.content)};
    for (int other = 1; other < size(); ++other) {
      auto brought = unpacked<Brought>(channel_->receive(other));
      joint.interrupted = joint.interrupted || brought.interrupted;
      all.push_back(std::move(brought.content));
      if (brought.failure.type == AgreedFailure::Type::none) continue;
      if (joint.failure.type != AgreedFailure::Type::none) continue;
      joint.failure = std::move(brought.failure);
      joint.failure.by = name_of(other);
    }
    try {
      if (joint.failure.type == AgreedFailure::Type::none) joint.content = combine(all);
    } catch (...) {
      joint.failure = described(std::current_exception());
    }
    joint.time = steady_seconds();
    channel_->send(packed(joint));
  } else {
    channel_->send(packed(joint));
    joint = unpacked<Brought>(channel_->receive(0));
  }
  ++meetings_;
  has_refused_ = joint.failure.type != AgreedFailure::Type::none;
  met_ = std::chrono::steady_clock::now();
  interrupted_ = joint.interrupted;
  now_ = joint.time;
  return joint;
}

std::string RankTeam::meet_for(const std::string& own, const Combine& combine) {
  Brought joint = exchange_all({.content = own}, combine);
  if (has_refused_) throw_failure(joint.failure);
  return std::move(joint.content);
}

double RankTeam::broadcast(double value) {
  return unpacked<double>(meet_for(packed(value), [](const auto& all) { return all.front(); }));
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
  expected_.reset();  // the duration of the next work is unknown
  run(work, [this] {
    if (std::exchange(has_refused_, false)) throw;
    fail();
  });
  meet();
  expected_.reset();
}

void RankTeam::exchange(const std::function<void()>& work) {
  const ControlChannel::Limit limit(*channel_, wait_limit());
  run(work, [this] { give_up(described(std::current_exception()).text); });
}

void RankTeam::give_up(const std::string& reason) {
  if (!leads()) channel_->give_up(reason);
  throw RankLost(reason);
}

void RankTeam::stop_others() noexcept { channel_->end(Frame::Kind::stop); }

void RankTeam::wait_for_end() {
  const ControlChannel::Limit limit(*channel_, std::max(wait_limit(), min_end_limit));
  try {
    static_cast<void>(channel_->receive(0));
    give_up("it does something else than rank 0, a defect of parbench: please report it");
  } catch (const RunEnded&) {  // NOLINT(bugprone-empty-catch): the end of the run is expected
  }
}

/// Sends the exception that is being handled to a meeting, and throws the failure on which the
/// ranks agree.
void RankTeam::fail() {
  const Brought joint = exchange_all({.failure = described(std::current_exception())}, {});
  has_refused_ = true;
  if (leads()) throw;
  throw_failure(joint.failure);
}

}  // namespace parbench
