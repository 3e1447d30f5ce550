// Naive operations that run while they are enqueued.
#include "tests/scenarios/fake_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "kernels/base/error.h"
#include "kernels/base/random.h"
#include "kernels/core/described_op.h"
#include "kernels/ops/flops.h"
#include "kernels/ops/operands.h"

namespace parbench::test {
namespace {

class ChannelsLast final : public LayoutDetail {
 public:
  bool equals(const LayoutDetail& other) const override {
    return dynamic_cast<const ChannelsLast*>(&other) != nullptr;
  }
  std::string name() const override { return "channels last"; }
};

/// Offset of an element of a rank-4 tensor in either layout.
std::int64_t at(const TensorDesc& desc, std::int64_t n, std::int64_t c, std::int64_t y,
                std::int64_t x) {
  const Shape& s = desc.shape;
  if (desc.layout.is_canonical()) return ((n * s[1] + c) * s[2] + y) * s[3] + x;
  return ((n * s[2] + y) * s[3] + x) * s[1] + c;
}

using Addresses = std::vector<float*>;
using Execute = std::function<void(const Addresses&)>;

class FakeEvent final : public Event {
 public:
  explicit FakeEvent(const FakeDevice& device) : device_(device) {}
  double seconds_since(const Event&) const override { return device_.on_elapsed(); }

 private:
  const FakeDevice& device_;
};

class FakeStream final : public Stream {
 public:
  FakeStream(FakeDevice& device, std::string name, int threads)
      : device_(device), name_(std::move(name)), threads_(threads) {}

  Device& device() const override { return device_; }
  int threads() const override { return threads_; }
  std::size_t scratch_bytes() const override { return scratch_; }
  void copy(BufferView destination, BufferView source) override {
    if (destination.bytes != source.bytes) throw std::invalid_argument("copy of unequal sizes");
    std::memcpy(destination.data(), source.data(), source.bytes);
    note("copy");
  }
  void record(Event&) override {}
  void wait(Event&) override {}
  void synchronize(std::chrono::milliseconds) override { device_.on_synchronize(); }
  void note(const std::string& what) { device_.log.push_back(name_ + ": " + what); }

 private:
  void grow_scratch(std::size_t bytes) override { scratch_ = bytes; }

  FakeDevice& device_;
  std::string name_;
  int threads_;
  std::size_t scratch_ = 0;
};

class FakeOp final : public DescribedOp {
 public:
  FakeOp(const FakeDevice& device, const OpDesc& desc, Execute execute, int threads)
      : DescribedOp(desc), execute_(std::move(execute)), threads_(threads) {
    for (const Operand& operand : operands()) {
      const TensorDesc& tensor = operand.tensor;
      if (tensor.dtype != DType::f32) throw Unsupported("the fake device has f32 only");
      const bool is_activation = operand.placement == Placement::activation;
      add_tensor(is_activation ? device.activation(tensor.shape, tensor.dtype) : tensor);
    }
    set_flops(flops_of(desc));
    set_implementation("naive");
    add_scratch(64);
  }

  void enqueue(Stream& stream, std::span<const BufferView> views) override {
    auto& mine = dynamic_cast<FakeStream&>(stream);
    if (stream.threads() != threads_) throw std::invalid_argument("prepared for other threads");
    if (stream.scratch_bytes() < scratch_bytes_) throw std::invalid_argument("no scratch");
    Addresses addresses;
    for (const BufferView& view : views) {
      addresses.push_back(reinterpret_cast<float*>(view.data()));
    }
    execute_(addresses);
    mine.note(name_);
  }

