// A device: something that makes streams, events and buffers, and plans operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/base/stream_kind.h"
#include "kernels/core/buffer.h"
#include "kernels/core/communicator.h"
#include "kernels/core/condition.h"
#include "kernels/core/op.h"
#include "kernels/core/stream.h"

namespace parbench {

/// The description of a device in reports.
struct DeviceInfo {
  std::string name;                     // "cpu:0"
  std::string backend;                  // "cpu"
  std::string model;                    // the processor's own name
  std::string hardware;                 // the model, and for a part of a GPU how large it is
  std::vector<int> cores;               // operating-system indices of the cores it computes on
  std::vector<int> copy_cores;          // of the cores its copy lane runs on
  std::size_t memory_bytes = 0;         // of the memory it can draw on, shared with others or not
  std::vector<std::string> peers = {};  // devices whose memory it reaches without the host's help
  bool host_memory = false;  // whether its memory is the host's, which every backend can copy
  /// Further facts on which its times depend, by name: {"compute capability", "9.0"}, …
  std::vector<std::pair<std::string, std::string>> facts = {};
  int rank = 0;            // the process of the run that it belongs to
  bool is_remote = false;  // whether that is another process than this one (remote_device.h)
  /// Whether messages to other processes carry its data through page-locked host memory: where it
  /// is not host memory, and the message passing library does not reach it.
  bool staged = false;
  /// The library that joins it with devices of other processes for collectives ("NCCL 2.28.9");
  /// empty: none.
  std::string joined_by = {};
  /// A name of its hardware that no other hardware has, of a GPU its UUID; empty: none is known.
  std::string unit = {};
};

/// Returns whether two devices use the same kernels, so that results are equal bit for bit.
[[nodiscard]] inline bool alike(const DeviceInfo& a, const DeviceInfo& b) {
  return a.backend == b.backend && a.hardware == b.hardware;
}

/// The memory that can be allocated now.
struct AvailableMemory {
  std::string pool;  // devices that name the same one draw on the same bytes
  std::size_t bytes = 0;
};

class Device {
 public:
  virtual ~Device() = default;

  [[nodiscard]] virtual const DeviceInfo& info() const = 0;
  [[nodiscard]] virtual AvailableMemory available_memory() const = 0;

  /// Reads the sensors at each call, also while streams run. Does not throw: what cannot be read is
  /// left out, by default everything.
  [[nodiscard]] virtual Condition condition() const { return {}; }

  /// The link to another device ("NVLink 4 × 18", "PCIe 5 × 16", "shared memory"); empty
  /// where this device does not know. `links_of` asks both.
  [[nodiscard]] virtual std::string link_to([[maybe_unused]] const Device& other) const {
    return {};
  }

  /// Whether only one host thread at a time may enqueue on its streams, so that a plan cannot be
  /// launched by a thread for every lane.
  [[nodiscard]] virtual bool one_launching_thread() const { return false; }

  /// Whether a first execution may take many times a later one, because code is loaded then.
  [[nodiscard]] virtual bool loads_at_first_use() const { return false; }

  /// A stream that is one of `sharers` compute streams working at the same time: it gets the
  /// `index`-th share of the device's cores. Shares differ by a core at most, so the streams may
  /// have different numbers of threads; more streams than cores share cores. Copy streams ignore
  /// both.
  [[nodiscard]] virtual std::unique_ptr<Stream> make_stream(StreamKind kind, int index = 0,
                                                            int sharers = 1) = 0;
  [[nodiscard]] virtual std::unique_ptr<Event> make_event(EventKind kind = EventKind::timing) = 0;

  /// An event that streams of other backends can wait for as well. `word`: four bytes of host
  /// memory that they and this device can see. Callers use make_event_for (crossing.h).
  [[nodiscard]] virtual std::unique_ptr<Event> make_shared_event(Buffer word) {
    static_cast<void>(word);
    throw Unsupported(info().name + ": its streams have no order with those of other backends");
  }

  /// Throws OutOfMemory when there is not enough memory. Device and pinned memory is touched
  /// before the call returns; its content is undefined.
  [[nodiscard]] virtual Buffer allocate(std::size_t bytes, MemoryKind kind) = 0;

  /// Makes a buffer of this device (or an empty one) at least that large, without paying again for
  /// the memory that it holds where the device can. Its content becomes undefined and it may move.
  /// Throws OutOfMemory and leaves the buffer as it was.
  virtual void grow(Buffer& buffer, std::size_t bytes, MemoryKind kind) = 0;

  /// Prepares host memory of another backend's device for copies by streams of this one, during the
  /// lifetime of the result. A GPU must find pages locked: it reads what is pageable when a copy is
  /// enqueued, not when its turn comes. Null where there is nothing to do. Throws OutOfMemory.
  [[nodiscard]] virtual std::shared_ptr<void> page_lock([[maybe_unused]] BufferView memory) {
    return nullptr;
  }

  /// Joins devices for collectives, this one the first of them. Null where no library does: not
  /// for parts of one GPU, nor for devices of several backends. Throws Error where the library
  /// fails.
  [[nodiscard]] virtual std::unique_ptr<Communicator> make_communicator(
      [[maybe_unused]] std::span<Device* const> members) {
    return nullptr;
  }

  /// Returns what devices that are joined have to know of each other, which rank 0 makes for all.
  /// Throws Unsupported where no library joins this one (DeviceInfo::joined_by).
  [[nodiscard]] virtual std::vector<std::byte> make_joining_id();

  /// Joins this device with one of each other process; all call it at once. Throws Unsupported
  /// where no library does, Error where the library fails or the others do not come, and what
  /// Joining::check throws.
  [[nodiscard]] virtual std::unique_ptr<Communicator> join(const Joining& joining);

  /// Plans an operation for streams of this device with that many intra-operator threads. Throws
  /// Unsupported with the reason when the backend does not have it.
  [[nodiscard]] virtual std::unique_ptr<Op> prepare(const OpDesc& desc, int threads) = 0;

  /// Chooses kernels for operations that are going to be prepared, those with the most arithmetic
  /// first, so that they are measured before the time for tuning is spent. Does nothing where the
  /// device measures none. Operations that it does not have are left to `prepare`, which throws.
  virtual void tune([[maybe_unused]] std::vector<OpDesc> operations) {}  // NOLINT(performance-*)

  /// The layout that activations of this shape ({N, C, H, W}, {N, positions, C} or {N, C}) have on
  /// this device throughout a model.
  [[nodiscard]] virtual TensorDesc activation(const Shape& shape, DType dtype) const = 0;
};

/// A link between two devices, by their names.
struct DeviceLink {
  std::string from;
  std::string to;
  std::string kind;
};

/// Returns the links of all pairs of devices, the earlier one first, as far as one of them knows
/// the link.
[[nodiscard]] std::vector<DeviceLink> links_of(const std::vector<std::unique_ptr<Device>>& devices);

/// Returns whether a library joins devices of several processes for collectives: each rank in its
/// order has one, which is hardware of its own, and all have the same library.
[[nodiscard]] bool are_joined_by_library(const std::vector<std::unique_ptr<Device>>& devices);

}  // namespace parbench
