// Devices that a communicator joins, for tests without such hardware: the collectives are computed
// by copies and additions of the devices' own.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/core/communicator.h"
#include "kernels/core/device.h"

namespace parbench::test {

/// A device like the one inside, but one that makes communicators.
class JoinedDevice final : public Device {
 public:
  explicit JoinedDevice(std::unique_ptr<Device> device) : inner_(std::move(device)) {}

  const DeviceInfo& info() const override { return inner_->info(); }
  AvailableMemory available_memory() const override { return inner_->available_memory(); }
  std::unique_ptr<Stream> make_stream(StreamKind kind, int index, int sharers) override {
    return inner_->make_stream(kind, index, sharers);
  }
  std::unique_ptr<Event> make_event(EventKind kind) override { return inner_->make_event(kind); }
  Buffer allocate(std::size_t bytes, MemoryKind kind) override {
    return inner_->allocate(bytes, kind);
  }
  void grow(Buffer& buffer, std::size_t bytes, MemoryKind kind) override {
    inner_->grow(buffer, bytes, kind);
  }
  std::unique_ptr<Communicator> make_communicator(std::span<Device* const> ranks) override;
  std::unique_ptr<Op> prepare(const OpDesc& desc, int threads) override {
    return inner_->prepare(desc, threads);
  }
  TensorDesc activation(const Shape& shape, DType dtype) const override {
    return inner_->activation(shape, dtype);
  }

 private:
  std::unique_ptr<Device> inner_;
};

[[nodiscard]] std::vector<std::unique_ptr<Device>> joined(
    std::vector<std::unique_ptr<Device>> devices);

/// Computes all of a collective on the stream of rank 0, which waits for the others; they wait for
/// it. Streams have one thread, as copy streams do.
class CopyingCommunicator final : public Communicator {
 public:
  explicit CopyingCommunicator(std::vector<Device*> devices);

  const std::string& name() const override { return name_; }
  int size() const override { return static_cast<int>(devices_.size()); }
  void check() const override;

  /// What `check` throws from now on; empty: nothing.
  std::string failure;

 private:
  void enqueue_checked(Collective collective, std::span<Stream* const> streams,
                       std::span<const BufferView> data,
                       std::span<const BufferView> inputs) override;
  void add_to_first(Stream& stream, std::span<const BufferView> data);
  static void gather(Stream& stream, std::span<const BufferView> data);
  static void scatter(Stream& stream, std::span<const BufferView> data);
  static void exchange(Stream& stream, std::span<const BufferView> data,
                       std::span<const BufferView> inputs);
  static void send(Stream& stream, std::span<const BufferView> data,
                   std::span<const BufferView> inputs);

  std::string name_ = "copies of a test";
  std::vector<Device*> devices_;
  std::vector<std::unique_ptr<Event>> come_;  // by rank
  std::unique_ptr<Event> done_;
  std::map<std::int64_t, std::unique_ptr<Op>> additions_;  // by count, for streams of one thread
};

}  // namespace parbench::test
