// parbench-smoke CHECK DEVICES: uses one subsystem of a device for the first time, so that a fault
// is known by its name in seconds. scripts/gpu-check runs every check in a process of its own.
// Prints a line for each thing that worked; exits with 1 and the reason where one did not.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/base/bfloat16.h"
#include "kernels/base/error.h"
#include "kernels/machine/machine.h"

namespace parbench {
namespace {

/// scripts/gpu-check gives all checks 45 s. A check whose starter was killed ends by itself.
constexpr unsigned max_seconds = 60;

constexpr std::chrono::seconds wait_limit{15};

template <typename... Arguments>
void say(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  fmt::print("{}\n", fmt::format(format, std::forward<Arguments>(arguments)...));
  std::fflush(stdout);
}

void require(bool condition, const std::string& what) {
  if (!condition) throw Error(what);
}

/// A device with one stream.
class Bench {
 public:
  explicit Bench(std::unique_ptr<Device> device)
      : device_(std::move(device)), stream_(device_->make_stream(StreamKind::compute)) {}
  Bench(const Machine& machine, const std::string& name)
      : Bench(std::move(machine.open(name).front())) {}

  [[nodiscard]] Device& device() const { return *device_; }
  [[nodiscard]] Stream& stream() const { return *stream_; }
  [[nodiscard]] std::unique_ptr<Op> prepare(const OpDesc& desc) const {
    auto op = device_->prepare(desc, stream_->threads());
    if (stream_->scratch_bytes() < op->scratch_bytes()) {
      stream_->reserve_scratch(op->scratch_bytes());
    }
    return op;
  }
  void wait() const { stream_->synchronize(wait_limit); }

 private:
  std::unique_ptr<Device> device_;
  std::unique_ptr<Stream> stream_;
};

/// Memory of a tensor whose elements have the same value. It is filled in the canonical layout and
/// reordered into the tensor's, whose padding stays without meaning.
class Constant {
 public:
  Constant(const Bench& bench, const TensorDesc& tensor, float value)
      : bench_(bench),
        dtype_(tensor.dtype),
        memory_(bench.device().allocate(tensor.bytes, MemoryKind::device)) {
    const TensorDesc plain =
        is_opaque(tensor.layout) ? tensor : canonical(tensor.shape, tensor.dtype);
    staging_ = bench.device().allocate(plain.bytes, MemoryKind::pinned);
    if (plain != tensor) {
      plain_ = bench.device().allocate(plain.bytes, MemoryKind::device);
      into_layout_ = bench.prepare(Reorder{.source = plain, .destination = tensor});
      out_of_layout_ = bench.prepare(Reorder{.source = tensor, .destination = plain});
    }
    for (std::size_t at = 0; at < plain.bytes; at += size_of(dtype_)) {
      const std::uint16_t narrow = to_bf16(value);
      const void* from = &value;
      if (dtype_ == DType::bf16) from = &narrow;
      std::memcpy(staging_.data() + at, from, size_of(dtype_));
    }
    bench_.stream().copy(plain_memory(), staging_);
    if (into_layout_) {
      into_layout_->enqueue(bench_.stream(), std::vector<BufferView>{plain_, memory_});
    }
    bench_.wait();
  }

  [[nodiscard]] BufferView view() const { return memory_; }

  /// The largest element now.
  [[nodiscard]] float largest() const {
    if (out_of_layout_) {
      out_of_layout_->enqueue(bench_.stream(), std::vector<BufferView>{memory_, plain_});
    }
    bench_.stream().copy(staging_, plain_memory());
    bench_.wait();
    float found = 0;
    for (std::size_t at = 0; at < staging_.bytes(); at += size_of(dtype_)) {
      float value = 0;
      std::uint16_t narrow = 0;
      if (dtype_ == DType::bf16) {
        std::memcpy(&narrow, staging_.data() + at, sizeof narrow);
        value = from_bf16(narrow);
      } else {
        std::memcpy(&value, staging_.data() + at, sizeof value);
      }
      if (!(value <= found)) found = value;  // a NaN is kept
      if (found != found) break;
    }
    return found;
  }

 private:
  [[nodiscard]] BufferView plain_memory() const { return into_layout_ ? plain_ : memory_; }

