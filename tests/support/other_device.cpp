// Wrappers around CPU devices, streams, events, operations and layouts.
#include "tests/support/other_device.h"

#include <map>
#include <stdexcept>
#include <utility>
#include <variant>

#include "kernels/core/crossing.h"
#include "kernels/core/ranks/host_worker.h"
#include "tests/support/cpu_devices.h"

namespace parbench::test {
namespace {

class OtherLayout final : public LayoutDetail {
 public:
  explicit OtherLayout(Layout layout) : inner(std::move(layout)) {}
  bool equals(const LayoutDetail& with) const override {
    const auto* mine = dynamic_cast<const OtherLayout*>(&with);
    return mine != nullptr && mine->inner == inner;
  }
  std::string name() const override { return "other " + inner.name(); }

  const Layout inner;
};

TensorDesc wrapped(TensorDesc desc) {
  if (desc.layout.is_canonical() || is_opaque(desc.layout)) return desc;
  desc.layout = Layout(std::make_shared<OtherLayout>(desc.layout));
  return desc;
}

TensorDesc unwrapped(TensorDesc desc) {
  if (const auto* mine = dynamic_cast<const OtherLayout*>(desc.layout.detail())) {
    desc.layout = mine->inner;
  } else if (!desc.layout.is_canonical() && !is_opaque(desc.layout)) {
    throw std::invalid_argument("the layout " + desc.layout.name() + " is another backend's");
  }
  return desc;
}

class OtherEvent final : public Event {
 public:
  explicit OtherEvent(std::unique_ptr<Event> event) : inner(std::move(event)) {}
  double seconds_since(const Event& earlier) const override {
    return inner->seconds_since(*dynamic_cast<const OtherEvent&>(earlier).inner);
  }
  SharedRecords* shared_records() override { return inner->shared_records(); }

  const std::unique_ptr<Event> inner;
};

/// Nothing but the shared records of an event: all that a stranger sees of it.
class SeenFromOutside final : public Event {
 public:
  explicit SeenFromOutside(Event& event) : event_(event) {}
  double seconds_since(const Event&) const override {
    throw std::invalid_argument("another backend's event");
  }
  SharedRecords* shared_records() override { return event_.shared_records(); }

 private:
  Event& event_;
};

class OtherStream final : public Stream {
 public:
  OtherStream(OtherDevice& device, std::unique_ptr<Stream> stream)
      : inner(std::move(stream)), device_(device) {}
  ~OtherStream() override {
    if (worker_) worker_->stop();
    inner.reset();  // it may wait for the worker
  }

  Device& device() const override { return device_; }
  int threads() const override { return inner->threads(); }
  std::size_t scratch_bytes() const override { return inner->scratch_bytes(); }
  void copy(BufferView destination, BufferView source) override {
    inner->copy(destination, source);
    ++device_.copies;
  }
  void record(Event& event) override { inner->record(*dynamic_cast<OtherEvent&>(event).inner); }
  void wait(Event& event) override {
    if (auto* mine = dynamic_cast<OtherEvent*>(&event)) {
      inner->wait(*mine->inner);
    } else {
      inner->wait(seen_.try_emplace(&event, event).first->second);
    }
  }
  void synchronize(std::chrono::milliseconds limit) override {
    inner->synchronize(limit);
    if (worker_) worker_->finish(limit);
  }
  HostWorker* host_worker() override {
    if (!worker_) worker_ = std::make_unique<HostWorker>(device_);
    return worker_.get();
  }

  std::unique_ptr<Stream> inner;

 private:
  void grow_scratch(std::size_t bytes) override { inner->reserve_scratch(bytes); }

  OtherDevice& device_;
  std::map<Event*, SeenFromOutside> seen_;
  std::unique_ptr<HostWorker> worker_;
};

class OtherOp final : public Op {
 public:
  explicit OtherOp(std::unique_ptr<Op> op) : inner_(std::move(op)) {
    name_ = inner_->name();
    arguments_ = inner_->arguments();
    for (Argument& argument : arguments_) argument.tensor = wrapped(argument.tensor);
    work_ = inner_->work();
    scratch_bytes_ = inner_->scratch_bytes();
    implementation_ = inner_->implementation();
    is_reference_ = inner_->is_reference();
  }
  void enqueue(Stream& stream, std::span<const BufferView> views) override {
    inner_->enqueue(*dynamic_cast<OtherStream&>(stream).inner, views);
  }

 private:
  std::unique_ptr<Op> inner_;
};

DeviceInfo disguised(DeviceInfo info, std::string name) {
  info.name = std::move(name);
  info.backend = "other";
  info.host_memory = false;
  return info;
}

}  // namespace

OtherDevice::OtherDevice(std::unique_ptr<Device> device, std::string name)
    : inner_(std::move(device)), info_(disguised(inner_->info(), std::move(name))) {}

std::unique_ptr<Stream> OtherDevice::make_stream(StreamKind kind, int index, int sharers) {
  return std::make_unique<OtherStream>(*this, inner_->make_stream(kind, index, sharers));
}

std::unique_ptr<Event> OtherDevice::make_event(EventKind kind) {
  return std::make_unique<OtherEvent>(inner_->make_event(kind));
}

std::unique_ptr<Event> OtherDevice::make_shared_event(Buffer word) {
  return std::make_unique<OtherEvent>(inner_->make_shared_event(std::move(word)));
}

std::shared_ptr<void> OtherDevice::page_lock(BufferView memory) {
  on_page_lock(memory);
  ++locks;
  locked[memory.data()] = memory.bytes;
  return {static_cast<void*>(memory.data()),
          [this](void* data) { locked.erase(static_cast<std::byte*>(data)); }};
}

std::unique_ptr<Op> OtherDevice::prepare(const OpDesc& desc, int threads) {
  OpDesc mine = desc;
  if (auto* reorder = std::get_if<Reorder>(&mine)) {
    reorder->source = unwrapped(reorder->source);
    reorder->destination = unwrapped(reorder->destination);
  }
  return std::make_unique<OtherOp>(inner_->prepare(mine, threads));
}

TensorDesc OtherDevice::activation(const Shape& shape, DType dtype) const {
  return wrapped(inner_->activation(shape, dtype));
}

std::vector<std::unique_ptr<Device>> mixed_devices(int count, bool other_first) {
  std::vector<std::unique_ptr<Device>> devices = cpu_devices(count);
  for (std::size_t i = other_first ? 0 : 1; i < devices.size(); i += 2) {
    devices[i] = std::make_unique<OtherDevice>(std::move(devices[i]), "other:" + std::to_string(i));
  }
  return devices;
}

}  // namespace parbench::test
