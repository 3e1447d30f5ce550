// One thread polls all connections.
#include "bench/ranks/control/control_channel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "bench/output/exit_code.h"

namespace parbench {
namespace {

using Seconds = ControlChannel::Seconds;

constexpr auto sign_period = std::chrono::seconds(1);
constexpr int poll_milliseconds = 100;
/// A rank reports that it waits for others if one of its threads has checked the limit of its wait
/// within this time.
constexpr auto freshness = std::chrono::seconds(1);
constexpr auto longest_sleep = std::chrono::milliseconds(200);

std::string hanging(const std::string& ranks, Seconds limit) {
  return fmt::format(
      "{} hangs: it did not reach the point where the other ranks wait within {:g} s; if its work "
      "takes longer, raise the limit with PARBENCH_RANK_PATIENCE=SECONDS",
      ranks, limit.count());
}

}  // namespace

ControlChannel::ControlChannel(RankLink& link, Seconds silence)
    : rank_(link.rank()), silence_(silence) {
  Connections made = connect_ranks(link);
  hosts_ = std::move(made.hosts);
  for (auto& [rank, connection] : made.connections) {
    peers_[rank].connection = std::move(connection);
  }
  thread_ = std::thread([this] { work(); });
}

ControlChannel::~ControlChannel() {
  stopping_ = true;
  thread_.join();
}

std::string ControlChannel::name_of(int rank) const {
  return fmt::format("rank {} ({})", rank, hosts_.at(static_cast<std::size_t>(rank)));
}

void ControlChannel::send_to_all(const Frame& frame) {
  const std::string packet = packed(frame);
  for (auto& [rank, peer] : peers_) {
    const std::lock_guard lock(peer.sending);
    peer.connection.send(packet);
  }
}

std::string ControlChannel::receive(int from) {
  Peer& sender = peers_.at(from);
  std::unique_lock lock(mutex_);
  while (sender.contents.empty() && !ends_) {
    throw_if_over(from);
    changed_.wait_for(lock, longest_sleep);
  }
  if (sender.contents.empty()) throw RunEnded();
  std::string content = std::move(sender.contents.front());
  sender.contents.pop_front();
  return content;
}

void ControlChannel::check() {
  const std::lock_guard lock(mutex_);
  throw_if_over(0);
}

/// Throws RankLost if a rank is lost or the limit has passed. Called with the mutex held by a
/// thread that waits for other ranks.
void ControlChannel::throw_if_over(int first) {
  waited_ = Clock::now();
  const bool overdue = deadline_ && waited_ > *deadline_;
  if (lost_.empty() && !overdue) return;
  const std::string text = lost_.empty() ? overdue_ranks(first) : lost_;
  if (!std::exchange(is_noticed_, true)) {
    watchdog_.stop();
    // The thread that writes the report may still wait for a thread that never notices the loss.
    if (deadline_) watchdog_.start(silence_, text);
  }
  throw RankLost(text);
}

ControlChannel::Limit::Limit(ControlChannel& channel, Seconds seconds) : channel_(channel) {
  const std::lock_guard lock(channel_.mutex_);
  is_outermost_ = !channel_.deadline_;
  if (!is_outermost_) return;
  if (!channel_.leads()) seconds += channel_.silence_;
  channel_.limited_since_ = Clock::now();
  channel_.deadline_ =
      channel_.limited_since_ + std::chrono::duration_cast<Clock::duration>(seconds);
  if (channel_.is_unnoticed()) return;
  channel_.watchdog_.start(seconds + channel_.silence_,
                           hanging(channel_.name_of(channel_.rank_), seconds));
}

ControlChannel::Limit::~Limit() {
  if (!is_outermost_) return;
  const std::lock_guard lock(channel_.mutex_);
  channel_.deadline_.reset();
  if (!channel_.is_unnoticed()) channel_.watchdog_.stop();
}

void ControlChannel::give_up(const std::string& reason) {
  send_to_all({Frame::Kind::fatal, reason});
  std::this_thread::sleep_for(silence_);
  end_run(reason);
}

void ControlChannel::end(Frame::Kind kind) {
  ends_ = true;
  if (leads()) send_to_all({kind});
}

/// Returns the error for a limit that has passed. It names the ranks from `first` on that have sent
/// no content since the limit began; contents of lower ranks have been received. Omits ranks that
/// wait themselves, unless all do; names this rank if all others have sent. Called with the mutex
/// held.
std::string ControlChannel::overdue_ranks(int first) const {
  std::vector<std::string> waiting;
  std::vector<std::string> others;
  for (const auto& [rank, one] : peers_) {
    if (rank < first || !one.contents.empty() || one.came >= limited_since_) continue;
    (one.waits ? waiting : others).push_back(name_of(rank));
  }
  if (others.empty()) others = std::move(waiting);
  if (others.empty()) others.push_back(name_of(rank_));
  return hanging(fmt::format("{}", fmt::join(others, " or ")), *deadline_ - limited_since_);
}

void ControlChannel::work() {
  auto next_sign = Clock::now();
  while (!stopping_) {
    if (Clock::now() >= next_sign) {
      std::unique_lock lock(mutex_);
      const bool waits = Clock::now() - waited_ < freshness;
      lock.unlock();
      send_to_all({Frame::Kind::sign, waits ? "waits" : ""});
      look_for_silence();
      next_sign = Clock::now() + sign_period;
    }
    read_all();
  }
}

void ControlChannel::read_all() {
  std::vector<pollfd> watched;
  std::vector<int> ranks;
  for (const auto& [rank, peer] : peers_) {
    if (peer.is_gone) continue;
    watched.push_back({.fd = peer.connection.descriptor(), .events = POLLIN, .revents = 0});
    ranks.push_back(rank);
  }
  ::poll(watched.data(), watched.size(), poll_milliseconds);
  for (std::size_t i = 0; i < watched.size(); ++i) {
    if (watched[i].revents == 0) continue;
    Peer& peer = peers_.at(ranks[i]);
    peer.is_gone = !peer.connection.read();
    while (const auto packet = peer.connection.next()) take(ranks[i], unpacked<Frame>(*packet));
    if (peer.is_gone)
      lose(name_of(ranks[i]) + " has ended; see the launcher's message for the reason");
  }
}

void ControlChannel::take(int from, Frame frame) {
  using Kind = Frame::Kind;
  if (frame.kind == Kind::stop) {
    std::fflush(nullptr);
    _exit(static_cast<int>(ExitCode::case_failed));  // rank 0 has printed the reason
  }
  if (frame.kind == Kind::fatal) {
    lose(fmt::format("{} failed while others waited for its messages: {}", name_of(from),
                     frame.payload));
  }
  const std::lock_guard lock(mutex_);
  Peer& peer = peers_.at(from);
  peer.heard = Clock::now();
  if (frame.kind == Kind::sign) peer.waits = !frame.payload.empty();
  if (frame.kind == Kind::end) ends_ = true;
  if (frame.kind == Kind::content) {
    peer.came = peer.heard;
    peer.contents.push_back(std::move(frame.payload));
  }
  changed_.notify_all();
}

void ControlChannel::look_for_silence() {
  for (const auto& [rank, peer] : peers_) {
    if (Clock::now() - peer.heard <= silence_) continue;
    lose(
        fmt::format("{} has sent nothing for {:g} s: it is stopped or cannot be reached; check "
                    "that its host is running",
                    name_of(rank), silence_.count()));
  }
}

/// Records a loss; only the first one counts, because it causes the later ones.
void ControlChannel::lose(const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (ends_ || !lost_.empty()) return;
  if (!leads()) end_run(text);
  lost_ = text;
  if (!is_noticed_) watchdog_.start(silence_, text);
  changed_.notify_all();
}

}  // namespace parbench
