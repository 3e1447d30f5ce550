#include "bench/estimates/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "bench/cli/help.h"
#include "bench/cli/sampler_options.h"
#include "bench/execution/submit_mode.h"
#include "bench/execution/verification.h"
#include "bench/sampling/described.h"
#include "bench/sampling/profiling_pass.h"
#include "kernels/base/error.h"
#include "kernels/base/units/units.h"
#include "kernels/core/ranks/remote_device.h"
#include "reports/model/disturbances.h"
#include "reports/text/text.h"
#include "scenarios/framework/all_cores.h"
#include "scenarios/plan/bounds.h"
#include "scenarios/plan/costs.h"

namespace parbench {
namespace {

double fastest_of(int repeats, Stream& stream, const std::function<void()>& enqueue) {
  double min = std::numeric_limits<double>::infinity();
  for (int i = 0; i < repeats; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    enqueue();
    stream.synchronize();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    min = std::min(min, took.count());
  }
  return std::max(min, 1e-9);
}

void run_once(Stream& stream, Op& op, const std::vector<BufferView>& views) {
  stream.provide_scratch(op.scratch_bytes());
  op.enqueue(stream, views);
  stream.synchronize();
}

/// Measures the maximum speed of a stream for products of a format and for copies.
Roofline roofline_of(Stream& stream, NumberFormat format) {
  constexpr std::int64_t side = 512;
  constexpr int repeats = 3;
  Device& device = stream.device();
  const auto product = device.prepare(
      Gemm{.m = side, .n = side, .k = side, .dtype = format.dtype, .math = format.math},
      stream.threads());
  const std::size_t bytes = product->tensor("a").bytes;
  const Buffer a = device.allocate(bytes, MemoryKind::device);
  const Buffer b = device.allocate(bytes, MemoryKind::device);
  const Buffer c = device.allocate(bytes, MemoryKind::device);
  const auto fill =
      device.prepare(Fill{.count = side * side, .dtype = format.dtype}, stream.threads());
  for (const Buffer* buffer : {&a, &b, &c}) run_once(stream, *fill, {BufferView(*buffer)});
  const std::vector<BufferView> views{a, b, c};
  run_once(stream, *product, views);
  return {.flops_per_second = product->work().flops /
                              fastest_of(repeats, stream, [&] { product->enqueue(stream, views); }),
          .bytes_per_second = 2 * static_cast<double>(bytes) /
                              fastest_of(repeats, stream, [&] { stream.copy(c, a); })};
}

/// Returns the stream of this process to measure instead of `stream`, which another rank has: the
/// plan's stream with the nearest number of threads. If the plan has no stream of this process,
/// returns the compute stream of this process's first device.
Stream& measurable(const Plan& plan, const Stream& stream, Context& context) {
  const std::vector<Stream*> own = local_streams(plan.streams());
  const auto found = std::ranges::min_element(
      own, {}, [&](const Stream* one) { return std::abs(one->threads() - stream.threads()); });
  if (found != own.end()) return **found;
  int device = 0;
  while (context.is_remote(device)) ++device;
  return context.stream(device, StreamKind::compute);
}

/// Memory shared by devices: bytes that the devices need at the same time, and bytes available.
struct Pool {
  std::size_t needed = 0;
  std::size_t available = 0;
};

/// Returns the memories of all devices by name, with the bytes that held cases and the current one
/// need. This includes the device that has all cores, whose memory is held in addition to the
/// memory of the other devices.
std::map<std::string, Pool> pools_of(const Context& context) {
  std::map<std::string, Pool> pools;
  for (const Context* one : {&context, static_cast<const Context*>(context.whole())}) {
    for (int i = 0; one != nullptr && i < one->device_count(); ++i) {
      const AvailableMemory memory = one->device(i).available_memory();
      Pool& pool = pools[memory.pool];
      pool.needed += one->held_bytes(i);
      pool.available = memory.bytes;
    }
  }
  return pools;
}

/// Throws OutOfMemory if the devices together need more of a memory than is available.
void check_fits(const Context& context) {
  for (const auto& [name, pool] : pools_of(context)) {
    if (pool.needed > pool.available) throw OutOfMemory(name, pool.needed, pool.available);
  }
}

using Together = std::function<void(const std::function<void()>&)>;

class Estimator {
 public:
  Estimator(const Scenario& scenario, Context& context, const Together& together)
      : scenario_(scenario), context_(context), together_(together) {}

