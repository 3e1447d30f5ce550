// Messages as host work that calls the link between ranks. Views are resolved when the work runs,
// because memory may have moved since.
#include "scenarios/framework/ranks/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/core/device.h"
#include "kernels/core/ranks/host_worker.h"

namespace parbench {
namespace {

/// Returns work that sends or receives memory that the link can access, as one message of the link
/// per chunk.
HostWork transfer(RankLink& link, const RankMessage& message, std::vector<BufferView> chunks) {
  return HostWork(
      [&link, from = message.from, to = message.to, tag = message.tag, chunks = std::move(chunks)] {
        for (const BufferView& chunk : chunks) {
          if (from == link.rank()) {
            link.send(to, tag, chunk.data(), chunk.bytes);
          } else {
            link.receive(from, tag, chunk.data(), chunk.bytes);
          }
        }
      });
}

/// Divides this rank's memory of a message into chunks; a message without bytes is one chunk.
std::vector<BufferView> chunks_of(const BufferView& memory, std::size_t chunk_bytes) {
  std::vector<BufferView> chunks;
  std::size_t first = 0;
  do {
    const std::size_t bytes = std::min(chunk_bytes, memory.bytes - first);
    chunks.push_back(memory.part(first, bytes));
    first += bytes;
  } while (first < memory.bytes);
  return chunks;
}

/// A transfer of memory that the link can access.
class DirectPart final : public MessagePart {
 public:
  explicit DirectPart(HostWork work) : work_(std::move(work)) {}
  void enqueue(Stream& stream) override { stream.perform(work_); }

 private:
  HostWork work_;
};

/// A transfer through the slots of the stream's staging memory: while the host sends or receives
/// one chunk, the device copies other ones.
class StagedPart final : public MessagePart {
 public:
  StagedPart(RankLink& link, const RankMessage& message, std::vector<BufferView> chunks,
             HostWorker& worker)
      : sends_(message.from == link.rank()),
        chunks_(std::move(chunks)),
        worker_(worker),
        staging_(worker.staging()) {
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
      transfers_.push_back(transfer(link, message, {staged(i)}));
    }
  }

  /// The activity log contains the message, but not its copies to or from staging memory.
  void enqueue(Stream& stream) override {
    const ActivityTag tag = stream.tag();
    stream.set_tag(0);
    if (sends_) {
      send(stream, tag);
    } else {
      receive(stream, tag);
    }
    stream.set_tag(tag);
  }

 private:
  [[nodiscard]] Staging::Slot& slot(std::size_t chunk) const {
    return staging_.slots[chunk % Staging::slot_count];
  }
  [[nodiscard]] BufferView staged(std::size_t chunk) const {
    return {slot(chunk).memory, 0, chunks_[chunk].bytes};
  }
  void begin(Stream& stream, std::size_t chunk, ActivityTag tag) {
    worker_.begin(stream, transfers_[chunk], *slot(chunk).done, tag);
  }

  /// The stream continues after the last chunk has been sent.
  void send(Stream& stream, ActivityTag tag) {
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
      if (i >= Staging::slot_count) stream.wait(*slot(i).done);
      stream.copy(staged(i), chunks_[i]);
      begin(stream, i, tag);
    }
    stream.wait(*slot(chunks_.size() - 1).done);
  }

  /// A slot receives its next chunk as soon as the previous one has been copied from it.
  void receive(Stream& stream, ActivityTag tag) {
    const std::size_t first_chunks = std::min(chunks_.size(), Staging::slot_count);
    for (std::size_t i = 0; i < first_chunks; ++i) begin(stream, i, tag);
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
      stream.wait(*slot(i).done);
      stream.copy(chunks_[i], staged(i));
      const std::size_t next = i + Staging::slot_count;
      if (next < chunks_.size()) begin(stream, next, tag);
    }
  }

  bool sends_;
  std::vector<BufferView> chunks_;
  HostWorker& worker_;
  Staging& staging_;
  std::vector<HostWork> transfers_;  // by chunk
};

}  // namespace

