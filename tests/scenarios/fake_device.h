// A device without a backend: executes at once, records what was enqueued, and keeps activations in
// a layout of its own (channels last), so that scenarios can be tested anywhere.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/core/device.h"
#include "scenarios/framework/context.h"

namespace parbench::test {

/// What was enqueued, in order, over all streams of a device: "fake:0/compute/1: gemm".
using CallLog = std::vector<std::string>;

class FakeDevice final : public Device {
 public:
  /// `copy_cores`: of the copy lane; none: it shares the cores that compute.
  explicit FakeDevice(int index, int cores = 2, std::vector<int> copy_cores = {},
                      std::string backend = "fake");

  const DeviceInfo& info() const override { return info_; }
  AvailableMemory available_memory() const override { return available; }
  Condition condition() const override { return on_condition(); }
  std::string link_to(const Device&) const override { return link; }
  bool one_launching_thread() const override { return single_threaded; }
  bool loads_at_first_use() const override { return slow_first_use; }
  std::unique_ptr<Stream> make_stream(StreamKind kind, int index, int sharers) override;
  std::unique_ptr<Event> make_event(EventKind kind) override;
  Buffer allocate(std::size_t bytes, MemoryKind kind) override;
  void grow(Buffer& buffer, std::size_t bytes, MemoryKind kind) override {
    buffer = allocate(bytes, kind);
  }
  std::unique_ptr<Op> prepare(const OpDesc& desc, int threads) override;
  TensorDesc activation(const Shape& shape, DType dtype) const override;

  void add_fact(std::string name, std::string value) {
    info_.facts.emplace_back(std::move(name), std::move(value));
  }

  /// Makes it the device of a rank that a library joins with those of others; `on_join` makes the
  /// communicator.
  void set_joined(int rank, std::string library) {
    info_.rank = rank;
    info_.joined_by = std::move(library);
    info_.unit = info_.name;
  }
  std::vector<std::byte> make_joining_id() override { return std::vector<std::byte>(1); }
  std::unique_ptr<Communicator> join(const Joining& joining) override { return on_join(joining); }
  std::function<std::unique_ptr<Communicator>(const Joining&)> on_join;

  void set_cores(std::vector<int> cores) { info_.cores = std::move(cores); }

  /// As a CPU device's: every backend can copy from and to it.
  void set_host_memory() { info_.host_memory = true; }

  /// Whether operations do nothing, so that the device has all of them.
  bool computes_nothing = false;
  CallLog log;
  bool single_threaded = false;
  bool slow_first_use = true;
  std::string link;  // with whatever other device
  AvailableMemory available{"all fakes", std::size_t{1} << 40};
  std::function<Condition()> on_condition = [] { return Condition{}; };
  /// Bytes of the buffers that exist.
  [[nodiscard]] std::size_t allocated_bytes() const { return *allocated_; }

  /// The seconds between any two events.
  std::function<double()> on_elapsed = [] { return 0.0; };
  /// Called by every stream's `synchronize`; may throw what a worker would have left.
  std::function<void()> on_synchronize = [] {};

 private:
  DeviceInfo info_;
  std::shared_ptr<std::size_t> allocated_ = std::make_shared<std::size_t>(0);
};

/// A context over fake devices.
[[nodiscard]] Context fake_context(int devices, Context::Options options = {});

/// The fake device of a context's device.
[[nodiscard]] FakeDevice& fake(const Context& context, int index);

}  // namespace parbench::test