  CaseEstimate operator()(const CaseSpec& spec) {
    CaseEstimate result;
    result.name = spec.name();
    try {
      if (uses_all_cores(spec)) {
        result.device = devices_of(context_of(spec, context_)).front().name;
      }
      together_([&] {
        const auto planned = plan(spec, result.device_bytes);
        result.execution_seconds =
            bound_of(planned->plan(), costs_of(planned->plan(), spec.format())).seconds;
      });
      check_reference(spec);
    } catch (const TimedOut&) {
      throw;  // ranks were lost
    } catch (const Error& error) {
      result.error = error.what();
    }
    return result;
  }

  /// Returns the bytes of each memory that all fitting cases hold together.
  [[nodiscard]] std::vector<MemoryEstimate> memory() const {
    begin_case();
    std::vector<MemoryEstimate> memory;
    for (const auto& [name, pool] : pools_of(context_)) memory.push_back({name, pool.needed});
    return memory;
  }

 private:
  /// Begins the next case. Drops the previous one unless it is held.
  void begin_case() const {
    context_.begin_case();
    if (context_.whole() != nullptr) context_.whole()->begin_case();
  }

  /// Plans a case and holds its memory. Throws the errors that a run would throw, after setting
  /// `device_bytes` unless planning itself fails.
  std::unique_ptr<Case> plan(const CaseSpec& spec, std::vector<std::size_t>& device_bytes) {
    Context& context = context_of(spec, context_);
    begin_case();
    auto planned = prepare_case(scenario_, spec, context_);
    for (int i = 0; i < context.device_count(); ++i) {
      device_bytes.push_back(context.case_bytes(i));
    }
    (void)submit_mode_of(spec, planned->plan());
    check_fits(context_);
    context.hold_case();
    return planned;
  }

  /// Throws if the case's reference cannot run, because a run would have nothing to verify the case
  /// against. References need not be in the sweep; each is planned once.
  void check_reference(const CaseSpec& spec) {
    const std::optional<CaseSpec> reference = reference_of(scenario_, spec);
    if (!reference) return;
    const auto [known, is_new] = reference_errors_.try_emplace(reference->name());
    if (is_new) known->second = error_of(*reference);
    if (!known->second.empty()) throw Error(unverified_text(known->first, known->second));
  }

