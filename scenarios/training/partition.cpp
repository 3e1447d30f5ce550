// Measuring units and dividing them.
#include "scenarios/training/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>

#include "kernels/base/error.h"
#include "kernels/core/crossing.h"
#include "scenarios/framework/suggest.h"
#include "scenarios/plan/costs.h"
#include "scenarios/training/batch_data.h"
#include "scenarios/training/program/stage_program.h"

namespace parbench {

namespace {

int unit_named(const Network& network, std::string_view word) {
  const auto found = std::ranges::find(network.units, word);
  if (found == network.units.end() || found == network.units.begin()) {
    std::vector<std::string> known{"published", "balanced"};
    known.insert(known.end(), network.units.begin() + 1, network.units.end());
    throw UsageError(
        fmt::format("--partition: '{}' starts no later stage of {}{}\nallowed are published, "
                    "balanced, or units "
                    "joined by '+': {}",
                    word, network.name, did_you_mean(word, known),
                    fmt::join(network.units.begin() + 1, network.units.end(), ", ")));
  }
  return static_cast<int>(found - network.units.begin());
}

std::string units_text(int count) { return count == 1 ? "1 unit" : fmt::format("{} units", count); }

}  // namespace

std::vector<int> named_partition(const Network& network, std::string_view text, int stages) {
  std::vector<int> partition;
  if (text == "published") {
    if (static_cast<int>(network.published_partition.size()) != stages - 1) {
      throw UsageError(
          fmt::format("--partition: no published partition of {} in {} stages; use "
                      "balanced, or name {} of: {}",
                      network.name, stages, units_text(stages - 1),
                      fmt::join(network.units.begin() + 1, network.units.end(), ", ")));
    }
    for (const std::string& unit : network.published_partition)
      partition.push_back(unit_named(network, unit));
  } else {
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find('+', begin), text.size());
      partition.push_back(unit_named(network, text.substr(begin, end - begin)));
      begin = end + 1;
    }
  }
  if (static_cast<int>(partition.size()) != stages - 1) {
    throw UsageError(fmt::format("--partition: '{}' makes {} stages, but there are {}; name {}",
                                 text, partition.size() + 1, stages, units_text(stages - 1)));
  }
  if (std::ranges::adjacent_find(partition, std::greater_equal<>()) != partition.end()) {
    throw UsageError(fmt::format(
        "--partition: the units of '{}' are not different ones in ascending order, which is {}",
        text, fmt::join(network.units.begin() + 1, network.units.end(), ", ")));
  }
  return partition;
}

std::vector<LayerRange> stages_of(const Network& network, const std::vector<int>& partition) {
  std::vector<LayerRange> ranges = {{.first = 0, .last = 0}};
  for (int index = 0; index < static_cast<int>(network.layers.size()); ++index) {
    const int unit = network.layers[static_cast<std::size_t>(index)].unit;
    const bool starts = ranges.size() <= partition.size() && unit == partition[ranges.size() - 1];
    if (starts) ranges.push_back({.first = index, .last = index});
    ranges.back().last = index;
  }
  return ranges;
}

namespace {

/// One unit as a stage of its own.
class Unit {
 public:
  Unit(Stream& stream, const StageRange& range, const UnitRun& run)
      : store_(with_parameters(stream, range, run)), program_(stream, range, run.samples, store_) {
    calls_ = program_.forward();
    std::ranges::copy(program_.backward(run.accumulate), std::back_inserter(calls_));
  }

  [[nodiscard]] const StageProgram& program() const { return program_; }
  [[nodiscard]] const ParameterStore& store() const { return store_; }
  /// Forward and backward.
  [[nodiscard]] const std::vector<OpCall>& calls() const { return calls_; }

 private:
  static ParameterStore with_parameters(Stream& stream, const StageRange& range,
                                        const UnitRun& run) {
    ParameterStore store(stream);
    StageProgram::add_parameters(stream, range, run.samples, store);
    return store;
  }

  ParameterStore store_;
  StageProgram program_;
  std::vector<OpCall> calls_;
};

/// Only the ratios of the result matter: it is what divides a model where nothing may be measured.
double estimated_seconds(const Unit& unit) {
  constexpr Roofline core{.flops_per_second = 1e11, .bytes_per_second = 1e10};
  double seconds = 0;
  for (const OpCall& call : unit.calls()) seconds += core.seconds(call.op->work());
  return seconds;
}

/// Memory of one unit that is measured, one buffer a space, and the runs.
class UnitTimer {
 public:
  UnitTimer(Stream& stream, const Unit& unit, const StageRange& range) : stream_(stream) {
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
      fill({Space::output_gradient, output.offset}, output.desc);
    }
    fill({Space::target}, target, range.network->classes());
    for (const Space space :
         {Space::parameters, Space::gradients, Space::statistics, Space::loss}) {
      const std::size_t bytes = bases_.at(static_cast<std::size_t>(space)).bytes;
      if (bytes > 0) fill({space}, canonical({static_cast<std::int64_t>(bytes / sizeof(float))}));
    }
    run(rebase(store.packing(), bases_));
    const std::vector<Call> calls = rebase(unit.calls(), bases_);
    run(calls);  // once for caches and pages
    std::array<double, 3> seconds{};
    for (double& second : seconds) second = run(calls);
    std::ranges::sort(seconds);
    seconds_ = seconds[1];
  }