  const Bench& bench_;
  DType dtype_;
  Buffer memory_;
  Buffer staging_;
  Buffer plain_;  // in the canonical layout, where the tensor has another
  std::unique_ptr<Op> into_layout_;
  std::unique_ptr<Op> out_of_layout_;
};

/// Runs an operation on tensors of ones. Its last argument is the output; its largest element has
/// to be `expected`, a sum of ones that every type holds exactly. Winograd and FFT engines compute
/// it from rounded intermediates, which the tolerance covers.
void check_sum(const Bench& bench, const std::string& what, const OpDesc& desc, float expected) {
  const std::unique_ptr<Op> op = bench.prepare(desc);
  say("{}: {}, {} bytes of scratch", what, op->implementation(), op->scratch_bytes());
  std::vector<std::unique_ptr<Constant>> memory;
  std::vector<BufferView> views;
  for (const Argument& argument : op->arguments()) {
    const float value = argument.access == Access::read ? 1.0F : 0.0F;
    memory.push_back(std::make_unique<Constant>(bench, argument.tensor, value));
    views.push_back(memory.back()->view());
  }
  op->enqueue(bench.stream(), views);
  bench.wait();
  const float got = memory.back()->largest();
  const bool close = std::abs(got - expected) <= 1e-4F * expected;  // false for a NaN
  require(close, fmt::format("{}: the largest sum is {}, not {}", what, got, expected));
}

// --- the checks --------------------------------------------------------------------------------

void context(const Machine& machine, const std::string& name) {
  const Bench bench(machine, name);
  const DeviceInfo& info = bench.device().info();
  say("{}: {}, {:.1f} GiB", info.name, info.hardware,
      static_cast<double>(info.memory_bytes) / (1U << 30U));
  for (const auto& [fact, value] : info.facts) say("{}: {}", fact, value);
}

/// A kernel of our own.
void kernel(const Machine& machine, const std::string& name) {
  const Bench bench(machine, name);
  check_sum(bench, "addition", Add{.shape = {4, 64, 16, 16}, .dtype = DType::f32}, 2);
}

ConvolutionShape image_batch(std::int64_t in, std::int64_t side, std::int64_t out,
                             std::int64_t kernel, std::int64_t stride) {
  return {.batch = 4,
          .in_channels = in,
          .height = side,
          .width = side,
          .out_channels = out,
          .kernel = kernel,
          .stride = stride,
          .padding = kernel / 2};
}

/// How many positions of the kernel reach the input that most reach, in one dimension.
std::int64_t positions(const ConvolutionShape& shape) {
  return std::min((shape.kernel + shape.stride - 1) / shape.stride, shape.out_height());
}

/// All passes of a convolution.
void check_convolution(const Bench& bench, const std::string& what, const ConvolutionShape& shape,
                       NumberFormat format) {
  const auto square = [](std::int64_t side) { return static_cast<float>(side * side); };
  const auto channels = [](std::int64_t count) { return static_cast<float>(count); };
  check_sum(bench, what + " forward", ConvolutionForward{shape, format.dtype, false, format.math},
            channels(shape.in_channels) * square(shape.kernel));
  check_sum(bench, what + " backward data",
            ConvolutionBackwardData{shape, format.dtype, format.math},
            channels(shape.out_channels) * square(positions(shape)));
  check_sum(bench, what + " backward weights",
            ConvolutionBackwardWeights{shape, format.dtype, false, false, format.math},
            channels(shape.batch) * square(shape.out_height()));
}

/// Of ResNet-50: its first, one in the middle, one that a stage begins with.
void convolution(const Machine& machine, const std::string& name, NumberFormat format) {
  const Bench bench(machine, name);
  check_convolution(bench, "7x7 stride 2 of 3 channels", image_batch(3, 64, 64, 7, 2), format);
  check_convolution(bench, "3x3 of 64 channels", image_batch(64, 16, 64, 3, 1), format);
  check_convolution(bench, "1x1 stride 2 of 256 channels", image_batch(256, 16, 512, 1, 2), format);
}

void product(const Machine& machine, const std::string& name, NumberFormat format) {
  const Bench bench(machine, name);
  Gemm gemm{.m = 512, .n = 512, .k = 512, .dtype = format.dtype};
  gemm.math = format.math;
  check_sum(bench, "product n = 512", gemm, 512);
}

void require_largest(const std::string& what, const Constant& tensor, float expected) {
  const float got = tensor.largest();
  require(got == expected, fmt::format("{} gives {}, not {}", what, got, expected));
}

/// Runs `enqueue` at once and then as a graph of its stream, three times. `subject` holds ones, and
/// each run turns its elements x into next(x).
void check_capture(const Bench& bench, const std::function<void()>& enqueue,
                   const Constant& subject, float (*next)(float)) {
  enqueue();
  float expected = next(1);
  require_largest("the run without a graph", subject, expected);
  const std::unique_ptr<Graph> captured = bench.stream().capture(enqueue);
  say("captured");
  for (int launch = 1; launch <= 3; ++launch) {
    captured->launch();
    expected = next(expected);
    require_largest(fmt::format("launch {}", launch), subject, expected);
  }
  say("launched 3 times");
}

void graph(const Machine& machine, const std::string& name) {
  const Bench bench(machine, name);
  const auto op = bench.prepare(Add{.shape = {1, 16, 8, 8}, .dtype = DType::f32});
  const TensorDesc tensor = op->tensor("destination");
  const Constant a(bench, tensor, 1);
  const Constant b(bench, tensor, 1);
  const Constant sum(bench, tensor, 0);
  const auto enqueue = [&] {
    op->enqueue(bench.stream(), std::vector{a.view(), b.view(), sum.view()});
    op->enqueue(bench.stream(), std::vector{sum.view(), b.view(), a.view()});
  };
  check_capture(bench, enqueue, a, [](float x) { return x + 2; });
}

/// Two devices at once: a sum on the first, events that order the second after it and back, and
/// copies both ways.
void pair(const Machine& machine, const std::string& names) {
  auto devices = machine.open(names);
  require(devices.size() == 2, "'pair' needs two devices, such as cuda:0/0,cuda:0/1");
  const Bench first(std::move(devices[0]));
  const Bench second(std::move(devices[1]));
  const Add addition{.shape = {4, 64, 16, 16}, .dtype = DType::f32};
  const auto add = first.prepare(addition);
  const auto add_again = second.prepare(addition);
  const Constant a(first, add->tensor("destination"), 1);
  const Constant one(first, add->tensor("destination"), 1);
  const Constant sum(first, add->tensor("destination"), 0);
  const Constant copied(second, add_again->tensor("destination"), 0);
  const Constant twice(second, add_again->tensor("destination"), 0);
  const auto there = first.device().make_event(EventKind::ordering);
  const auto back = second.device().make_event(EventKind::ordering);
  const auto enqueue = [&] {
    add->enqueue(first.stream(), std::vector{a.view(), one.view(), sum.view()});
    first.stream().record(*there);
    second.stream().wait(*there);
    second.stream().copy(copied.view(), sum.view());
    add_again->enqueue(second.stream(), std::vector{copied.view(), copied.view(), twice.view()});
    second.stream().record(*back);
    first.stream().wait(*back);
    first.stream().copy(a.view(), twice.view());
  };
  check_capture(first, enqueue, a, [](float x) { return 2 * (x + 1); });
}

/// The profiler, detached when devices are opened anew, and attached again.
void activities(const Machine& machine, const std::string& name) {
  for (int scenario = 1; scenario <= 2; ++scenario) {
    const Bench bench(machine, name);
    const auto spin = bench.prepare(Spin{.duration = std::chrono::microseconds(200)});
    const Buffer counter = bench.device().allocate(sizeof(std::uint64_t), MemoryKind::device);
    const auto run = [&] {
      bench.stream().set_tag(7);
      spin->enqueue(bench.stream(), std::vector<BufferView>{counter});
      bench.wait();
    };
    run();
    ActivityLog log(1);
    bench.stream().log_activities(&log);
    run();
    bench.stream().log_activities(nullptr);
    require(log.activities().size() == 1, fmt::format("{} activities of one kernel, {} dropped",
                                                      log.activities().size(), log.dropped()));
    const std::chrono::duration<double, std::micro> ran =
        log.activities()[0].end - log.activities()[0].begin;
    say("a kernel of 200 us was recorded with {:.1f} us, clock error {:.1f} us", ran.count(),
        1e6 * log.clock_error);
    require(ran.count() > 190, "that is too short");
    run();
  }
}

/// Records of kernels that a graph launched: each belongs to the work it was captured from.
void graph_activities(const Machine& machine, const std::string& name) {
  const Bench bench(machine, name);
  const auto spin = bench.prepare(Spin{.duration = std::chrono::microseconds(200)});
  const Buffer counter = bench.device().allocate(sizeof(std::uint64_t), MemoryKind::device);
  ActivityLog log(4);
  bench.stream().log_activities(&log);
  const std::unique_ptr<Graph> captured = bench.stream().capture([&] {
    for (const ActivityTag tag : {7, 8}) {
      bench.stream().set_tag(tag);
      spin->enqueue(bench.stream(), std::vector<BufferView>{counter});
    }
  });
  captured->launch();
  bench.wait();
  bench.stream().log_activities(nullptr);
  std::vector<ActivityTag> tags;
  for (const Activity& recorded : log.activities()) tags.push_back(recorded.tag);
  require(tags == std::vector<ActivityTag>{7, 8},
          fmt::format("the records of a graph with kernels 7 and 8 are of {}; {} dropped",
                      fmt::join(tags, ", "), log.dropped()));
  say("a graph's kernels were recorded with their tags");
}

template <typename Value>
std::string text_of(const std::optional<Value>& value) {
  return value ? fmt::format("{:.0f}", *value) : "unknown";
}

void condition(const Machine& machine, const std::string& name) {
  const Bench bench(machine, name);
  const Condition now = bench.device().condition();
  say("clock {} MHz of {}, {} degrees, {} W, throttled by: {}", text_of(now.clock_mhz),
      text_of(now.full_clock_mhz), text_of(now.temperature_celsius), text_of(now.power_watts),
      fmt::join(now.throttled_by, ", "));
  require(bench.device().info().backend == "cpu" || now.clock_mhz.has_value(),
          "the driver's NVML reports no clock; is libnvidia-ml.so.1 of this driver?");
}

/// Half of a GPU; of a processor, a core. The second half, as the first opened alone would have all
/// multiprocessors.
void partition(const Machine& machine, const std::string& name) {
  const std::string half = name.starts_with("cuda") ? name + "/1" : name;
  const std::string both = name.starts_with("cuda") ? name + "/0," + half : name;
  for (const auto& device : machine.open(both)) {
    say("{}: {}", device->info().name, device->info().hardware);
  }
  const Bench bench(machine, half);
  check_convolution(bench, "3x3 of 64 channels", image_batch(64, 16, 64, 3, 1), {});
}

using Check = std::function<void(const Machine&, const std::string&)>;

std::map<std::string, Check> checks() {
  std::map<std::string, Check> all{
      {"context", context},     {"kernel", kernel},
      {"graph", graph},         {"activities", activities},
      {"condition", condition}, {"partition", partition},
      {"pair", pair},           {"graph-activities", graph_activities}};
  for (const std::string& word : number_format_names()) {
    const NumberFormat format = number_format_named(word).value();
    all["product-" + word] = [=](const Machine& machine, const std::string& name) {
      product(machine, name, format);
    };
    all["convolution-" + word] = [=](const Machine& machine, const std::string& name) {
      convolution(machine, name, format);
    };
  }
  return all;
}

int run(const std::string& check, const std::string& device) {
  const auto all = checks();
  const auto found = all.find(check);
  if (found == all.end()) {
    std::vector<std::string> names;
    for (const auto& [name, function] : all) names.push_back(name);
    say("no check '{}'; there are: {}", check, fmt::join(names, ", "));
    return 2;
  }
  const auto begin = std::chrono::steady_clock::now();
  try {
    found->second(Machine(), device);
  } catch (const std::exception& error) {
    say("FAILED: {}", error.what());
    std::fflush(nullptr);
    _exit(1);  // what still runs on the device may keep a destructor waiting
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  say("done in {:.2f} s", taken.count());
  return 0;
}

}  // namespace
}  // namespace parbench

int main(int count, char** words) {
  if (count != 3) {
    fmt::print(stderr, "usage: parbench-smoke CHECK DEVICES\n");
    return 2;
  }
  alarm(parbench::max_seconds);
  return parbench::run(words[1], words[2]);
}
