// The ranks of a run: they prepare and run the same cases in the same order, by rank 0's clock.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/ranks/clock_offset.h"
#include "bench/ranks/control/control_channel.h"
#include "bench/ranks/launcher.h"
#include "bench/ranks/payload.h"
#include "scenarios/framework/ranks/rank_group.h"

namespace parbench {

/// Limit of a wait for other ranks while the duration of their work is unknown.
inline constexpr ControlChannel::Seconds default_rank_patience = std::chrono::minutes(30);

/// Returns the user's limit of each wait for other ranks, from PARBENCH_RANK_PATIENCE; nothing if
/// it is not set. Throws UsageError for an invalid value.
[[nodiscard]] std::optional<ControlChannel::Seconds> rank_patience();

/// The ranks of a run, which all run the same session. Their decisions are equal, because the
/// inputs are equal: the clock of rank 0, the duration on the slowest rank, interrupts of any rank,
/// and the exception of the rank that failed, which all throw.
class RankTeam final : public RankGroup {
 public:
  /// Throws UsageError for an invalid PARBENCH_RANK_SILENCE or PARBENCH_RANK_PATIENCE. The caller
  /// limits how long the constructor waits (Watchdog).
  explicit RankTeam(std::unique_ptr<RankLink> link);
  /// On rank 0, ends the run on the other ranks in an orderly way.
  ~RankTeam() override;
  RankTeam(const RankTeam&) = delete;
  RankTeam& operator=(const RankTeam&) = delete;

  [[nodiscard]] int rank() const override { return link_->rank(); }
  [[nodiscard]] int size() const override { return link_->size(); }
  [[nodiscard]] RankLink& link() override { return *link_; }
  void check() const override;
  void share(int owner, void* data, std::size_t bytes) override;
  [[nodiscard]] std::vector<double> largest(std::vector<double> values) override {
    std::vector<std::vector<double>> by_rank;
    return largest(std::move(values), by_rank);
  }
  /// Does the same, and on rank 0 also appends the values of each rank to `by_rank`.
  [[nodiscard]] std::vector<double> largest(std::vector<double> values,
                                            std::vector<std::vector<double>>& by_rank);

  [[nodiscard]] bool leads() const { return rank() == 0; }
  /// Returns text such as "rank 1 (node2)".
  [[nodiscard]] std::string name_of(int rank) const;

  [[nodiscard]] const ClockOffset& clock() const { return clock_; }

  /// Waits until all ranks meet, and returns their values by rank. Throws the error of the rank
  /// that failed.
  template <class Value = std::string>
  [[nodiscard]] std::vector<Value> meet(const Value& own) {
    const auto all = unpacked<std::vector<std::string>>(meet_for(
        packed(own), [](const std::vector<std::string>& brought) { return packed(brought); }));
    std::vector<Value> values;
    for (const std::string& one : all) values.push_back(unpacked<Value>(one));
    return values;
  }
  /// Waits until all ranks meet. Throws the error of the rank that failed.
  void meet() {
    static_cast<void>(meet_for({}, [](const auto&) { return std::string(); }));
  }

  /// Meets, and returns the value of rank 0.
  [[nodiscard]] double broadcast(double value);

  /// Returns the time of rank 0's steady clock at the latest meeting, in seconds.
  [[nodiscard]] double now() const { return now_; }

  /// Returns whether a rank had been interrupted at the last meeting.
  [[nodiscard]] bool interrupted() const { return interrupted_; }

  /// Runs work that all ranks do at once, after which they meet. All throw the error of a rank that
  /// fails.
  void together(const std::function<void()>& work);

  void exchange(const std::function<void()>& work) override;

  /// Limits each wait for other ranks, at a meeting or in an exchange, until `together` ends. The
  /// limit is the longer of `seconds` and ten times the time since the last meeting; without a call
  /// it is half an hour. PARBENCH_RANK_PATIENCE replaces either limit. RankLost names the ranks
  /// that did not arrive. Rank 0 notices first; the others wait longer by PARBENCH_RANK_SILENCE.
  /// The process of a rank that does not notice the limit ends.
  void expect_within(double seconds) { expected_ = ControlChannel::Seconds(seconds); }

  /// Returns the number of meetings, which is the same on all ranks between meetings.
  [[nodiscard]] std::uint64_t meetings() const { return meetings_; }

  /// Ends the run on all ranks for a reason of this one. Throws RankLost on rank 0, where the
  /// report is written; other ranks do not return.
  [[noreturn]] void give_up(const std::string& reason);

  /// Ends the processes of all other ranks. Rank 0 calls it when the run cannot go on.
  void stop_others() noexcept;

  /// Waits on a rank other than 0 until rank 0 ends the run. The limit is at least a minute, in
  /// which rank 0 writes its outputs.
  void wait_for_end();

 private:
  /// Function that combines the values of all ranks, ordered by rank. Runs on rank 0; all receive
  /// the result.
  using Combine = std::function<std::string(const std::vector<std::string>&)>;
  [[nodiscard]] std::string meet_for(const std::string& own, const Combine& combine);
  struct Brought;
  [[nodiscard]] Brought exchange_all(Brought own, const Combine& combine);
  [[nodiscard]] ControlChannel::Seconds wait_limit() const;
  /// Runs work. Calls `failed` while its exception is handled, except for RunEnded and TimedOut;
  /// TimedOut ends the run.
  void run(const std::function<void()>& work, const std::function<void()>& failed);
  [[noreturn]] void fail();

  std::unique_ptr<RankLink> link_;
  std::optional<ControlChannel::Seconds> patience_;  // given by the user
  ControlChannel::Seconds silence_;
  std::optional<ControlChannel::Seconds> expected_;  // set by `expect_within`
  std::chrono::steady_clock::time_point met_ = std::chrono::steady_clock::now();
  std::unique_ptr<ControlChannel> channel_;
  ClockOffset clock_;
  std::uint64_t meetings_ = 0;
  bool interrupted_ = false;
  bool has_refused_ = false;  // the latest meeting failed on all ranks
  double now_ = 0;
};

}  // namespace parbench
