// Messages and collectives between ranks during a plan, as work in their streams.
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

/// This rank's part of a message: sending or receiving. `enqueue` allocates nothing. The stream
/// continues when the sender's memory may be reused, or the receiver's memory contains the message.
class MessagePart {
 public:
  virtual ~MessagePart() = default;
  virtual void enqueue(Stream& stream) = 0;
};

/// Makes this rank's part of a message for a stream of its device; null if the message is between
/// two other ranks. `sender`, `receiver`: the streams of both ends, at least one of which belongs
/// to another rank. Data that the link cannot access (DeviceInfo::staged) goes in chunks through
/// staging memory of its device's stream, allocated here; the other end then uses the same chunks.
/// Throws OutOfMemory, and Unsupported for a stream that cannot have staging memory.
[[nodiscard]] std::unique_ptr<MessagePart> make_message_part(RankLink& link,
                                                             const RankMessage& message,
                                                             Stream& sender, Stream& receiver);

/// Returns work that waits until all ranks have reached it.
[[nodiscard]] HostWork make_barrier_work(RankLink& link);

/// Collectives between ranks that have one device each, in host memory. Uses only the stream of
/// this rank's device; the other streams belong to other processes.
class RankCommunicator final : public Communicator {
 public:
  /// Connects all ranks, or some of them, which need not include this one; a subset supports only
  /// all-reduces. `by`: the way to do all-reduces; nothing: the fastest according to `choices`.
  /// Other collectives use the library.
  RankCommunicator(AllReduceChoices& choices, RankSet set, std::optional<RankAllReduce> by = {});

  [[nodiscard]] const std::string& name() const override { return link_.name(); }
  [[nodiscard]] int size() const override { return static_cast<int>(set_.ranks.size()); }
  [[nodiscard]] bool offers(Collective collective) const override {
    return are_all_ || collective == Collective::all_reduce;
  }
  /// Throws Unsupported if all-reduces of that size cannot be done in the way `by`.
  void prepare(Collective collective, std::span<Stream* const> streams, std::size_t bytes) override;
  [[nodiscard]] std::string method(Collective collective, std::size_t bytes) const override;

 private:
  void enqueue_checked(Collective collective, std::span<Stream* const> streams,
                       std::span<const BufferView> data,
                       std::span<const BufferView> inputs) override;

  /// Collective, buffer, offset and bytes of the data, buffer and offset of the input.
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
  bool is_prepared_ = false;        // whether the link is prepared for the set
  std::optional<std::size_t> own_;  // index of this rank in the set; nothing: not in the set
  std::map<std::size_t, RankAllReduce> chosen_;  // by bytes
  std::map<Key, HostWork> works_;                // by collective and addresses
};

}  // namespace parbench
