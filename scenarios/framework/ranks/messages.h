// What ranks send each other while a plan runs, as work in their streams.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "kernels/core/buffer.h"
#include "kernels/core/communicator.h"
#include "kernels/core/ranks/host_work.h"
#include "kernels/core/ranks/rank_link.h"
#include "kernels/core/stream.h"
#include "scenarios/framework/ranks/all_reduce_choices.h"

namespace parbench {

/// A copy from the memory of one rank to that of another.
struct RankMessage {
  int from = 0;
  int to = 0;
  int tag = 0;
  BufferView source;
  BufferView destination;
};

/// This rank's part of a message: sending or receiving. Enqueues it without allocating anything;
/// the stream goes on when the memory of this rank may be used again, or holds what was sent.
class MessagePart {
 public:
  virtual ~MessagePart() = default;
  virtual void enqueue(Stream& stream) = 0;
};

/// Makes the part of this rank for a stream of its device; null where it has none. `sender` and
/// `receiver`: streams of both, one of which is another rank's. Data that no message can carry from
/// where it is (DeviceInfo::staged) goes through the staging memory of its stream in chunks, which
/// is allocated here; the other side then sends or receives the same chunks. Throws OutOfMemory.
[[nodiscard]] std::unique_ptr<MessagePart> make_message_part(RankLink& link,
                                                             const RankMessage& message,
                                                             Stream& sender, Stream& receiver);

/// Waits until all ranks have come so far.
[[nodiscard]] HostWork make_barrier_work(RankLink& link);

/// Collectives between ranks that have one device each, in host memory. Only the stream of this
/// rank's device takes part; those of the others are in other processes.
class RankCommunicator final : public Communicator {
 public:
  /// Between all ranks, or some of them, this one or others: all-reduces alone. `by`: how those are
  /// done; nothing: as `choices` finds fastest. Other collectives are the library's.
  RankCommunicator(AllReduceChoices& choices, RankSet set, std::optional<RankAllReduce> by = {});

  [[nodiscard]] const std::string& name() const override { return link_.name(); }
  [[nodiscard]] int size() const override { return static_cast<int>(set_.ranks.size()); }
  [[nodiscard]] bool offers(Collective collective) const override {
    return are_all_ || collective == Collective::all_reduce;
  }
  /// Throws Unsupported where all-reduces of that size cannot be done as it was made for.
  void prepare(Collective collective, std::span<Stream* const> streams, std::size_t bytes) override;
  [[nodiscard]] std::string method(Collective collective, std::size_t bytes) const override;

 private:
  void enqueue_checked(Collective collective, std::span<Stream* const> streams,
                       std::span<const BufferView> data,
                       std::span<const BufferView> inputs) override;

  /// The collective, and where data and input are.
  using Key =
      std::tuple<Collective, const Buffer*, std::size_t, std::size_t, const Buffer*, std::size_t>;
  [[nodiscard]] HostWork make_work(Collective collective, const BufferView& data,
                                   const BufferView& input) const;
  [[nodiscard]] RankAllReduce way_of(std::size_t bytes) const;

  AllReduceChoices& choices_;
  RankLink& link_;
  RankSet set_;
  std::optional<RankAllReduce> by_;
  bool are_all_;
  bool is_prepared_ = false;        // the link, for its set
  std::optional<std::size_t> own_;  // index of this rank in the set; nothing: it takes no part
  std::map<std::size_t, RankAllReduce> chosen_;  // by bytes
  std::map<Key, HostWork> works_;                // of each call so far
};

}  // namespace parbench
