// Measures peaks with plans of one task each; of several sizes or operations, the best counts.
#include "bench/estimates/peaks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "bench/execution/executor.h"
#include "bench/execution/interrupt.h"
#include "reports/model/peaks.h"
#include "reports/statistics/statistics.h"
#include "scenarios/framework/prepared_case.h"
#include "scenarios/matmul/products.h"

namespace parbench {
namespace {

constexpr double max_executions = 10'000;
constexpr std::string_view operations_unit = "FLOP/s";
constexpr std::string_view bytes_unit = "B/s";

Rate rate_of(double amount, const std::vector<double>& seconds) {
  Rate rate{.value = amount / median(seconds), .interval = median_interval(seconds)};
  if (rate.interval) {
    rate.interval = {amount / rate.interval->high, amount / rate.interval->low,
                     rate.interval->confidence};
  }
  return rate;
}

Rate better(const Rate& one, const Rate& other) { return one.value < other.value ? other : one; }

/// Returns a plan whose only task repeats the call of another plan `times` times.
Plan repeated(const Plan& once, int times) {
  Plan plan;
  const Lane& lane = once.graph().lanes.front();
  Task task = once.graph().tasks.front();
  task.lanes = {plan.add_lane(lane.name, *once.streams().front(), lane.kind)};
  plan.add(std::move(task),
           std::vector<Call>(static_cast<std::size_t>(times), once.calls(0).front()));
  return plan;
}

class Meter {
 public:
  Meter(Context& context, int device, PeakSizes sizes)
      : context_(context), device_(device), sizes_(std::move(sizes)) {}

  [[nodiscard]] const DeviceInfo& info() const { return context_.device(device_).info(); }

  /// Throws Unsupported if the device does not support products of this format.
  void require(NumberFormat format) {
    Stream& stream = context_.stream(device_, StreamKind::compute);
    static_cast<void>(stream.device().prepare(gemm(sizes_.min_n, format), stream.threads()));
  }

  Rate products(NumberFormat format) {
    std::int64_t n = sizes_.min_n;
    Rate last = product(n, format);
    Rate best = last;
    while (2 * n <= sizes_.max_n) {
      n *= 2;
      if (operations(n) / last.value > sizes_.longest_product) break;
      try {
        last = product(n, format);
      } catch (const OutOfMemory&) {
        break;
      }
      best = better(best, last);
    }
    return best;
  }

  /// Returns the higher rate of a copy and an elementwise operation. A CPU device copies with one
  /// thread and computes with all of them; on a GPU either may be faster.
  Rate memory() { return better(copy_within(StreamKind::compute), elementwise()); }

  /// Returns the rate of bytes read plus bytes written.
  Rate copy_within(StreamKind kind) {
    return copy(kind, MemoryKind::device, MemoryKind::device, 2.0);
  }
  /// Returns the rate of transferred bytes.
  Rate copy_to_device() {
    return copy(StreamKind::copy, MemoryKind::device, MemoryKind::pinned, 1.0);
  }
  Rate copy_to_host() {
    return copy(StreamKind::copy, MemoryKind::pinned, MemoryKind::device, 1.0);
  }

 private:
  static Gemm gemm(std::int64_t n, NumberFormat format) {
    return {.m = n, .n = n, .k = n, .dtype = format.dtype, .math = format.math};
  }
  static double operations(std::int64_t n) { return 2 * std::pow(static_cast<double>(n), 3); }

  Rate product(std::int64_t n, NumberFormat format) {
    auto parts = begin();
    const LaneId lane = add_lane(*parts, device_, StreamKind::compute);
    const Tensor x = filled(*parts, canonical({n, n}, format.dtype), MemoryKind::device);
    const Tensor c = poisoned(*parts, x.desc, MemoryKind::device);
    Op& op = parts->ops.prepare(stream_of(*parts, lane), gemm(n, format));
    add_task(*parts, lane, bind(op, {{"a", x.view}, {"b", x.view}, {"c", c.view}}));
    add_product_checks(*parts, n, format, {device_, device_, {x}, {{{c}, 0}}});
    return timed(std::move(parts), operations(n));
  }

  /// Times an operation that reads as much as it writes and computes almost nothing.
  Rate elementwise() {
    constexpr std::int64_t channels = 64;
    constexpr std::int64_t extent = 64;
    const std::int64_t image_bytes = channels * extent * extent * std::int64_t{sizeof(float)};
    const auto bytes = static_cast<std::int64_t>(sizes_.copied_bytes);
    const Shape shape{std::max<std::int64_t>(1, bytes / image_bytes), channels, extent, extent};
    auto parts = begin();
    const LaneId lane = add_lane(*parts, device_, StreamKind::compute);
    const TensorDesc desc = context_.device(device_).activation(shape, DType::f32);
    const Tensor source = filled(*parts, desc, MemoryKind::device);
    const Tensor destination = poisoned(*parts, desc, MemoryKind::device);
    Op& op = parts->ops.prepare(stream_of(*parts, lane), ActivationForward{shape});
    add_task(*parts, lane, bind(op, {{"source", source.view}, {"destination", destination.view}}));
    return timed(std::move(parts), op.work().bytes);
  }

