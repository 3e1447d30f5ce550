// Control messages between ranks, and detection of lost ranks.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bench/ranks/control/connections.h"
#include "bench/ranks/control/watchdog.h"
#include "bench/ranks/payload.h"
#include "kernels/base/error.h"

namespace parbench {

/// Thrown if another rank has ended, is silent or cannot go on, so that the run ends. Work that
/// waits for messages of that rank still runs, so the error is handled like a wait that has passed
/// its limit.
class RankLost : public TimedOut {
 public:
  using TimedOut::TimedOut;
};

/// Thrown on the other ranks after rank 0 has ended the run in an orderly way.
struct RunEnded : std::exception {
  [[nodiscard]] const char* what() const noexcept override { return "rank 0 has ended the run"; }
};

struct Frame {
  enum class Kind : std::uint8_t {
    content,  // value for a meeting of all ranks, or its result
    fatal,    // reason why a rank cannot go on
    sign,     // sign of life; has text if the rank waits for others
    end,      // the run ends in an orderly way
    stop      // the run ends immediately
  };
  Kind kind = Kind::sign;
  std::string payload = {};

  void fields(Archive& archive) { archive(kind, payload); }
};

/// Connections of a rank for control messages. A thread reads them and sends a sign of life every
/// second. A rank is lost if its connection closes or if it sends nothing for the time of silence.
/// On rank 0 a loss is thrown by the thread that waits next. The other ranks have nothing to save,
/// so their processes end at once when rank 0 is lost or stops the run.
class ControlChannel {
 public:
  using Seconds = std::chrono::duration<double>;

  /// Limits the waits of this rank for other ranks while this object exists; a thread that waits
  /// longer gets RankLost. The process ends if no thread notices the end of the limit within the
  /// time of silence, or if this object exists for longer than the time of silence after a thread
  /// noticed. The limit of ranks other than 0 is longer by the time of silence, so that rank 0
  /// notices first. A limit within another one has no effect.
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

  /// All ranks construct it at once. `silence`: time after which a rank that sends nothing is lost,
  /// and within which a thread of this rank has to notice a loss before the process ends. Throws
  /// Error if a rank cannot be reached.
  ControlChannel(RankLink& link, Seconds silence);
  ~ControlChannel();
  ControlChannel(const ControlChannel&) = delete;
  ControlChannel& operator=(const ControlChannel&) = delete;

  /// Sends `content` from rank 0 to all others, or from another rank to rank 0.
  void send(const std::string& content) { send_to_all({Frame::Kind::content, content}); }

  /// Returns the next content from a rank, within a `Limit`. Throws RankLost if any rank is lost or
  /// the limit has passed, RunEnded if rank 0 has ended the run.
  [[nodiscard]] std::string receive(int from);

  /// Throws RankLost if a rank is lost, has failed while others wait for its messages, or the
  /// limit has passed. Threads that wait for other ranks call it from time to time.
  void check();

  /// Sends rank 0 the reason why this rank cannot go on, and waits for rank 0 to end this process.
  /// Ends the process if rank 0 has not done so within the time of silence.
  [[noreturn]] void give_up(const std::string& reason);

  /// Returns text such as "rank 1 (node2)".
  [[nodiscard]] std::string name_of(int rank) const;

  /// Accepts the end of other ranks from now on. Rank 0 sends them `kind`: Kind::end or Kind::stop.
  void end(Frame::Kind kind);

 private:
  using Clock = std::chrono::steady_clock;
  struct Peer {
    Connection connection;
    std::mutex sending = {};
    std::deque<std::string> contents = {};
    Clock::time_point heard = Clock::now();
    Clock::time_point came = Clock::now();  // arrival of the latest value
    bool waits = false;                     // whether the rank waits for others, by its latest sign
    bool is_gone = false;
  };

  [[nodiscard]] bool leads() const { return rank_ == 0; }
  /// Returns whether the watchdog waits for a thread that notices a loss.
  [[nodiscard]] bool is_unnoticed() const { return !lost_.empty() && !is_noticed_; }
  void send_to_all(const Frame& frame);
  void work();
  void read_all();
  void take(int from, Frame frame);
  void look_for_silence();
  void lose(const std::string& text);
  void throw_if_over(int first);
  [[nodiscard]] std::string overdue_ranks(int first) const;

  int rank_;
  Seconds silence_;
  std::vector<std::string> hosts_;  // by rank
  std::map<int, Peer> peers_;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> ends_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string lost_;                           // reason; empty: no rank is lost
  std::optional<Clock::time_point> deadline_;  // end of the limit in force
  Clock::time_point limited_since_;
  Clock::time_point waited_;  // latest check of a thread that waits for other ranks
  bool is_noticed_ = false;   // a thread has thrown RankLost
  Watchdog watchdog_;
  std::thread thread_;  // last member: uses the others
};

}  // namespace parbench
