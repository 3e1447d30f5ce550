// Plans the jobs of a run: opens their devices and expands their cases.
#include "bench/run/jobs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "bench/cli/sampler_options.h"
#include "bench/ranks/rank_devices.h"
#include "kernels/base/error.h"
#include "reports/text/paragraph.h"
#include "scenarios/framework/all_cores.h"
#include "scenarios/framework/requests.h"

namespace parbench {
namespace {

/// Returns the value that --devices has by default: the scenario's number of devices, or fewer if
/// the first backend has fewer; at least 1.
std::string usual_devices(const Scenario& scenario, const Machine& machine) {
  const int limit = machine.backends().front()->device_limit();
  return std::to_string(std::max(1, std::min(scenario.default_devices(), limit)));
}

/// Throws UsageError for --round-gradients without bf16, or if no device of the run can round.
template <class BackendOf>
void check_rounding(const DeviceRequest& request,
                    const std::vector<std::unique_ptr<Device>>& devices,
                    const BackendOf& backend_of) {
  if (request.format.dtype != DType::bf16) {
    throw UsageError(
        fmt::format("--round-gradients: weight gradients of --dtype {} have no other type to round "
                    "to; leave it out, or give --dtype bf16",
                    to_string(request.format)));
  }
  if (std::ranges::none_of(
          devices, [&](const auto& device) { return backend_of(device).can_round_gradients(); })) {
    throw UsageError(
        "--round-gradients: no device of the run has kernels that round weight gradients; leave it "
        "out (--round-gradients=false with --rerun), or run on an NVIDIA GPU with --devices "
        "cuda:0");
  }
}

/// Throws UsageError for --autotune, --round-gradients or --dtype if no device of the run supports
/// the flag. If some devices support it, --autotune has no effect on the other ones, and cases that
/// need the other ones are refused with such a --dtype.
void check_abilities(const DeviceRequest& request,
                     const std::vector<std::unique_ptr<Device>>& devices, const Machine& machine) {
  const auto backend_of = [&](const std::unique_ptr<Device>& device) -> const Backend& {
    return *machine.find(device->info().backend);
  };
  if (request.autotune && std::ranges::none_of(devices, [&](const auto& device) {
        return backend_of(device).can_autotune();
      })) {
    throw UsageError(
        "--autotune: no device of the run can choose kernels by measuring; on cpu devices oneDNN "
        "always chooses: leave it out (--autotune=false with --rerun), or run on an NVIDIA GPU "
        "with "
        "--devices cuda:0");
  }
  if (request.round_gradients) check_rounding(request, devices, backend_of);
  if (std::ranges::all_of(devices, [&](const auto& device) {
        return !backend_of(device).lacks(request.format).empty();
      })) {
    throw UsageError(fmt::format("--dtype {}: {}", to_string(request.format),
                                 backend_of(devices.front()).lacks(request.format)));
  }
}

/// Returns the remedy for too few devices, depending on the machine.
std::string more_devices(const Machine& machine) {
  if (machine.backends().front()->device_limit() > 1) return "give --devices 2 or more";
  const Backend* gpus = machine.find("cuda");
  if (gpus != nullptr && gpus->device_count() > 0) {
    return "give parts of one GPU: --devices cuda:0/0,cuda:0/1";
  }
  return "this process may use one core only; allow more (taskset, containers and batch systems "
         "limit cores)";
}

/// Throws UsageError for a scenario with too few devices for its question. Does nothing if
/// strategies or cases were chosen, or several scenarios.
void check_device_count(const RunOptions& options, const Job& job, const std::string& more) {
  const auto count = static_cast<int>(job.devices.size());
  const bool is_chosen = !options.strategies.empty() || !options.cases.empty();
  if (count >= job.scenario->min_devices() || is_chosen || options.scenarios.size() > 1) return;
  const std::string alone = job.cases.empty()
                                ? ""
                                : fmt::format("\n--strategy {} measures what one device can do",
                                              job.scenario->baseline());
  throw UsageError(
      too_few_devices(fmt::format("--scenario {}", job.scenario->name()), count, more) + alone);
}

/// Throws UsageError for flags and scenarios that several ranks do not support.
void check_over_ranks(const RunOptions& options, const Scenario& scenario) {
  if (!scenario.runs_over_ranks()) {
    throw UsageError(fmt::format(
        "--scenario {} does not run over several ranks; start it without mpirun or srun",
        scenario.name()));
  }
  if (options.processes > 1) {
    throw UsageError(
        "--processes cannot be combined with several ranks (mpirun, srun): leave one of them out");
  }
}

/// Returns the reason without the strategy at its beginning, because the line of output names the
/// strategy already.
std::string without_strategy(const LeftOut& one) {
  const std::string strategy = one.what.substr(0, one.what.find(' '));
  for (const std::string& lead :
       {fmt::format("--strategy: {} ", strategy), fmt::format("--strategy {}: ", strategy),
        fmt::format("--strategy {} ", strategy)}) {
    if (one.reason.starts_with(lead)) return one.reason.substr(lead.size());
  }
  return one.reason;
}

std::string reason_without_cases(const RunOptions& options, const BenchmarkFlags& flags,
                                 const Job& job, bool had_cases) {
  if (had_cases) return fmt::format("--benchmark_filter='{}' matches no case", flags.filter);
  if (!job.left_out.empty()) return without_strategy(job.left_out.front());
  return options.cases.empty() ? "no matching name in --strategy" : "no cases in the report";
}

DeviceOptions options_of(const DeviceRequest& request, const Scenario& scenario) {
  return {.spare_for_copies = scenario.wants_copy_core(),
          .autotune = request.autotune && request.measures,
          .round_gradients = request.round_gradients,
          .oversubscribe = request.oversubscribe};
}

/// Returns the devices that a scenario opens in this process.
std::string request_for(const DeviceRequest& request, const Scenario& scenario,
                        const Machine& machine) {
  return request.devices.empty() ? usual_devices(scenario, machine) : request.devices;
}

/// Opens the device of strategy all-cores if the run may have cases of that strategy; else null.
std::unique_ptr<Device> open_whole(const RunOptions& options, const Scenario& scenario,
                                   const Machine& machine) {
  const bool lists_it = std::ranges::find(scenario.strategies(), all_cores, &Strategy::name) !=
                        scenario.strategies().end();
  if (!lists_it || !options.chooses(all_cores)) return nullptr;
  const DeviceRequest request = options.device_request();
  return machine.open_whole(request_for(request, scenario, machine), options_of(request, scenario));
}

}  // namespace

std::map<std::string, std::string> known_cuts(const RunOptions& options) {
  std::map<std::string, std::string> cuts;
  for (const RerunCase& known : options.cases) {
    if (!known.cut.empty()) cuts.emplace(known.name, known.cut);
  }
  return cuts;
}

std::vector<std::unique_ptr<Device>> open_devices(const DeviceRequest& request,
                                                  const Scenario& scenario, const Machine& machine,
                                                  RankTeam* ranks) {
  const DeviceOptions options = options_of(request, scenario);
  const std::string of_rank = request.devices.empty()
                                  ? fmt::format("{}:0", machine.backends().front()->name())
                                  : request.devices;
  auto devices = ranks != nullptr ? open_rank_devices(*ranks, machine, of_rank, options)
                                  : machine.open(request_for(request, scenario, machine), options);
  check_abilities(request, devices, machine);
  return devices;
}

JobPlan plan_jobs(const RunOptions& options, const BenchmarkFlags& flags, const Machine& machine,
                  RankTeam* ranks) {
  if (options.resumed && !flags.filter.empty()) {
    throw UsageError(
        "--resume cannot be combined with --benchmark_filter: the cases are those of the report; "
        "leave one of them out");
  }
  JobPlan plan;
  for (const Scenario* scenario : options.scenarios) {
    if (ranks != nullptr) check_over_ranks(options, *scenario);
    Job job{scenario,
            open_devices(options.device_request(), *scenario, machine, ranks),
            ranks == nullptr ? open_whole(options, *scenario, machine) : nullptr,
            {},
            {}};
    Scenario::Request devices = request_with(job.devices);
    devices.has_all_cores = job.whole != nullptr;
    devices.more_devices = ranks != nullptr ? "start more ranks" : more_devices(machine);
    if (ranks != nullptr) {
      devices.rank_all_reduces =
          possible_all_reduces(ranks->link(), RankSet::all(ranks->size()), sizeof(float));
    }
    Expansion expansion = expand(options, *scenario, devices);
    job.cases = std::move(expansion.cases);
    job.left_out = std::move(expansion.left_out);
    check_device_count(options, job, devices.more_devices);
    const bool had_cases = !job.cases.empty();
    std::erase_if(job.cases, [&](const CaseSpec& spec) { return !selects(flags, spec.name()); });
    if (std::ranges::none_of(job.cases, uses_all_cores)) job.whole.reset();
    if (job.cases.empty()) {
      plan.left_out.push_back(
          {std::string(scenario->name()), reason_without_cases(options, flags, job, had_cases)});
    } else {
      plan.jobs.push_back(std::move(job));
    }
  }
  if (plan.jobs.empty()) {
    throw UsageError(
        flags.filter.empty()
            ? fmt::format("{} has no cases to run: {}", plan.left_out.front().what,
                          plan.left_out.front().reason)
            : fmt::format("--benchmark_filter='{}' matches no case\n--benchmark_list_tests shows "
                          "their names",
                          flags.filter));
  }
  return plan;
}

namespace {

/// Strategies or scenarios that are left out for the same reason.
struct ReasonLine {
  std::string reason;
  std::vector<std::string> what;
};

void add_to(std::vector<ReasonLine>& lines, const std::string& reason, const std::string& what) {
  auto line = std::ranges::find(lines, reason, &ReasonLine::reason);
  if (line == lines.end()) line = lines.insert(line, {reason, {}});
  line->what.push_back(what);
}

/// Returns "pipeline: strategies a, b left out: they need …".
std::string text_of(const ReasonLine& line, std::string_view one, std::string_view many,
                    std::size_t width) {
  constexpr std::string_view needs = "needs ";
  const bool is_one = line.what.size() == 1;
  std::string reason = line.reason;
  if (reason.starts_with(needs))
    reason.replace(0, needs.size(), is_one ? "it needs " : "they need ");
  return report::hanging(
      "",
      fmt::format("{} {} left out: {}", is_one ? one : many, fmt::join(line.what, ", "), reason),
      {.width = width});
}

}  // namespace

SamplerOptions sampler_options_of(const Job& job, const std::vector<Job>& jobs,
                                  const RunOptions& options, const BenchmarkFlags& flags) {
  double quick_seconds = 0;
  for (const Job& one : jobs) quick_seconds += one.scenario->quick_seconds();
  return sampler_options(options, flags, *job.scenario, quick_seconds);
}

std::string left_out_text(const Job& job, std::size_t width) {
  std::vector<ReasonLine> lines;
  for (const LeftOut& one : job.left_out) add_to(lines, without_strategy(one), one.what);
  const std::string name(job.scenario->name());
  std::string text;
  for (const ReasonLine& line : lines) {
    text += text_of(line, name + ": strategy", name + ": strategies", width);
  }
  return text;
}

std::string left_out_text(const JobPlan& plan, std::size_t width) {
  std::string text;
  for (const Job& job : plan.jobs) text += left_out_text(job, width);
  std::vector<ReasonLine> lines;
  for (const LeftOut& one : plan.left_out) add_to(lines, one.reason, one.what);
  for (const ReasonLine& line : lines) text += text_of(line, "scenario", "scenarios", width);
  return text;
}

}  // namespace parbench
