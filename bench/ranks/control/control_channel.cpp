// One thread polls all connections.
#include "bench/ranks/control/control_channel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "bench/output/exit_code.h"
#include "bench/output/standard_streams.h"
#include "bench/ranks/control/watchdog.h"

namespace parbench {
namespace {

constexpr auto heartbeat_period = std::chrono::seconds(1);
constexpr int wait_milliseconds = 100;

std::string hanging(const std::string& ranks, ControlChannel::Seconds limit) {
  return fmt::format("{} hangs: it did not come to where the other ranks wait within {:g} s", ranks,
                     limit.count());
}

}  // namespace

ControlChannel::ControlChannel(std::vector<RankConnection> connections, std::string own_name,
                               Seconds silence)
    : own_name_(std::move(own_name)), silence_(silence), leads_(true) {
  for (RankConnection& one : connections) {
    const int rank = one.rank;
    if (rank == 0) leads_ = false;
    peers_[rank].connection = std::move(one);
  }
  thread_ = std::thread([this] { work(); });
}

ControlChannel::~ControlChannel() {
  stopping_ = true;
  thread_.join();
}

std::string ControlChannel::name_of(int rank) const {
  const auto found = peers_.find(rank);
  return found == peers_.end() ? own_name_
                               : fmt::format("rank {} ({})", rank, found->second.connection.host);
}

void ControlChannel::send(int to, const Frame& frame) {
  Peer& receiver = peers_.at(to);
  const std::lock_guard lock(receiver.writing);
  const int socket = receiver.connection.socket.descriptor();
  if (write_frame(socket, frame)) return;
  // The other side has ended, or will when it reads that no more comes. What it sent before, such
  // as the end of the run, is read first, so the reading thread decides whether it is lost.
  ::shutdown(socket, SHUT_WR);
}

void ControlChannel::send_to_all(const Frame& frame) {
  for (const auto& [rank, ignored] : peers_) send(rank, frame);
}

Frame ControlChannel::receive(int from) {
  Peer& sender = peers_.at(from);
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline_.value(),
                      [&] { return !sender.frames.empty() || !lost_.empty(); });
  if (sender.frames.empty()) throw_noticed(lost_.empty() ? overdue_ranks(from) : lost_);
  Frame frame = std::move(sender.frames.front());
  sender.frames.pop_front();
  return frame;
}

void ControlChannel::check() const {
  const std::lock_guard lock(mutex_);
  const bool overdue = deadline_ && Clock::now() > *deadline_;
  if (lost_.empty() && !overdue) return;
  throw_noticed(lost_.empty() ? overdue_ranks(0) : lost_);
}

/// With the mutex held.
void ControlChannel::throw_noticed(const std::string& text) const {
  if (noticed_.empty()) {
    noticed_ = text;
    noticed_at_ = Clock::now();
  }
  throw RankLost(text);
}

ControlChannel::Limit::Limit(ControlChannel& channel, Seconds seconds) : channel_(channel) {
  const std::lock_guard lock(channel_.mutex_);
  is_outermost_ = !channel_.deadline_;
  if (!is_outermost_) return;
  if (!channel_.leads_) seconds += channel_.silence_;
  channel_.limited_since_ = Clock::now();
  channel_.deadline_ =
      channel_.limited_since_ + std::chrono::duration_cast<Clock::duration>(seconds);
}

ControlChannel::Limit::~Limit() {
  const std::lock_guard lock(channel_.mutex_);
  if (is_outermost_) channel_.deadline_.reset();
}

void ControlChannel::give_up(const Frame& fatal) {
  send(0, fatal);
  std::this_thread::sleep_for(silence_);
  end_run(fatal.payload);
}

/// With the mutex held: the ranks whose frames have not come, from `first` on: those of earlier
/// ones have been received. All of them, because a rank that computes and one that waits for its
/// messages give the same signs of life.
std::string ControlChannel::overdue_ranks(int first) const {
  std::vector<std::string> names;
  for (const auto& [rank, one] : peers_) {
    if (rank < first || !one.frames.empty() || one.answered >= limited_since_) continue;
    names.push_back(name_of(rank));
  }
  const Seconds limit = *deadline_ - limited_since_;
  return hanging(names.empty() ? own_name_ : fmt::format("{}", fmt::join(names, " or ")), limit);
}

void ControlChannel::expect_end() { ends_ = true; }

void ControlChannel::work() {
  auto next_heartbeat = Clock::now();
  while (!stopping_) {
    if (Clock::now() >= next_heartbeat) {
      send_to_all({FrameKind::heartbeat});
      look_for_silence();
      next_heartbeat = Clock::now() + heartbeat_period;
    }
    read_all();
  }
}

void ControlChannel::read_all() {
  std::vector<pollfd> watched;
  std::vector<Peer*> readers;
  for (auto& [rank, one] : peers_) {
    if (one.is_gone) continue;
    watched.push_back({.fd = one.connection.socket.descriptor(), .events = POLLIN, .revents = 0});
    readers.push_back(&one);
  }
  ::poll(watched.data(), watched.size(), wait_milliseconds);
  for (std::size_t i = 0; i < watched.size(); ++i) {
    if (watched[i].revents == 0) continue;
    Peer& one = *readers[i];
    const bool open = one.reader.read(watched[i].fd);
    while (auto frame = one.reader.next()) take(one, std::move(*frame));
    if (!open) {
      lose(one, "has ended");
      const std::lock_guard lock(mutex_);
      one.is_gone = true;
    }
  }
}

void ControlChannel::take(Peer& peer, Frame frame) {
  const std::lock_guard lock(mutex_);
  peer.heard = Clock::now();
  if (frame.kind == FrameKind::heartbeat) return;
  peer.answered = peer.heard;
  if (frame.kind == FrameKind::stop) {
    std::fflush(nullptr);
    _exit(static_cast<int>(ExitCode::case_failed));  // rank 0 has said why
  }
  if (frame.kind == FrameKind::end) ends_ = true;
  if (frame.kind == FrameKind::fatal) {
    lose_with(fmt::format("{} failed while others waited for its messages: {}",
                          name_of(peer.connection.rank), frame.payload));
  } else {
    peer.frames.push_back(std::move(frame));
  }
  changed_.notify_all();
}

void ControlChannel::look_for_silence() {
  for (auto& [rank, one] : peers_) {
    if (!one.is_gone && Clock::now() - one.heard > silence_) {
      lose(one, fmt::format("gave no sign of life for {:g} s: it is stopped or cannot be reached",
                            silence_.count()));
    }
  }
  const std::lock_guard lock(mutex_);
  const auto is_due = [&](Clock::time_point since) { return Clock::now() - since > silence_; };
  if (!noticed_.empty()) {
    // Within a limit, the thread that writes the report may still wait for one that never notices.
    if (deadline_ && is_due(noticed_at_)) end_run(noticed_);
    return;
  }
  if (!lost_.empty() && is_due(lost_at_)) end_run(lost_);
  if (lost_.empty() && deadline_ && is_due(*deadline_)) {
    end_run(hanging(own_name_, *deadline_ - limited_since_));
  }
}

void ControlChannel::lose(const Peer& peer, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  if (ends_) return;
  lose_with(fmt::format("{} {}", name_of(peer.connection.rank), reason));
}

/// With the mutex held. The first loss is the reason for all that follows.
void ControlChannel::lose_with(const std::string& text) {
  if (!lost_.empty()) return;
  if (!leads_) end_run(text);
  lost_ = text;
  lost_at_ = Clock::now();
  changed_.notify_all();
}

}  // namespace parbench
