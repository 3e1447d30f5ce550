// What ranks send each other while a plan runs, as work in their streams.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "kernels/core/buffer.h"
#include "kernels/core/communicator.h"
#include "kernels/core/host_work.h"
#include "kernels/core/rank_link.h"

namespace parbench {

/// A copy from the memory of one rank to that of another.
struct RankMessage {
  int from = 0;
  int to = 0;
  int tag = 0;
  BufferView source;
  BufferView destination;
};

/// Returns this rank's part of a message: sending or receiving; null where it has none.
[[nodiscard]] std::unique_ptr<HostWork> make_message_work(RankLink& link,
                                                          const RankMessage& message);

/// Waits until all ranks have come so far.
[[nodiscard]] std::unique_ptr<HostWork> make_barrier_work(RankLink& link);

/// Collectives between ranks that have one device each, in host memory. Only the stream of this
/// rank's device takes part; those of the others are in other processes.
class RankCommunicator final : public Communicator {
 public:
  /// Between all ranks.
  explicit RankCommunicator(RankLink& link);
  /// Between some ranks, this one or others; all-reduces alone.
  RankCommunicator(RankLink& link, RankSet set);

  [[nodiscard]] const std::string& name() const override { return link_.name(); }
  [[nodiscard]] int size() const override { return static_cast<int>(set_.ranks.size()); }
  [[nodiscard]] bool offers(Collective collective) const override {
    return are_all_ || collective == Collective::all_reduce;
  }

 private:
  void enqueue_checked(Collective collective, std::span<Stream* const> streams,
                       std::span<const BufferView> data,
                       std::span<const BufferView> inputs) override;

  /// The collective, and where data and input are.
  using Key =
      std::tuple<Collective, const Buffer*, std::size_t, std::size_t, const Buffer*, std::size_t>;
  [[nodiscard]] std::unique_ptr<HostWork> make_work(Collective collective, const BufferView& data,
                                                    const BufferView& input) const;

  RankLink& link_;
  RankSet set_;
  bool are_all_;
  std::optional<std::size_t> own_;  // place of this rank in the set; nothing: it takes no part
  std::map<Key, std::unique_ptr<HostWork>> works_;  // of each call so far
};

}  // namespace parbench
