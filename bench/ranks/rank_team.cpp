// Meetings: every rank sends its status to rank 0, which sends the verdict to all.
#include "bench/ranks/rank_team.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
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

ControlChannel::Options channel_options(std::optional<Seconds> patience) {
  ControlChannel::Options options;
  if (patience) options.patience = *patience;
  if (const auto silence = seconds_in("PARBENCH_RANK_SILENCE")) {
    options.silence = options.notice = *silence;
  }
  return options;
}

std::string encoded(const std::vector<double>& values) {
  std::string payload;
  for (const double value : values) append_number(payload, std::bit_cast<std::uint64_t>(value));
  return payload;
}

std::string named(int rank, const std::string& host) {
  return fmt::format("rank {} ({})", rank, host);
}

}  // namespace

std::optional<Seconds> rank_patience() { return seconds_in("PARBENCH_RANK_PATIENCE"); }

RankTeam::RankTeam(std::unique_ptr<RankLink> link)
    : link_(std::make_unique<TimedLink>(std::move(link))),
      patience_(rank_patience()),
      options_(channel_options(patience_)) {
  channel_ =
      std::make_unique<ControlChannel>(connect_ranks(*link_), named(rank(), host_name()), options_);
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
      options_.silence, fmt::format("{} has ended its run, and another rank has not within {:g} s",
                                    name_of(rank()), options_.silence.count()));
  link_.reset();
}

std::string RankTeam::name_of(int rank) const { return channel_->name_of(rank); }

void RankTeam::check() const { channel_->check(); }

/// Returns the limit of a wait that begins now.
Seconds RankTeam::wait_limit() const {
  if (patience_ || !expected_) return options_.patience;
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
  const std::string combined = meet_for(encoded(values), [&](const std::vector<std::string>& all) {
    for (const std::string& payload : all) {
      PayloadReader reader(payload);
      std::vector<double>& of_rank = by_rank.emplace_back(values.size());
      for (double& value : of_rank) value = std::bit_cast<double>(reader.number());
      std::ranges::transform(values, of_rank, values.begin(), std::ranges::max);
    }
    return encoded(values);
  });
  PayloadReader reader(combined);
  for (double& value : values) value = std::bit_cast<double>(reader.number());
  return values;
}

std::vector<std::string> RankTeam::meet(const std::string& own) {
  const std::string all = meet_for(own, [](const std::vector<std::string>& brought) {
    std::string joined;
    for (const std::string& one : brought) append_text(joined, one);
    return joined;
  });
  PayloadReader reader(all);
  std::vector<std::string> brought;
  for (int one = 0; one < size(); ++one) brought.push_back(reader.text());
  return brought;
}

std::string RankTeam::meet_for(const std::string& own, const Combine& combine) {
  const ControlChannel::Limit limit(*channel_, wait_limit());
  ++meetings_;
  std::string status;
  append_number(status, InterruptHandler::requested() ? 1 : 0);
  append_text(status, own);
  std::string verdict;
  if (leads()) {
    bool interrupted = false;
    std::vector<std::string> brought;
    for (const std::string& payload : collect(status)) {
      PayloadReader reader(payload);
      interrupted = reader.number() != 0 || interrupted;
      brought.push_back(reader.text());
    }
    append_number(verdict, interrupted ? 1 : 0);
    append_text(verdict, combine(brought));
    channel_->send_to_all({FrameKind::verdict, meetings_, verdict});
  } else {
    channel_->send(0, {FrameKind::status, meetings_, status});
    verdict = hear(FrameKind::verdict);
  }
  has_refused_ = false;
  met_ = std::chrono::steady_clock::now();
  PayloadReader reader(verdict);
  interrupted_ = reader.number() != 0;
  return reader.text();
}

double RankTeam::broadcast(double value) {
  std::string payload;
  append_number(payload, std::bit_cast<std::uint64_t>(value));
  if (leads()) {
    channel_->send_to_all({FrameKind::value, meetings_, payload});
    return value;
  }
  const ControlChannel::Limit limit(*channel_, wait_limit());
  payload = hear(FrameKind::value);
  return std::bit_cast<double>(PayloadReader(payload).number());
}

void RankTeam::together(const std::function<void()>& work) {
  has_refused_ = false;
  expected_.reset();  // nothing is known of the work
  try {
    work();
  } catch (const RunEnded&) {
    throw;
  } catch (const TimedOut& error) {
    if (leads()) throw;
    give_up(error.what());
  } catch (...) {
    if (std::exchange(has_refused_, false)) throw;
    fail(std::current_exception());
  }
  meet();
  expected_.reset();
}

void RankTeam::exchange(const std::function<void()>& work) {
  const ControlChannel::Limit limit(*channel_, wait_limit());
  try {
    work();
  } catch (const RunEnded&) {
    throw;
  } catch (const TimedOut& error) {
    if (leads()) throw;
    give_up(error.what());
  } catch (...) {
    give_up(text_of_failure(std::current_exception()));
  }
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
  std::string refusal;
  for (int other = 1; other < size(); ++other) {
    Frame frame = channel_->receive(other);
    while (frame.number < meetings_) frame = channel_->receive(other);  // of one that was refused
    if (frame.kind == FrameKind::status) statuses.push_back(std::move(frame.payload));
    if (frame.kind != FrameKind::failure || !refusal.empty()) continue;
    append_text(refusal, name_of(other));
    append_text(refusal, frame.payload);
  }
  if (!refusal.empty()) {
    channel_->send_to_all({FrameKind::refusal, meetings_, refusal});
    throw_refusal(refusal);
  }
  return statuses;
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
  if (leads()) {
    std::string refusal;
    append_text(refusal, {});
    append_text(refusal, encoded_failure(failure));
    channel_->send_to_all({FrameKind::refusal, meetings_, refusal});
    std::rethrow_exception(failure);
  }
  channel_->send(0, {FrameKind::failure, meetings_, encoded_failure(failure)});
  for (;;) {
    const Frame frame = channel_->receive(0);
    if (frame.kind == FrameKind::end) throw RunEnded();
    if (frame.kind == FrameKind::refusal) throw_refusal(frame.payload);
  }
}

void RankTeam::throw_refusal(const std::string& payload) {
  has_refused_ = true;
  PayloadReader reader(payload);
  const std::string by = reader.text();
  throw_failure(reader.text(), by);
}

}  // namespace parbench