  /// `counted`: how often a copied byte counts in the rate.
  Rate copy(StreamKind kind, MemoryKind to, MemoryKind from, double counted) {
    auto parts = begin();
    const LaneId lane = add_lane(*parts, device_, kind);
    const TensorDesc desc =
        canonical({static_cast<std::int64_t>(sizes_.copied_bytes / sizeof(float))});
    const Tensor source = filled(*parts, desc, from);
    const Tensor destination = poisoned(*parts, desc, to);
    add_task(*parts, lane, CopyCall{destination.view, source.view});
    return timed(std::move(parts), counted * static_cast<double>(desc.bytes));
  }

  std::unique_ptr<CaseParts> begin() {
    context_.begin_case();
    return std::make_unique<CaseParts>(context_);
  }

  Tensor filled(CaseParts& parts, const TensorDesc& desc, MemoryKind kind) const {
    Tensor tensor = parts.data.tensor(device_, desc, kind);
    parts.data.fill(tensor, 0);
    return tensor;
  }

  Tensor poisoned(CaseParts& parts, const TensorDesc& desc, MemoryKind kind) const {
    Tensor tensor = parts.data.tensor(device_, desc, kind);
    parts.data.poison(tensor);
    return tensor;
  }

  static void add_task(CaseParts& parts, LaneId lane, Call call) {
    parts.plan.add({.name = "peak", .lanes = {lane}}, {std::move(call)});
  }

  Rate timed(std::unique_ptr<CaseParts> parts, double amount) {
    const std::unique_ptr<Case> subject = make_case(std::move(parts));
    context_.commit();
    subject->reset();
    Executor once(subject->plan());
    run(once);
    if (const auto wrong = subject->check()) {
      throw Error(fmt::format("a product that is to be timed is wrong: {}", *wrong));
    }
    const double wanted = std::ceil(sizes_.sample_seconds / std::max(run(once), 1e-9));
    const int times = static_cast<int>(std::clamp(wanted, 1.0, max_executions));
    const Plan plan = repeated(subject->plan(), times);
    Executor executor(plan);
    run(executor);
    std::vector<double> seconds;
    for (int i = 0; i < sizes_.samples; ++i) seconds.push_back(run(executor) / times);
    return rate_of(amount, seconds);
  }

  double run(Executor& executor) const {
    if (sizes_.interrupted()) throw Interrupted();
    try {
      return executor.run().seconds;
    } catch (const TimedOut& error) {
      sizes_.on_timeout(error);
      throw;
    }
  }

  Context& context_;
  int device_;
  PeakSizes sizes_;
};

bool has(Meter& meter, NumberFormat format) {
  try {
    meter.require(format);
    return true;
  } catch (const Unsupported&) {
    return false;
  }
}

std::vector<NumberFormat> formats_of(Meter& meter, std::optional<NumberFormat> only) {
  if (only) {
    meter.require(*only);
    return {*only};
  }
  std::vector<NumberFormat> formats;
  for (const std::string& name : number_format_names()) {
    const NumberFormat format = *number_format_named(name);
    if (has(meter, format)) formats.push_back(format);
  }
  return formats;
}

}  // namespace

std::vector<MeasurablePeak> measurable_peaks(Context& context, int device,
                                             std::optional<NumberFormat> only,
                                             const PeakSizes& sizes) {
  const auto meter = std::make_shared<Meter>(context, device, sizes);
  std::vector<MeasurablePeak> peaks;
  const auto add = [&](std::string_view what, std::string_view unit, auto measure) {
    peaks.push_back({std::string(what), std::string(unit), std::move(measure)});
  };
  for (const NumberFormat format : formats_of(*meter, only)) {
    add(report::gemm_peak(to_string(format)), operations_unit,
        [meter, format] { return meter->products(format); });
  }
  add(report::memory_peak, bytes_unit, [meter] { return meter->memory(); });
  add(report::copy_peak, bytes_unit, [meter] { return meter->copy_within(StreamKind::copy); });
  if (meter->info().host_memory) return peaks;
  add(report::to_device_peak, bytes_unit, [meter] { return meter->copy_to_device(); });
  add(report::to_host_peak, bytes_unit, [meter] { return meter->copy_to_host(); });
  return peaks;
}

}  // namespace parbench