 private:
  Execute execute_;
  int threads_;
};

Execute plan(const ConvolutionForward& desc, const FakeDevice& device) {
  if (!desc.bias) throw Unsupported("the fake device has convolutions with a bias only");
  const ConvolutionShape s = desc.shape;
  const TensorDesc in = device.activation(s.source(), desc.dtype);
  const TensorDesc out = device.activation(s.destination(), desc.dtype);
  const std::int64_t per_group_in = s.in_channels / s.groups;
  const std::int64_t per_group_out = s.out_channels / s.groups;
  const auto element = [=, relu = desc.relu](const Addresses& a, std::int64_t n, std::int64_t c,
                                             std::int64_t y, std::int64_t x) {
    double sum = a[2][c];
    for (std::int64_t i = 0; i < per_group_in; ++i) {
      for (std::int64_t k = 0; k < s.kernel * s.kernel; ++k) {
        const std::int64_t iy = y * s.stride - s.padding + k / s.kernel;
        const std::int64_t ix = x * s.stride - s.padding + k % s.kernel;
        if (iy < 0 || ix < 0 || iy >= s.height || ix >= s.width) continue;
        const std::int64_t channel = c / per_group_out * per_group_in + i;
        sum += static_cast<double>(a[0][at(in, n, channel, iy, ix)]) *
               a[1][(c * per_group_in + i) * s.kernel * s.kernel + k];
      }
    }
    a[3][at(out, n, c, y, x)] = static_cast<float>(relu ? std::max(sum, 0.0) : sum);
  };
  return [=](const Addresses& a) {
    for (std::int64_t n = 0; n < s.batch; ++n) {
      for (std::int64_t c = 0; c < s.out_channels; ++c) {
        for (std::int64_t y = 0; y < s.out_height(); ++y) {
          for (std::int64_t x = 0; x < s.out_width(); ++x) element(a, n, c, y, x);
        }
      }
    }
  };
}

Execute plan(const Gemm& desc, const FakeDevice&) {
  return [desc](const Addresses& a) {
    for (std::int64_t i = 0; i < desc.m; ++i) {
      for (std::int64_t j = 0; j < desc.n; ++j) {
        double sum = 0;
        for (std::int64_t k = 0; k < desc.k; ++k) {
          const float left = a[0][desc.transpose_a ? k * desc.m + i : i * desc.k + k];
          const float right = a[1][desc.transpose_b ? j * desc.k + k : k * desc.n + j];
          sum += static_cast<double>(left) * right;
        }
        a[2][i * desc.n + j] = static_cast<float>(sum);
      }
    }
  };
}

/// Applies a function of all inputs to each element; the result is the last address.
template <typename Function>
Execute each_element(const Shape& shape, const Function& function) {
  return [count = element_count(shape), function](const Addresses& a) {
    for (std::int64_t i = 0; i < count; ++i) a.back()[i] = function(a, i);
  };
}

Execute plan(const ActivationForward& desc, const FakeDevice&) {
  if (desc.kind != ActivationKind::relu) throw Unsupported("the fake device has relu only");
  return each_element(desc.shape,
                      [](const Addresses& a, std::int64_t i) { return std::max(a[0][i], 0.0F); });
}

Execute plan(const ActivationBackward& desc, const FakeDevice&) {
  if (desc.kind != ActivationKind::relu) throw Unsupported("the fake device has relu only");
  return each_element(
      desc.shape, [](const Addresses& a, std::int64_t i) { return a[0][i] > 0 ? a[1][i] : 0.0F; });
}

Execute plan(const Add& desc, const FakeDevice&) {
  return each_element(desc.shape,
                      [](const Addresses& a, std::int64_t i) { return a[0][i] + a[1][i]; });
}

Execute plan(const Scale& desc, const FakeDevice&) {
  return each_element(desc.shape, [desc](const Addresses& a, std::int64_t i) {
    return desc.factor * a[0][i] + desc.addend;
  });
}

Execute plan(const MseLoss& desc, const FakeDevice&) {
  return [desc](const Addresses& a) {
    const auto total = static_cast<double>(desc.total_elements);
    double loss = 0;
    for (std::int64_t i = 0; i < element_count(desc.shape); ++i) {
      const double difference = static_cast<double>(a[0][i]) - a[1][i];
      loss += difference * difference / total;
      a[3][i] = static_cast<float>(2 * difference / total);
    }
    a[2][0] = static_cast<float>(loss);
  };
}

Execute plan(const Fill& desc, const FakeDevice&) {
  return [desc](const Addresses& a) {
    const std::span<float> out(a[0], static_cast<std::size_t>(desc.count));
    if (desc.distribution == Distribution::constant) {
      std::ranges::fill(out, desc.low);
    } else {
      generate_uniform(out, 0, {desc.seed, desc.subsequence}, desc.low, desc.high);
    }
  };
}

Execute plan(const Accumulate& desc, const FakeDevice&) {
  return [desc](const Addresses& a) {
    for (std::int64_t i = 0; i < desc.count; ++i) a[1][i] += a[0][i];
  };
}

Execute plan(const Reorder& desc, const FakeDevice&) {
  return [desc](const Addresses& a) {
    const Shape& s = desc.source.shape;
    if (desc.source.layout == desc.destination.layout) {
      std::copy_n(a[0], element_count(s), a[1]);
      return;
    }
    for (std::int64_t i = 0; i < element_count(s); ++i) {
      const std::int64_t x = i % s[3];
      const std::int64_t y = i / s[3] % s[2];
      const std::int64_t c = i / (s[3] * s[2]) % s[1];
      const std::int64_t n = i / (s[3] * s[2] * s[1]);
      a[1][at(desc.destination, n, c, y, x)] = a[0][at(desc.source, n, c, y, x)];
    }
  };
}

Execute plan(const Spin&, const FakeDevice&) {
  return [](const Addresses& a) {
    std::uint64_t counter = 0;
    std::memcpy(&counter, a[0], sizeof counter);
    ++counter;
    std::memcpy(a[0], &counter, sizeof counter);
  };
}

Execute plan(const Discard& desc, const FakeDevice&) {
  return
      [desc](const Addresses& a) { std::memset(a[0], 0xFF, static_cast<std::size_t>(desc.bytes)); };
}

template <typename Desc>
Execute plan(const Desc& desc, const FakeDevice&) {
  throw Unsupported(fmt::format("the fake device has no {}", name_of(OpDesc(desc))));
}

}  // namespace

FakeDevice::FakeDevice(int index, int cores, std::vector<int> copy_cores, std::string backend) {
  info_.name = fmt::format("{}:{}", backend, index);
  info_.backend = std::move(backend);
  for (int core = 0; core < cores; ++core) info_.cores.push_back(core);
  info_.copy_cores = copy_cores.empty() ? info_.cores : std::move(copy_cores);
}

std::unique_ptr<Stream> FakeDevice::make_stream(StreamKind kind, int index, int sharers) {
  const bool copies = kind == StreamKind::copy;
  std::string name = info_.name + (copies ? "/copy" : fmt::format("/compute/{}", index));
  const int threads = copies ? 1 : std::max(1, static_cast<int>(info_.cores.size()) / sharers);
  return std::make_unique<FakeStream>(*this, std::move(name), threads);
}

std::unique_ptr<Event> FakeDevice::make_event(EventKind /*kind*/) {
  return std::make_unique<FakeEvent>(*this);
}

Buffer FakeDevice::allocate(std::size_t bytes, MemoryKind kind) {
  if (kind == MemoryKind::pageable) log.push_back(info_.name + ": allocate pageable");
  auto* data = new std::byte[bytes];
  std::memset(data, 0x5A, bytes);
  *allocated_ += bytes;
  return {data, bytes, kind, [bytes, allocated = allocated_](std::byte* memory) {
            delete[] memory;
            *allocated -= bytes;
          }};
}

std::unique_ptr<Op> FakeDevice::prepare(const OpDesc& desc, int threads) {
  Execute execute = [](const Addresses&) {};
  if (!computes_nothing) {
    execute = std::visit([this](const auto& one) { return plan(one, *this); }, desc);
  }
  return std::make_unique<FakeOp>(*this, desc, std::move(execute), threads);
}

TensorDesc FakeDevice::activation(const Shape& shape, DType dtype) const {
  TensorDesc desc = canonical(shape, dtype);
  if (shape.size() == 4) desc.layout = Layout(std::make_shared<ChannelsLast>());
  return desc;
}

Context fake_context(int devices, Context::Options options) {
  std::vector<std::unique_ptr<Device>> list;
  for (int i = 0; i < devices; ++i) list.push_back(std::make_unique<FakeDevice>(i));
  // Several can be put together to one, which comes after them.
  auto whole = devices > 1 ? std::make_unique<FakeDevice>(devices) : nullptr;
  return {std::move(list), std::move(options), std::move(whole)};
}

FakeDevice& fake(const Context& context, int index) {
  return dynamic_cast<FakeDevice&>(context.device(index));
}

}  // namespace parbench::test