  [[nodiscard]] double seconds() const { return seconds_; }

 private:
  void set(Space space, std::size_t bytes) {
    Buffer& buffer = buffers_.at(static_cast<std::size_t>(space));
    buffer = stream_.device().allocate(bytes, MemoryKind::device);
    bases_.at(static_cast<std::size_t>(space)) = BufferView(buffer);
  }

  struct Place {
    Space space = Space::input;
    std::size_t offset = 0;
  };

  /// Integers are below `end`.
  void fill(Place place, const TensorDesc& tensor, std::int64_t end = 0) {
    const BufferView view =
        bases_.at(static_cast<std::size_t>(place.space)).part(place.offset, tensor.bytes);
    const auto subsequence = static_cast<std::uint64_t>(place.space);
    if (tensor.dtype == DType::i32) {
      draw_integers(stream_, tensor, view, end, {.subsequence = subsequence});
      return;
    }
    const auto count = static_cast<std::int64_t>(tensor.bytes / size_of(tensor.dtype));
    Op& op = ops_.prepare(stream_,
                          Fill{.count = count, .dtype = tensor.dtype, .subsequence = subsequence});
    run({bind(op, {{"destination", view}})});
  }

  double run(const std::vector<Call>& calls) {
    const std::unique_ptr<Event> begin = stream_.device().make_event();
    const std::unique_ptr<Event> end = stream_.device().make_event();
    try {
      stream_.record(*begin);
      for (const Call& call : calls) {
        const auto& op = std::get<OpCall>(call);
        op.op->enqueue(stream_, op.views);
      }
      stream_.record(*end);
      stream_.synchronize();
    } catch (...) {
      come_to_rest();
      throw;
    }
    return end->seconds_since(*begin);
  }

  /// What is queued still uses this object's memory; the error that led here matters more than
  /// another one of the same work.
  void come_to_rest() noexcept {
    try {
      stream_.synchronize();
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    }
  }

  Stream& stream_;
  OpSet ops_;
  std::array<Buffer, space_count> buffers_;
  Bases bases_;
  double seconds_ = 0;
};

/// The median of three runs of what is enqueued on a stream, behind one for caches and pages.
double measured_seconds(Stream& stream, const std::function<void()>& enqueue) {
  const auto run = [&] {
    const std::unique_ptr<Event> begin = stream.device().make_event();
    const std::unique_ptr<Event> end = stream.device().make_event();
    stream.record(*begin);
    enqueue();
    stream.record(*end);
    stream.synchronize();
    return end->seconds_since(*begin);
  };
  run();
  std::array<double, 3> seconds{run(), run(), run()};
  std::ranges::sort(seconds);
  return seconds[1];
}

/// A copy as a plan makes it, in memory of its own.
double measured_copy_seconds(Context& context, std::size_t bytes) {
  Device& from = context.device(0);
  Device& to = context.device(1);
  const Buffer source = from.allocate(bytes, MemoryKind::device);
  const Buffer destination = to.allocate(bytes, MemoryKind::device);
  Stream& stream = context.stream(reaches(from, to) ? 0 : 1, StreamKind::copy);
  return measured_seconds(stream, [&] { stream.copy(destination, source); });
}

/// A gradient is sent, and what arrives is added.
double measured_exchange_seconds(Context& context, std::int64_t elements) {
  const std::size_t bytes = static_cast<std::size_t>(elements) * sizeof(float);
  Stream& stream = context.stream(0, StreamKind::compute);
  OpSet ops;
  Op& add = ops.prepare(stream, Accumulate{.count = elements});
  Op& fill = ops.prepare(stream, Fill{.count = 2 * elements});
  const Buffer gradients = stream.device().allocate(2 * bytes, MemoryKind::device);
  const BufferView both(gradients);
  const auto enqueue = [&](const OpCall& call) { call.op->enqueue(stream, call.views); };
  enqueue(bind(fill, {{"destination", both}}));
  const OpCall addition =
      bind(add, {{"source", both.part(0, bytes)}, {"destination", both.part(bytes, bytes)}});
  return measured_copy_seconds(context, bytes) +
         measured_seconds(stream, [&] { enqueue(addition); });
}

/// Of a copy or of an addition of two tensors, where nothing may be measured.
constexpr double estimated_bytes_per_second = 1e10;

double estimated_exchange_seconds(std::int64_t elements) {
  constexpr int tensors = 1 + 3;  // one is sent; an addition reads two and writes one
  return static_cast<double>(elements) * sizeof(float) * tensors / estimated_bytes_per_second;
}

/// Copies between ranks are estimated: one rank alone cannot measure them.
bool measures_copies(const Context& context) {
  return context.options().measures && context.device_count() > 1 && !context.is_remote(0) &&
         !context.is_remote(1);
}

