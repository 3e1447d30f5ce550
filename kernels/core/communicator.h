// Collectives among devices, by a library such as NCCL or between the ranks of a run.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/buffer.h"
#include "kernels/core/op.h"
#include "kernels/core/stream.h"

namespace parbench {

/// Collectives; their members are the devices that take part. In place, on `data` of the same size
/// at all members:
/// - all_reduce: f32 numbers; the data of every member become the sum over all members.
/// - all_gather: the data consist of one block per member, of equal sizes; member m provides block
///   m, and all members receive all blocks.
/// - reduce_scatter: f32 numbers in one block per member; block m of member m becomes the sum of
///   block m over all members, and the other blocks of member m become undefined.
/// - broadcast: member 0 provides the data, and all members receive them.
/// - reduce: f32 numbers; the data of member 0 become the sum over all members, and the data of the
///   other members become undefined.
/// From an input at each member, which is not overwritten, to data of the same size:
/// - all_to_all: block j of member m's input becomes block m of member j's data.
/// - send_recv: the input of each member becomes the data of the next member; after the last member
///   comes member 0.
enum class Collective {
  all_reduce,
  all_gather,
  reduce_scatter,
  broadcast,
  reduce,
  all_to_all,
  send_recv
};
inline constexpr std::array<Collective, 7> all_collectives{
    Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
    Collective::broadcast,  Collective::reduce,     Collective::all_to_all,
    Collective::send_recv};
[[nodiscard]] std::string_view name_of(Collective collective);  // "all-reduce"

/// Returns whether members send from a separate input.
[[nodiscard]] bool has_input(Collective collective);
/// Returns whether the data of a member consist of as many equal blocks as there are members.
[[nodiscard]] bool has_blocks(Collective collective);

/// Returns the work of a collective by the ring algorithm; no algorithm over equal links moves
/// less. With S bytes at each of p members, all members together send 2(p − 1)·S for an all-reduce
/// (Patarasuk and Yuan, 2009), p·S for a send_recv and (p − 1)·S for the other ones. Each byte sent
/// is read once and written once. Reductions make (p − 1)·S / 4 additions while data is sent on, so
/// that additions cause no further memory traffic.
[[nodiscard]] Work work_of(Collective collective, std::size_t members, std::size_t bytes);

/// Arguments for joining a device with one device of each other process of the run.
struct Joining {
  std::vector<std::byte> id;  // made by rank 0 (Device::make_joining_id)
  int rank = 0;
  int size = 1;                      // number of ranks
  std::function<void()> check = {};  // throws if a rank is lost; any thread may call it
};

/// Runs collectives. Device::make_communicator makes a communicator whose members are devices of
/// this process, in the order given; the devices must outlive it. Device::join makes a communicator
/// on each rank, which ignores the streams and views of other ranks. Graphs that contain
/// collectives of a communicator must be destroyed before it. Used by one host thread at a time.
class Communicator {
 public:
  virtual ~Communicator() = default;

  [[nodiscard]] virtual const std::string& name() const = 0;  // "NCCL 2.28.9"
  [[nodiscard]] virtual int size() const = 0;                 // number of members
  [[nodiscard]] virtual bool offers(Collective /*collective*/) const { return true; }

  /// Chooses the method of a collective with `bytes` at each member, possibly by measuring on
  /// `streams`, the streams of the later `enqueue`. A plan calls it for each of its collectives.
  /// With several processes, all ranks call it in the same order.
  virtual void prepare(Collective /*collective*/, std::span<Stream* const> /*streams*/,
                       std::size_t /*bytes*/) {}
  /// Returns the library or algorithm of a collective: "NCCL 2.28.9", "rank-ring over Open MPI
  /// 4.1.4".
  [[nodiscard]] virtual std::string method(Collective /*collective*/, std::size_t /*bytes*/) const {
    return name();
  }

  /// Enqueues a collective on a stream of each member's device. A member's data is accessed only
  /// after the work enqueued before on its stream, and later work of that stream sees the result.
  /// Collectives run in the order of the calls. `inputs`: empty for a collective in place. Throws
  /// std::invalid_argument unless each member has a stream, data and, if needed, an input, all
  /// views have the same size, and this size is a whole number of elements (f32 for sums) in each
  /// block. Throws Error or the exceptions of the devices if enqueueing fails.
  void enqueue(Collective collective, std::span<Stream* const> streams,
               std::span<const BufferView> data, std::span<const BufferView> inputs = {});

  /// Throws if an error has occurred since the communicator was made, for example on a link between
  /// devices. The communicator cannot be used afterwards.
  virtual void check() const {}

  /// With members on several ranks: returns a communicator of some members, in the order given;
  /// null if this communicator cannot be split. All ranks call it with the same `members`. On ranks
  /// without any of them, collectives of the new communicator do nothing. Throws as Device::join
  /// does.
  [[nodiscard]] virtual std::unique_ptr<Communicator> split(std::span<const int> /*members*/) {
    return nullptr;
  }

 private:
  virtual void enqueue_checked(Collective collective, std::span<Stream* const> streams,
                               std::span<const BufferView> data,
                               std::span<const BufferView> inputs) = 0;
};

}  // namespace parbench
