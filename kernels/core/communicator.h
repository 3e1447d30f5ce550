// Collectives of a library that knows the links between its devices (NCCL for GPUs).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "kernels/core/buffer.h"
#include "kernels/core/op.h"
#include "kernels/core/stream.h"

namespace parbench {

/// All in place, on `data` of equal sizes at all ranks:
/// - all_reduce: f32 numbers; every rank's become the sum of all ranks'.
/// - all_gather: as many blocks of equal sizes as there are ranks; rank r brings block r, and all
///   ranks end with all blocks.
enum class Collective { all_reduce, all_gather };
[[nodiscard]] std::string_view name_of(Collective collective);  // "all-reduce"

/// Returns the work of a collective by the ring algorithm; no algorithm between equal links moves
/// less: of S bytes at each of p ranks, all ranks together send (p − 1)·S to gather and
/// 2(p − 1)·S to reduce (Patarasuk and Yuan, 2009), and what is sent is read once and written once.
/// An all-reduce adds (p − 1)·S / 4 times; it can add what arrives while it sends it on, so that
/// additions read and write no more memory.
[[nodiscard]] Work work_of(Collective collective, std::size_t ranks, std::size_t bytes);

/// Made by Device::make_communicator for devices in the order of their ranks, which outlive it.
/// Graphs that hold its collectives do not. Used by one host thread at a time.
class Communicator {
 public:
  virtual ~Communicator() = default;

  [[nodiscard]] virtual const std::string& name() const = 0;  // "NCCL 2.28.9"
  [[nodiscard]] virtual int size() const = 0;                 // ranks

  /// Enqueues a collective on a stream of each rank's device. Nothing of a rank is touched before
  /// its stream comes to the collective, and its stream goes on when its data is the result and the
  /// collective touches it no more. Collectives run in the order of the calls. Throws
  /// std::invalid_argument for streams or data that are not as `Collective` says, Error and what
  /// the devices throw where it fails.
  void enqueue(Collective collective, std::span<Stream* const> streams,
               std::span<const BufferView> data);

  /// Throws what went wrong since it was made, for example on the way to other devices. It cannot
  /// be used afterwards.
  virtual void check() const {}

 private:
  virtual void enqueue_checked(Collective collective, std::span<Stream* const> streams,
                               std::span<const BufferView> data) = 0;
};

}  // namespace parbench