std::size_t crossing_bytes(const Device& device, const StageRange& whole, int first) {
  return Boundary(device, whole, whole.network->crossing(first), whole.batch).bytes();
}

}  // namespace

const std::vector<double>& measured_cut_seconds(Context& context, const Network& network,
                                                const UnitRun& run) {
  const std::string key = fmt::format("cuts of {} {} {} {}", network.name, to_string(network.input),
                                      to_string(run.dtype), run.samples);
  return context.measured(key, 0, [&] {
    const StageRange whole{.network = &network, .dtype = run.dtype, .batch = run.samples};
    const bool measures = measures_copies(context);
    std::map<std::size_t, double> known;  // by bytes
    std::vector<double> seconds;
    std::vector<int> every_unit(network.units.size() - 1);
    std::iota(every_unit.begin(), every_unit.end(), 1);
    for (const LayerRange& layers : stages_of(network, every_unit)) {
      const std::size_t bytes = crossing_bytes(context.device(0), whole, layers.first);
      const auto [one, is_new] = known.try_emplace(bytes, 0);
      if (is_new) {
        one->second = measures ? measured_copy_seconds(context, bytes)
                               : static_cast<double>(bytes) / estimated_bytes_per_second;
      }
      seconds.push_back(layers.first == 0 ? 0 : one->second);
    }
    return seconds;
  });
}

const std::vector<double>& measured_unit_seconds(Context& context, int device,
                                                 const Network& network, const UnitRun& run) {
  const DeviceInfo& info = context.device(device).info();
  const std::string key =
      fmt::format("units of {} {} {} {}{}{} on {}", network.name, to_string(network.input),
                  to_string(NumberFormat{run.dtype, run.math}), run.samples,
                  run.accumulate ? " accumulating" : "", run.recompute ? " recomputing" : "",
                  info.backend + " " + info.hardware);
  return context.measured(key, device, [&] {
    Stream& stream = context.stream(device, StreamKind::compute);
    std::vector<int> every_unit(network.units.size() - 1);
    std::iota(every_unit.begin(), every_unit.end(), 1);
    std::vector<double> seconds;
    for (const LayerRange& layers : stages_of(network, every_unit)) {
      context.check_time();
      const StageRange range{.network = &network,
                             .first = layers.first,
                             .last = layers.last,
                             .dtype = run.dtype,
                             .math = run.math,
                             .batch = run.samples,
                             .recompute = run.recompute};
      const Unit unit(stream, range, run);
      seconds.push_back(context.options().measures ? UnitTimer(stream, unit, range).seconds()
                                                   : estimated_seconds(unit));
    }
    return seconds;
  });
}

std::vector<SharedParameters> shared_parameters(Context& context, const Network& network,
                                                const UnitRun& run, std::int64_t batch) {
  const std::vector<ParameterSpec> parameters = network.parameters();
  const double share = static_cast<double>(run.samples) / static_cast<double>(batch);
  std::vector<SharedParameters> shared;
  for (const Layer& layer : network.layers) {
    if (layer.tied_to < 0 || network.layer(layer.tied_to).unit == layer.unit) continue;
    std::int64_t elements = 0;
    for (const ParameterSpec& one : parameters) {
      if (one.layer == layer.tied_to) elements += element_count(one.shape);
    }
    const double seconds = context.measured(fmt::format("exchange of {}", elements), 0, [&] {
      return std::vector{measures_copies(context) ? measured_exchange_seconds(context, elements)
                                                  : estimated_exchange_seconds(elements)};
    })[0];
    shared.push_back({.owner = network.layer(layer.tied_to).unit,
                      .other = layer.unit,
                      .seconds = seconds * share});
  }
  return shared;
}

std::string default_partition(const Network& network, int stages) {
  const bool published = static_cast<int>(network.published_partition.size()) == stages - 1;
  return published ? "published" : "balanced";
}

std::string units_text(const Network& network, const std::vector<int>& partition) {
  std::vector<std::string> names;
  for (const int unit : partition) names.push_back(network.units[static_cast<std::size_t>(unit)]);
  return fmt::format("{}", fmt::join(names, "+"));
}

void add_cut_notes(const Network& network, const std::vector<int>& partition,
                   std::vector<std::pair<std::string, std::string>>& notes) {
  const std::string cut = units_text(network, partition);
  notes.emplace_back(cut_note, cut);
  if (partition.size() + 1 == network.units.size()) notes.emplace_back(only_cut_note, cut);
}

std::vector<int> chosen_partition(Context& context, const Network& network, std::string_view kind,
                                  const std::vector<int>& devices, UnitRun run,
                                  std::int64_t batch) {
  if (kind != "balanced") {
    return named_partition(network, kind, static_cast<int>(devices.size()));
  }
  constexpr std::int64_t max_samples = 16;
  run.samples = std::min(run.samples, max_samples);
  std::vector<std::vector<double>> seconds;
  for (const int device : devices) {
    seconds.push_back(measured_unit_seconds(context, device, network, run));
  }
  return balanced_partition(seconds, measured_cut_seconds(context, network, run),
                            shared_parameters(context, network, run, batch));
}

}  // namespace parbench
