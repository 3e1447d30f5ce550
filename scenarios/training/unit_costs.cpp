// Measures the times of units, copies and exchanges.
#include "scenarios/training/unit_costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <string>

#include "kernels/core/crossing.h"
#include "scenarios/framework/op_set.h"
#include "scenarios/framework/timed_span.h"
#include "scenarios/plan/costs.h"
#include "scenarios/training/batch_data.h"
#include "scenarios/training/partition.h"
#include "scenarios/training/program/stage_program.h"

namespace parbench {
namespace {

/// One unit as a separate stage.
class Unit {
 public:
  Unit(Stream& stream, const StageRange& range, const UnitRun& run)
      : store_(with_parameters(stream, range, run)), program_(stream, range, run.samples, store_) {
    calls_ = program_.forward().calls;
    std::ranges::copy(program_.backward(run.accumulate).calls, std::back_inserter(calls_));
  }

  [[nodiscard]] const StageProgram& program() const { return program_; }
  [[nodiscard]] const ParameterStore& store() const { return store_; }
  [[nodiscard]] const std::vector<SymbolicCall>& calls() const { return calls_; }

 private:
  static ParameterStore with_parameters(Stream& stream, const StageRange& range,
                                        const UnitRun& run) {
    ParameterStore store(stream);
    StageProgram::add_parameters(stream, range, run.samples, store);
    return store;
  }

  ParameterStore store_;
  StageProgram program_;
  std::vector<SymbolicCall> calls_;
};

/// Returns the seconds of the fastest of several runs after a warm-up run, because other load on
/// the machine only makes runs longer.
double measured_seconds(Stream& stream, const std::function<void()>& enqueue) {
  constexpr double enough_seconds = 0.02;
  constexpr int max_runs = 20;
  TimedSpan span(stream);
  const StreamRest rest(stream);
  const auto run = [&] {
    span.record(enqueue);
    stream.synchronize();
    return span.seconds();
  };
  run();
  double fastest = std::numeric_limits<double>::infinity();
  double sum = 0;
  for (int i = 0; i < max_runs && sum < enough_seconds; ++i) {
    const double seconds = run();
    fastest = std::min(fastest, seconds);
    sum += seconds;
  }
  return fastest;
}

void enqueue(Stream& stream, const std::vector<Call>& calls) {
  const std::array<Stream*, 1> streams{&stream};
  for (const Call& call : calls) enqueue(call, streams);
}

/// Returns the seconds of a unit's passes by a roofline of fixed rates; only ratios between units
/// matter.
double estimated_seconds(const Unit& unit) {
  constexpr Roofline core{.flops_per_second = 1e11, .bytes_per_second = 1e10};
  double seconds = 0;
  for (const SymbolicCall& call : unit.calls()) seconds += core.seconds(call.op->work());
  return seconds;
}

/// Memory of one measured unit, with one buffer per space. Data that calls read before they write
/// it is random.
class UnitMemory {
 public:
  UnitMemory(Stream& stream, const Unit& unit, const StageRange& range) : stream_(stream) {
    const StageProgram& program = unit.program();
    const ParameterStore& store = unit.store();
    set(Space::input, program.inputs().bytes());
    set(Space::input_gradient, program.inputs().bytes());
    set(Space::output_gradient, program.outputs().bytes());
    const TensorDesc target = target_tensor(stream.device(), range, program.samples());
    set(Space::target, target.bytes);
    set(Space::loss, sizeof(float));
    set(Space::parameters, store.bytes());
    set(Space::gradients, store.bytes());
    set(Space::packed, store.packed_bytes());
    set(Space::statistics, statistics_bytes(*range.network));
    set(Space::activations, program.activation_bytes());
    set(Space::transient, program.transient_bytes());
    for (const BoundaryTensor& input : program.inputs().tensors()) {
      fill({Space::input, input.offset}, input.desc, range.network->vocabulary);
    }
    for (const BoundaryTensor& output : program.outputs().tensors()) {
      if (output.desc.dtype == DType::i32) continue;  // tokens have no gradient
      fill({Space::output_gradient, output.offset}, output.desc);
    }
    fill({Space::target}, target, range.network->classes());
    for (const Space space :
         {Space::parameters, Space::gradients, Space::statistics, Space::loss}) {
      const std::size_t bytes = bases_.at(static_cast<std::size_t>(space)).bytes;
      if (bytes > 0) fill({space}, canonical({static_cast<std::int64_t>(bytes / sizeof(float))}));
    }
    enqueue(stream, rebase(store.packing(), bases_));
  }

  [[nodiscard]] const Bases& bases() const { return bases_; }

 private:
  void set(Space space, std::size_t bytes) {
    Buffer& buffer = buffers_.at(static_cast<std::size_t>(space));
    buffer = stream_.device().allocate(bytes, MemoryKind::device);
    bases_.at(static_cast<std::size_t>(space)) = BufferView(buffer);
  }