std::unique_ptr<MessagePart> make_message_part(RankLink& link, const RankMessage& message,
                                               Stream& sender, Stream& receiver) {
  if (message.source.bytes != message.destination.bytes) {
    throw std::invalid_argument(fmt::format("a message of {} bytes for {} bytes of memory",
                                            message.source.bytes, message.destination.bytes));
  }
  const bool sends = message.from == link.rank();
  if (!sends && message.to != link.rank()) return nullptr;
  Stream& own = sends ? sender : receiver;
  const BufferView& memory = sends ? message.source : message.destination;
  const bool is_staged =
      memory.bytes > 0 && (sender.device().info().staged || receiver.device().info().staged);
  std::vector<BufferView> chunks =
      chunks_of(memory, is_staged ? Staging::slot_bytes : std::max<std::size_t>(memory.bytes, 1));
  if (memory.bytes == 0 || !own.device().info().staged) {
    return std::make_unique<DirectPart>(transfer(link, message, std::move(chunks)));
  }
  HostWorker* const worker = own.host_worker();
  if (worker == nullptr) {
    throw Unsupported(fmt::format("{} cannot send its data to other ranks through host memory",
                                  own.device().info().name));
  }
  return std::make_unique<StagedPart>(link, message, std::move(chunks), *worker);
}

HostWork make_barrier_work(RankLink& link) {
  return HostWork([&link] {
    // Lets the submitting thread, which may share this core, enqueue later work first.
    std::this_thread::yield();
    link.barrier();
  });
}

RankCommunicator::RankCommunicator(AllReduceChoices& choices, RankSet set,
                                   std::optional<RankAllReduce> by)
    : choices_(choices),
      link_(choices.ranks().link()),
      set_(std::move(set)),
      by_(by),
      are_all_(set_.ranks == RankSet::all(link_.size()).ranks) {
  const auto own = std::ranges::find(set_.ranks, link_.rank());
  if (own != set_.ranks.end()) own_ = static_cast<std::size_t>(own - set_.ranks.begin());
}

void RankCommunicator::prepare(Collective collective, std::span<Stream* const> streams,
                               std::size_t bytes) {
  if (collective != Collective::all_reduce || chosen_.contains(bytes)) return;
  if (by_ && !link_.offers(*by_, set_, bytes)) {
    throw Unsupported(fmt::format(
        "an all-reduce of {} bytes by {} is not possible between these ranks{}; use --strategy "
        "rank-ring or mpi",
        bytes, name_of(*by_),
        *by_ == RankAllReduce::shared_memory
            ? ": they are more than 16, of several machines or networks, or kept from sharing "
              "memory by settings of MPI"
            : ""));
  }
  if (!is_prepared_) choices_.prepare(set_);
  is_prepared_ = true;
  chosen_[bytes] = by_ ? *by_ : choices_.choose(set_, bytes, own_ ? streams[*own_] : nullptr);
}

RankAllReduce RankCommunicator::way_of(std::size_t bytes) const {
  const auto found = chosen_.find(bytes);
  return found == chosen_.end() ? RankAllReduce::library : found->second;
}

std::string RankCommunicator::method(Collective collective, std::size_t bytes) const {
  const RankAllReduce by =
      collective == Collective::all_reduce ? way_of(bytes) : RankAllReduce::library;
  if (by == RankAllReduce::library) return link_.name();
  if (by == RankAllReduce::shared_memory) return std::string(name_of(by));
  return fmt::format("{} over {}", name_of(by), link_.name());
}

HostWork RankCommunicator::make_work(Collective collective, const BufferView& data,
                                     const BufferView& input) const {
  if (!offers(collective)) {
    throw std::invalid_argument(fmt::format("{} joins some ranks for all-reduces, not for {}",
                                            name(), name_of(collective)));
  }
  if (collective == Collective::all_reduce) {
    return HostWork([this, by = way_of(data.bytes), data] {
      link_.all_reduce(by, set_, data.data(), data.bytes);
    });
  }
  return HostWork([this, collective, data, input] {
    link_.collective(collective, data.data(), data.bytes, input.data());
  });
}

void RankCommunicator::enqueue_checked(Collective collective, std::span<Stream* const> streams,
                                       std::span<const BufferView> data,
                                       std::span<const BufferView> inputs) {
  if (!own_) return;
  const BufferView& view = data[*own_];
  const BufferView input = inputs.empty() ? BufferView() : inputs[*own_];
  const Key key{collective, view.buffer, view.offset, view.bytes, input.buffer, input.offset};
  const auto known = works_.find(key);
  streams[*own_]->perform(
      known != works_.end()
          ? known->second
          : works_.emplace(key, make_work(collective, view, input)).first->second);
}

}  // namespace parbench
