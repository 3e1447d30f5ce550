// Frames between rank 0 and the other ranks, and whether they are still there.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bench/ranks/control/connections.h"
#include "bench/ranks/control/frames.h"
#include "kernels/base/error.h"

namespace parbench {

/// Another rank has ended, is silent or cannot go on, so the run ends. What waits for messages of
/// it still runs: handled like a wait that has passed its limit.
class RankLost : public TimedOut {
 public:
  using TimedOut::TimedOut;
};

/// A thread reads the connections and sends a sign of life every second; a rank that sends nothing
/// for the limit is lost. On rank 0 a loss is thrown by the thread that waits next. The other ranks
/// have nothing to save, so their processes end at once when rank 0 is lost or stops the run.
class ControlChannel {
 public:
  using Seconds = std::chrono::duration<double>;

  /// The time in which this rank waits for the others, from its construction to its end: a thread
  /// that waits longer gets RankLost. The process ends where none of them notices the end of the
  /// limit within the time of silence, or this object is still there that long after one of them
  /// did. Ranks other than 0 wait longer by that time, so that rank 0 notices first. Within another
  /// limit it has no effect.
  class Limit {
   public:
    Limit(ControlChannel& channel, Seconds seconds);
    ~Limit();
    Limit(const Limit&) = delete;
    Limit& operator=(const Limit&) = delete;

   private:
    ControlChannel& channel_;
    bool is_outermost_ = false;
  };

  /// `own_name`: "rank 1 (node2)". `silence`: after which a rank that sends nothing is lost, and in
  /// which a thread of this rank has to notice a loss, before the process ends.
  ControlChannel(std::vector<RankConnection> connections, std::string own_name, Seconds silence);
  ~ControlChannel();
  ControlChannel(const ControlChannel&) = delete;
  ControlChannel& operator=(const ControlChannel&) = delete;

  void send(int to, const Frame& frame);
  /// Sends to all connected ranks, without waiting for any.
  void send_to_all(const Frame& frame);

  /// Returns the next frame from a rank, within a `Limit`. Throws RankLost where any rank is lost
  /// or the limit has passed.
  [[nodiscard]] Frame receive(int from);

  /// Throws RankLost where a rank is lost, has failed while others wait for its messages, or the
  /// limit has passed.
  void check() const;

  /// Sends rank 0 the reason why this rank cannot go on, and waits until rank 0 ends its process,
  /// which ends by itself when rank 0 has not done so within the time of silence.
  [[noreturn]] void give_up(const Frame& fatal);

  /// "rank 1 (node2)".
  [[nodiscard]] std::string name_of(int rank) const;

  /// From now on connections may end: the run has.
  void expect_end();

 private:
  using Clock = std::chrono::steady_clock;
  struct Peer {
    RankConnection connection;
    FrameReader reader;
    std::deque<Frame> frames;
    Clock::time_point heard = Clock::now();
    Clock::time_point answered = Clock::now();  // by more than a sign of life
    bool is_gone = false;
    std::mutex writing = {};
  };

  void work();
  void read_all();
  void take(Peer& peer, Frame frame);
  void look_for_silence();
  void lose(const Peer& peer, const std::string& reason);
  void lose_with(const std::string& text);
  [[noreturn]] void throw_noticed(const std::string& text) const;
  [[nodiscard]] std::string overdue_ranks(int first) const;

  std::string own_name_;
  Seconds silence_;
  bool leads_;
  std::map<int, Peer> peers_;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> ends_ = false;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string lost_;  // why; empty: no rank is
  Clock::time_point lost_at_;
  std::optional<Clock::time_point> deadline_;  // of the limit in force
  Clock::time_point limited_since_;
  mutable std::string noticed_;  // what a thread threw first; empty: nothing so far
  mutable Clock::time_point noticed_at_;
  std::thread thread_;  // last
};

}  // namespace parbench