  struct Location {
    Space space = Space::input;
    std::size_t offset = 0;
  };

  /// Fills a tensor with random numbers; integers are below `end`.
  void fill(Location at, const TensorDesc& tensor, std::int64_t end = 0) {
    const BufferView view =
        bases_.at(static_cast<std::size_t>(at.space)).part(at.offset, tensor.bytes);
    const auto subsequence = static_cast<std::uint64_t>(at.space);
    if (tensor.dtype == DType::i32) {
      draw_integers(stream_, tensor, view, end, {.subsequence = subsequence});
      return;
    }
    const auto count = static_cast<std::int64_t>(tensor.bytes / size_of(tensor.dtype));
    Op& op = ops_.prepare(stream_,
                          Fill{.count = count, .dtype = tensor.dtype, .subsequence = subsequence});
    enqueue(stream_, {bind(op, {{"destination", view}})});
  }

  Stream& stream_;
  OpSet ops_;
  std::array<Buffer, space_count> buffers_;
  Bases bases_;
  StreamRest rest_{stream_};
};

double measured_unit_seconds(Stream& stream, const Unit& unit, const StageRange& range) {
  const UnitMemory memory(stream, unit, range);
  const std::vector<Call> calls = rebase(unit.calls(), memory.bases());
  return measured_seconds(stream, [&] { enqueue(stream, calls); });
}

/// Returns the seconds of a copy from the first device to the second, on the stream that a plan
/// would use.
double measured_copy_seconds(Context& context, std::size_t bytes) {
  Device& from = context.device(0);
  Device& to = context.device(1);
  const Buffer source = from.allocate(bytes, MemoryKind::device);
  const Buffer destination = to.allocate(bytes, MemoryKind::device);
  Stream& stream = context.stream(reaches(from, to) ? 0 : 1, StreamKind::copy);
  return measured_seconds(stream, [&] { stream.copy(destination, source); });
}

/// Returns the seconds for sending a gradient to the other stage and adding the gradient received
/// from it.
double measured_exchange_seconds(Context& context, std::int64_t elements) {
  const std::size_t bytes = static_cast<std::size_t>(elements) * sizeof(float);
  Stream& stream = context.stream(0, StreamKind::compute);
  OpSet ops;
  Op& add = ops.prepare(stream, Accumulate{.count = elements});
  Op& fill = ops.prepare(stream, Fill{.count = 2 * elements});
  const Buffer gradients = stream.device().allocate(2 * bytes, MemoryKind::device);
  const BufferView both(gradients);
  enqueue(stream, {bind(fill, {{"destination", both}})});
  const std::vector<Call> addition{
      bind(add, {{"source", both.part(0, bytes)}, {"destination", both.part(bytes, bytes)}})};
  return measured_copy_seconds(context, bytes) +
         measured_seconds(stream, [&] { enqueue(stream, addition); });
}

/// Rate of copies and additions for estimates.
constexpr double estimated_bytes_per_second = 1e10;

double estimated_exchange_seconds(std::int64_t elements) {
  constexpr int tensors = 1 + 3;  // one tensor is sent; an addition reads two and writes one
  return static_cast<double>(elements) * sizeof(float) * tensors / estimated_bytes_per_second;
}

/// Copies between ranks are not measured, because one rank alone cannot measure them.
bool measures_copies(const Context& context, CostBasis basis) {
  return basis == CostBasis::measured && context.options().measures && context.device_count() > 1 &&
         !context.is_remote(0) && !context.is_remote(1);
}

std::size_t crossing_bytes(const Device& device, const StageRange& whole, int first) {
  return Boundary(device, whole, whole.network->crossing(first), whole.batch).bytes();
}

std::vector<StageRange> unit_ranges(const Network& network, const UnitRun& run) {
  std::vector<int> every_unit(network.units.size() - 1);
  std::iota(every_unit.begin(), every_unit.end(), 1);
  std::vector<StageRange> ranges;
  for (const LayerRange& layers : stages_of(network, every_unit)) {
    ranges.push_back({.network = &network,
                      .first = layers.first,
                      .last = layers.last,
                      .dtype = run.dtype,
                      .math = run.math,
                      .batch = run.samples,
                      .recompute = run.recompute});
  }
  return ranges;
}

/// Number of passes over all units: several, so that a disturbance of some seconds does not affect
/// all measurements of a unit.
constexpr int passes = 3;

/// Returns the estimated seconds of every unit. If the context measures, they are followed by the
/// measured seconds of every unit, for each pass.
std::vector<double> estimates_and_passes(Context& context, Stream& stream, const Network& network,
                                         const UnitRun& run) {
  const std::vector<StageRange> ranges = unit_ranges(network, run);
  std::vector<double> seconds;
  for (const StageRange& range : ranges) {
    context.check_time();
    seconds.push_back(estimated_seconds(Unit(stream, range, run)));
  }
  for (int pass = 0; context.options().measures && pass < passes; ++pass) {
    for (const StageRange& range : ranges) {
      context.check_time();
      seconds.push_back(measured_unit_seconds(stream, Unit(stream, range, run), range));
    }
  }
  return seconds;
}

/// Reads the result of `estimates_and_passes`. The uncertainty is the relative difference between
/// the sums of the units' second fastest and fastest times.
UnitSeconds read_seconds(std::span<const double> numbers, std::size_t units) {
  const auto first = numbers.first(units);
  UnitSeconds seconds{.measured = {first.begin(), first.end()}, .estimated = {}};
  seconds.estimated = seconds.measured;
  if (numbers.size() == units) return seconds;
  double fastest = 0;
  double second = 0;
  for (std::size_t unit = 0; unit < units; ++unit) {
    std::vector<double> times;
    for (std::size_t i = units + unit; i < numbers.size(); i += units) times.push_back(numbers[i]);
    std::ranges::sort(times);
    seconds.measured[unit] = times[0];
    fastest += times[0];
    second += times[1];
  }
  seconds.uncertainty = fastest > 0 ? second / fastest - 1 : 0;
  return seconds;
}

}  // namespace

UnitSeconds unit_seconds(Context& context, int device, const Network& network, const UnitRun& run) {
  const DeviceInfo& info = context.device(device).info();
  const std::string key =
      fmt::format("units of {} {} {} {}{}{} on {}", network.name, to_string(network.input),
                  to_string(NumberFormat{run.dtype, run.math}), run.samples,
                  run.accumulate ? " accumulating" : "", run.recompute ? " recomputing" : "",
                  info.backend + " " + info.hardware);
  return read_seconds(context.measured(key, device,
                                       [&] {
                                         Stream& stream =
                                             context.stream(device, StreamKind::compute);
                                         return estimates_and_passes(context, stream, network, run);
                                       }),
                      network.units.size());
}

const std::vector<double>& cut_seconds(Context& context, const Network& network, const UnitRun& run,
                                       CostBasis basis) {
  const bool measures = measures_copies(context, basis);
  const std::string key =
      fmt::format("{} cuts of {} {} {} {}", measures ? "measured" : "estimated", network.name,
                  to_string(network.input), to_string(run.dtype), run.samples);
  return context.measured(key, 0, [&] {
    const StageRange whole{.network = &network, .dtype = run.dtype, .batch = run.samples};
    std::map<std::size_t, double> known;  // by bytes
    std::vector<double> seconds;
    for (const StageRange& range : unit_ranges(network, run)) {
      const std::size_t bytes = crossing_bytes(context.device(0), whole, range.first);
      const auto [one, is_new] = known.try_emplace(bytes, 0);
      if (is_new) {
        one->second = measures ? measured_copy_seconds(context, bytes)
                               : static_cast<double>(bytes) / estimated_bytes_per_second;
      }
      seconds.push_back(range.first == 0 ? 0 : one->second);
    }
    return seconds;
  });
}

std::vector<SharedParameters> shared_parameters(Context& context, const Network& network,
                                                const UnitRun& run, std::int64_t batch,
                                                CostBasis basis) {
  const std::vector<ParameterSpec> parameters = network.parameters();
  const bool measures = measures_copies(context, basis);
  const double share = static_cast<double>(run.samples) / static_cast<double>(batch);
  std::vector<SharedParameters> shared;
  for (const Layer& layer : network.layers) {
    if (layer.tied_to < 0 || network.layer(layer.tied_to).unit == layer.unit) continue;
    std::int64_t elements = 0;
    for (const ParameterSpec& one : parameters) {
      if (one.layer == layer.tied_to) elements += element_count(one.shape);
    }
    const std::string key =
        fmt::format("{} exchange of {}", measures ? "measured" : "estimated", elements);
    const double seconds = context.measured(key, 0, [&] {
      return std::vector{measures ? measured_exchange_seconds(context, elements)
                                  : estimated_exchange_seconds(elements)};
    })[0];
    shared.push_back({.owner = network.layer(layer.tied_to).unit,
                      .other = layer.unit,
                      .seconds = seconds * share});
  }
  return shared;
}

StepCosts step_costs(Context& context, const Network& network, const std::vector<int>& devices,
                     const UnitRun& run, std::int64_t batch) {
  const auto costs_but_units = [&](CostBasis basis) {
    return PartitionCosts{.units = {},
                          .cuts = cut_seconds(context, network, run, basis),
                          .shared = shared_parameters(context, network, run, batch, basis)};
  };
  StepCosts costs{.measured = costs_but_units(CostBasis::measured),
                  .estimated = costs_but_units(CostBasis::estimated)};
  for (const int device : devices) {
    UnitSeconds seconds = unit_seconds(context, device, network, run);
    costs.measured.units.push_back(std::move(seconds.measured));
    costs.estimated.units.push_back(std::move(seconds.estimated));
    costs.uncertainty = std::max(costs.uncertainty, seconds.uncertainty);
  }
  return costs;
}

}  // namespace parbench
