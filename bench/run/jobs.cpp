// From options to cases and open devices.
#include "bench/run/jobs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "bench/run/sweep.h"
#include "kernels/base/error.h"
#include "reports/text/paragraph.h"

namespace parbench {
namespace {

/// What a scenario opens without `--devices`: fewer where the machine has not so many.
std::string usual_devices(const Scenario& scenario, const Machine& machine) {
  const int limit = machine.backends().front()->device_limit();
  return std::to_string(std::max(1, std::min(scenario.default_devices(), limit)));
}

/// Refuses a flag that no device of the run could follow. Where only some cannot, their cases say
/// so.
void check_abilities(const DeviceRequest& request,
                     const std::vector<std::unique_ptr<Device>>& devices, const Machine& machine) {
  const auto backend_of = [&](const std::unique_ptr<Device>& device) -> const Backend& {
    return *machine.find(device->info().backend);
  };
  if (request.autotune && std::ranges::none_of(devices, [&](const auto& device) {
        return backend_of(device).can_autotune();
      })) {
    throw UsageError(
        "--autotune: no device of the run chooses kernels by measuring; oneDNN's own choice is the "
        "only one on cpu devices: leave it out (--autotune=false with --rerun), or give --devices "
        "cuda:0");
  }
  if (std::ranges::all_of(devices, [&](const auto& device) {
        return !backend_of(device).lacks(request.format).empty();
      })) {
    throw UsageError(fmt::format("--dtype {}: {}", to_string(request.format),
                                 backend_of(devices.front()).lacks(request.format)));
  }
}

/// Refuses a scenario on too few devices to answer its question, unless strategies or cases were
/// chosen, or it is one of several.
void check_device_count(const RunOptions& options, const Job& job) {
  const auto count = static_cast<int>(job.devices.size());
  const int needed = job.scenario->min_devices();
  const bool is_chosen = !options.strategies.empty() || !options.cases.empty();
  if (count >= needed || is_chosen || options.scenarios.size() > 1) return;
  // Without --devices the run has as many as there are.
  const std::string remedy =
      options.devices.empty()
          ? "let the process use more cores (taskset, containers and batch systems limit them), or "
            "give it parts of one GPU: --devices cuda:0/0,cuda:0/1"
          : fmt::format(
                "name more: --devices {}, or parts of one GPU: --devices "
                "cuda:0/0,cuda:0/1",
                needed);
  throw UsageError(
      fmt::format("--scenario {0}: a {0} needs {1} devices, and this run has {2} ({3})\n{5}\n"
                  "--strategy {4} measures what one device can do",
                  job.scenario->name(), needed, count, job.devices.front()->info().name,
                  job.scenario->baseline(), remedy));
}

}  // namespace

std::vector<std::unique_ptr<Device>> open_devices(const DeviceRequest& request,
                                                  const Scenario& scenario,
                                                  const Machine& machine) {
  auto devices =
      machine.open(request.devices.empty() ? usual_devices(scenario, machine) : request.devices,
                   {.spare_for_copies = scenario.wants_copy_core(),
                    .autotune = request.autotune && request.measures});
  check_abilities(request, devices, machine);
  return devices;
}

std::vector<Job> plan_jobs(const RunOptions& options, const BenchmarkFlags& flags,
                           const Machine& machine) {
  if (options.resumed && !flags.filter.empty()) {
    throw UsageError(
        "--resume cannot be combined with --benchmark_filter: the cases are those of the report; "
        "leave one of them out");
  }
  std::vector<Job> jobs;
  for (const Scenario* scenario : options.scenarios) {
    Job job{scenario, open_devices(options.device_request(), *scenario, machine), {}, {}};
    check_device_count(options, job);
    job.cases = expand(options, *scenario, set_of(job.devices));
    job.left_out = strategies_left_out(options, *scenario, job.cases);
    std::erase_if(job.cases, [&](const CaseSpec& spec) { return !selects(flags, spec.name()); });
    if (!job.cases.empty()) jobs.push_back(std::move(job));
  }
  if (jobs.empty()) {
    throw UsageError(
        flags.filter.empty()
            ? std::string("no case is left: the chosen strategies and values allow none")
            : fmt::format("--benchmark_filter='{}' matches no case\n--benchmark_list_tests shows "
                          "their names",
                          flags.filter));
  }
  return jobs;
}

std::string left_out_text(const Job& job, std::size_t width) {
  if (job.left_out.empty()) return {};
  return report::hanging(
      "",
      fmt::format("{}: without {} (--strategy {} says why)", job.scenario->name(),
                  fmt::join(job.left_out, ", "), job.left_out.front()),
      width, report::Emphasis::none, false);
}

}  // namespace parbench