  std::string error_of(const CaseSpec& spec) {
    try {
      std::vector<std::size_t> device_bytes;
      together_([&] { (void)plan(spec, device_bytes); });
    } catch (const TimedOut&) {
      throw;
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }

  std::vector<double> costs_of(const Plan& plan, NumberFormat format) {
    std::vector<Roofline> lanes;
    for (Stream* stream : plan.streams()) lanes.push_back(roofline_for(plan, *stream, format));
    return estimated_costs(plan.graph(), lanes);
  }

  /// Returns the maximum speed of a stream of the plan. For a stream of another rank, assumes that
  /// products are as fast per thread as on the measured stream of this process.
  Roofline roofline_for(const Plan& plan, Stream& stream, NumberFormat format) {
    if (!is_remote(stream)) return known_roofline(stream, format);
    Stream& own = measurable(plan, stream, context_);
    Roofline lane = known_roofline(own, format);
    lane.flops_per_second *= static_cast<double>(stream.threads()) / own.threads();
    return lane;
  }

  const Roofline& known_roofline(Stream& stream, NumberFormat format) {
    const std::pair key(&stream, std::string(to_string(format)));
    const auto known = rooflines_.find(key);
    if (known != rooflines_.end()) return known->second;
    return rooflines_.emplace(key, roofline_of(stream, format)).first->second;
  }

  const Scenario& scenario_;
  Context& context_;
  const Together& together_;
  std::map<std::pair<Stream*, std::string>, Roofline> rooflines_;  // by stream and number format
  /// Error of each reference case, by its name; empty: the reference can run.
  std::map<std::string, std::string> reference_errors_;
};

struct Times {
  double min = 0;
  double max = 0;
  double wanted = 0;  // like `min`, without the limit `max_seconds` of each case
};

/// Adds the time of one case: verification including its reference, warm-up, samples.
void add_time(double execution, const SamplerOptions& options, Times& times) {
  const double steady = std::ceil(options.min_sample_seconds / std::max(execution, 1e-9));
  const double iterations =
      options.fixed_iterations > 0 ? options.fixed_iterations : std::max(1.0, steady);
  const double sample = std::max(iterations * execution, execution);
  const double before = 3 * execution;
  const bool is_fixed = options.fixed_samples > 0;
  const double wanted = (is_fixed ? options.fixed_samples : options.min_samples) * sample;
  const double cut =
      is_fixed ? wanted : std::max(options.max_seconds, options.floor_samples * sample);
  times.min += before + std::min(wanted, cut);
  times.max += before + cut;
  times.wanted += before + wanted;
}

/// Returns the minimum and maximum with the profiling pass, each at most `total_seconds`.
Times with_profiling(const Times& times, const Times& profiling, const SamplerOptions& options) {
  const Times both{times.min + profiling.min, times.max + profiling.max};
  return {std::min(both.min, options.total_seconds), std::min(both.max, options.total_seconds)};
}

std::string memory_text(const std::vector<std::size_t>& bytes) {
  std::vector<std::string> texts;
  for (const std::size_t size : bytes) {
    texts.push_back(format_bytes(static_cast<double>(size)));
  }
  return fmt::format("{}", fmt::join(texts, " + "));
}

/// Returns "memory at once: 1.53 GiB on the host"; empty if nothing is held.
std::string all_memory_text(const std::vector<MemoryEstimate>& memory) {
  std::vector<std::string> texts;
  for (const MemoryEstimate& one : memory) {
    if (one.bytes == 0) continue;
    texts.push_back(
        fmt::format("{} on {}", format_bytes(static_cast<double>(one.bytes)), one.memory));
  }
  return texts.empty() ? "" : fmt::format("memory at once: {}", fmt::join(texts, ", "));
}

std::string outcome_text(const CaseEstimate& estimated) {
  std::string memory = memory_text(estimated.device_bytes);
  if (!memory.empty() && !estimated.device.empty()) memory += " on " + estimated.device;
  if (estimated.error.empty()) {
    return fmt::format("{}; {} an execution", memory, format_duration(estimated.execution_seconds));
  }
  return fmt::format("{}{}cannot run: {}", memory, memory.empty() ? "" : "; ", estimated.error);
}

/// Returns a line for each case, or two if the longest would not fit.
std::string cases_text(const std::vector<CaseEstimate>& cases, std::size_t width) {
  std::size_t name_width = 0;
  std::size_t outcome_width = 0;
  for (const CaseEstimate& estimated : cases) {
    name_width = std::max(name_width, estimated.name.size());
    outcome_width = std::max(outcome_width, report::display_width(outcome_text(estimated)));
  }
  const bool fits = name_width + outcome_width + 4 <= width;
  const std::size_t indent = fits ? name_width + 4 : 6;
  std::string text;
  for (const CaseEstimate& estimated : cases) {
    text += fmt::format("  {:<{}}{}{}\n", estimated.name, fits ? indent - 2 : 0,
                        fits ? "" : "\n" + std::string(indent, ' '),
                        wrap(outcome_text(estimated), width - indent, indent));
  }
  return text;
}

/// Describes the sum that `add_time` computes. `max_seconds`: sum of the maximum times.
std::string made_of(const SamplerOptions& options, bool profiles, double max_seconds) {
  std::string samples =
      fmt::format("Minimum: {} of each case (--min-samples); maximum: {}. Both include",
                  format_count(options.min_samples, "sample"),
                  max_seconds > options.total_seconds ? "--max-total-time" : "--max-time for each");
  if (options.fixed_samples > 0) {
    samples = format_count(options.fixed_samples, "sample");
    if (options.fixed_iterations > 0) {
      samples += fmt::format(" of {}", format_count(options.fixed_iterations, "execution"));
    }
    samples += " of each case. The time includes";
  }
  return fmt::format(
      "{} 3 executions for verification and warm-up{}. Execution times are estimated from a short "
      "matrix product and copy on each device.",
      samples, profiles ? ", and the profiling pass (--no-timeline omits it)" : "");
}

}  // namespace

RunEstimate estimate(const Scenario& scenario, Context& context, const std::vector<CaseSpec>& specs,
                     const SamplerOptions& options, int processes, bool profiles,
                     const Together& together) {
  const SamplerOptions share = share_of(options, processes);
  RunEstimate run;
  run.processes = processes;
  Times sampling;
  Times profiling;
  Estimator estimator(scenario, context, together);
  for (const CaseSpec& spec : specs) {
    run.cases.push_back(estimator(spec));
    if (!run.cases.back().error.empty()) continue;
    const double execution = run.cases.back().execution_seconds;
    add_time(execution, share, sampling);
    profiling.min += profiling_seconds(execution);
    profiling.max += max_profiling_runs * profiling_seconds(execution);
  }
  run.made_of = made_of(share, profiles, sampling.max + (profiles ? profiling.max : 0));
  run.memory = estimator.memory();
  const Times profiled = with_profiling(sampling, profiles ? profiling : Times{}, share);
  const Times others = with_profiling(sampling, {}, share);
  run.min_seconds = profiled.min + (processes - 1) * others.min;
  run.max_seconds = profiled.max + (processes - 1) * others.max;
  run.wanted_samples = share.fixed_samples > 0 ? share.fixed_samples : share.min_samples;
  if (sampling.min + (profiles ? profiling.min : 0) > share.total_seconds) {
    run.wanted_seconds = processes * sampling.wanted + (profiles ? profiling.min : 0);
  }
  return run;
}

std::string estimate_text(const Scenario& scenario, const Context& context, const RunEstimate& run,
                          std::size_t width) {
  std::vector<std::string> names;
  const std::vector<report::Device> devices = devices_of(context);
  for (const report::Device& device : devices) names.push_back(device.name);
  const report::DeviceCores cores = report::cores_of(devices);
  std::string text = fmt::format(
      "{}: {}, memory on {}{}\n", scenario.name(), format_count(run.cases.size(), "case"),
      fmt::join(names, " + "),
      cores.are_shared() ? fmt::format(", which share {}", format_count(cores.different, "core"))
                         : "");
  text += cases_text(run.cases, width);
  const std::string min = format_wait(run.min_seconds);
  const std::string max = format_wait(run.max_seconds);
  std::string time = "estimated time: " + min;
  if (run.max_seconds > run.min_seconds * 1.1 && max != min) time += " to " + max;
  if (run.processes > 1) time += fmt::format(", in {} processes", run.processes);
  if (run.wanted_seconds > 0) {
    time +=
        fmt::format("; too short for all cases: {} of each take about {}",
                    format_count(run.wanted_samples, "sample"), format_wait(run.wanted_seconds));
  }
  const std::size_t line = std::min(width, report::max_line);
  if (const std::string memory = all_memory_text(run.memory); !memory.empty()) {
    text += wrap(memory, line - 2, 2) + '\n';
  }
  text += wrap(time, line - 2, 2) + '\n';
  return run.made_of.empty() ? text : text + "  " + wrap(run.made_of, line - 2, 2) + '\n';
}

}  // namespace parbench
