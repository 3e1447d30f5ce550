// A device makes streams, events and buffers, and plans operations.
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
  std::string model;                    // product name of the processor
  std::string hardware;                 // the model; for a part of a GPU also its size
  std::vector<int> cores;               // operating-system indices of the cores that compute
  std::vector<int> copy_cores;          // operating-system indices of the cores of the copy lane
  std::size_t memory_bytes = 0;         // total memory, possibly shared with other devices
  std::vector<std::string> peers = {};  // devices whose memory this one can access without the host
  bool host_memory = false;  // whether its memory is host memory, which every backend can copy
  /// Further properties that affect times: {"compute capability", "9.0"}, …
  std::vector<std::pair<std::string, std::string>> facts = {};
  int rank = 0;            // process of the run to which the device belongs
  bool is_remote = false;  // whether `rank` is another process (remote_device.h)
  /// Whether messages to other processes are copied through page-locked host memory: true if the
  /// device's memory is not host memory and the message passing library cannot access it.
  bool staged = false;
  /// Library for collectives with devices of other processes ("NCCL 2.28.9"); empty if there is
  /// none.
  std::string joined_by = {};
  /// Unique name of the hardware, for example the UUID of a GPU; empty if unknown.
  std::string unit = {};
};

/// Returns whether two devices have the same backend and hardware. They are then expected to use
/// the same kernels, with results that are equal bit for bit.
[[nodiscard]] inline bool alike(const DeviceInfo& a, const DeviceInfo& b) {
  return a.backend == b.backend && a.hardware == b.hardware;
}

/// Memory that can be allocated now.
struct AvailableMemory {
  std::string pool;  // devices with the same pool share these bytes
  std::size_t bytes = 0;
};

class Device {
 public:
  virtual ~Device() = default;

  [[nodiscard]] virtual const DeviceInfo& info() const = 0;
  [[nodiscard]] virtual AvailableMemory available_memory() const = 0;

  /// Reads the sensors, also while streams run. Does not throw: values that cannot be read are
  /// absent.
  [[nodiscard]] virtual Condition condition() const { return {}; }

  /// Returns the link to another device ("NVLink 4 × 18", "PCIe 5 × 16", "shared memory"); empty if
  /// this backend cannot determine it. `links_of` then asks the other device.
  [[nodiscard]] virtual std::string link_to([[maybe_unused]] const Device& other) const {
    return {};
  }

  /// Returns whether only one host thread at a time may enqueue on the device's streams. A plan
  /// then cannot be submitted by one thread per lane.
  [[nodiscard]] virtual bool one_launching_thread() const { return false; }

  /// Returns whether a first execution may take many times as long as a later one because code is
  /// loaded then.
  [[nodiscard]] virtual bool loads_at_first_use() const { return false; }

  /// Makes a stream. A compute stream is number `index` of `sharers` streams that work at the same
  /// time, and gets that share of the device's cores. Shares differ by one core at most, so streams
  /// may have different numbers of threads; if there are more streams than cores, streams share
  /// cores. Copy streams ignore `index` and `sharers`.
  [[nodiscard]] virtual std::unique_ptr<Stream> make_stream(StreamKind kind, int index = 0,
                                                            int sharers = 1) = 0;
  [[nodiscard]] virtual std::unique_ptr<Event> make_event(EventKind kind = EventKind::timing) = 0;

  /// Makes an event that streams of other backends can also wait for. `word`: four bytes of host
  /// memory that this device and the waiting devices can access. Plans use make_event_for
  /// (crossing.h).
  [[nodiscard]] virtual std::unique_ptr<Event> make_shared_event(Buffer word) {
    static_cast<void>(word);
    throw Unsupported(info().name + ": its streams have no order with those of other backends");
  }

  /// Allocates memory with undefined content. Device and pinned memory is touched before the call
  /// returns. Throws OutOfMemory.
  [[nodiscard]] virtual Buffer allocate(std::size_t bytes, MemoryKind kind) = 0;

  /// Enlarges a buffer of this device (or an empty one) to at least `bytes`; keeps the buffer's
  /// memory if the device can. The content becomes undefined and the address may change. If it
  /// throws OutOfMemory, the buffer keeps its size.
  virtual void grow(Buffer& buffer, std::size_t bytes, MemoryKind kind) = 0;

  /// Prepares host memory of another backend's device for copies by streams of this device, until
  /// the returned object is destroyed. GPUs need locked pages: they read pageable memory when a
  /// copy is enqueued instead of when it runs. Null if no preparation is needed. Throws
  /// OutOfMemory.
  [[nodiscard]] virtual std::shared_ptr<void> page_lock([[maybe_unused]] BufferView memory) {
    return nullptr;
  }

  /// Joins devices for collectives; the first one is this device. Null if no library supports them,
  /// as for parts of one GPU and for devices of several backends. Throws Error if the library
  /// fails.
  [[nodiscard]] virtual std::unique_ptr<Communicator> make_communicator(
      [[maybe_unused]] std::span<Device* const> members) {
    return nullptr;
  }

  /// Returns the identifier that devices need to join each other; rank 0 makes it for all. Throws
  /// Unsupported if no library joins this device (DeviceInfo::joined_by).
  [[nodiscard]] virtual std::vector<std::byte> make_joining_id();

  /// Joins this device with one device of each other process; all processes call it at the same
  /// time. Throws Unsupported if no library does so, Error if the library fails or other ranks do
  /// not join, and what Joining::check throws.
  [[nodiscard]] virtual std::unique_ptr<Communicator> join(const Joining& joining);

  /// Plans an operation for streams of this device with `threads` intra-operator threads. Throws
  /// Unsupported with the reason if the backend does not support the operation.
  [[nodiscard]] virtual std::unique_ptr<Op> prepare(const OpDesc& desc, int threads) = 0;

  /// Chooses kernels for operations before they are prepared. Measures the operations with the most
  /// FLOPs first, because the time for tuning is limited. Does nothing on devices that do not
  /// measure kernels. Ignores unsupported operations, for which `prepare` throws.
  virtual void tune([[maybe_unused]] std::vector<OpDesc> operations) {}  // NOLINT(performance-*)

  /// Returns the description of an activation of this shape ({N, C, H, W}, {N, positions, C} or
  /// {N, C}) in the layout that all operations of a model on this device use for it.
  [[nodiscard]] virtual TensorDesc activation(const Shape& shape, DType dtype) const = 0;
};

/// A link between two devices, given by their names.
struct DeviceLink {
  std::string from;
  std::string to;
  std::string kind;
};

/// Returns the known links of all pairs of devices; each pair names the earlier device first.
[[nodiscard]] std::vector<DeviceLink> links_of(const std::vector<std::unique_ptr<Device>>& devices);

/// Returns whether a library joins devices of several processes for collectives. This requires one
/// device per rank, in the order of the ranks, each on hardware of its own, and the same library on
/// all.
[[nodiscard]] bool are_joined_by_library(const std::vector<std::unique_ptr<Device>>& devices);

}  // namespace parbench
