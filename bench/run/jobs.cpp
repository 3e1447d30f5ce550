// From options to cases and open devices.
#include "bench/run/jobs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

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
      fmt::format("--scenario {0} needs {1} devices, and this run has {2} ({3})\n{5}\n"
                  "--strategy {4} measures what one device can do",
                  job.scenario->name(), needed, count, job.devices.front()->info().name,
                  job.scenario->baseline(), remedy));
}

/// A reason without the strategy that it begins with, because the line names that.
std::string without_strategy(const LeftOut& one) {
  const std::string strategy = one.what.substr(0, one.what.find(' '));
  for (const std::string& lead :
       {fmt::format("--strategy: {} ", strategy), fmt::format("--strategy {}: ", strategy),
        fmt::format("--strategy {} ", strategy)}) {
    if (one.reason.starts_with(lead)) return one.reason.substr(lead.size());
  }
  return one.reason;
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
  std::vector<LeftOut> reasons;
  for (const Scenario* scenario : options.scenarios) {
    Job job{scenario, open_devices(options.device_request(), *scenario, machine), {}, {}};
    check_device_count(options, job);
    job.cases = expand(options, *scenario, set_of(job.devices));
    job.left_out = left_out(options, *scenario, set_of(job.devices));
    if (reasons.empty()) reasons = job.left_out;
    std::erase_if(job.cases, [&](const CaseSpec& spec) { return !selects(flags, spec.name()); });
    if (!job.cases.empty()) jobs.push_back(std::move(job));
  }
  if (jobs.empty()) {
    throw UsageError(
        flags.filter.empty()
            ? fmt::format("no case is left: {}",
                          reasons.empty() ? "the chosen strategies and values allow none"
                                          : reasons.front().what + ": " + reasons.front().reason)
            : fmt::format("--benchmark_filter='{}' matches no case\n--benchmark_list_tests shows "
                          "their names",
                          flags.filter));
  }
  return jobs;
}

std::string left_out_text(const Job& job, std::size_t width) {
  std::vector<std::pair<std::string, std::vector<std::string>>>
      lines;  // reasons, what they rule out
  for (const LeftOut& one : job.left_out) {
    const std::string reason = without_strategy(one);
    auto line = std::ranges::find(lines, reason, &decltype(lines)::value_type::first);
    if (line == lines.end()) line = lines.insert(line, {reason, {}});
    line->second.push_back(one.what);
  }
  std::string text;
  for (const auto& [reason, what] : lines) {
    text += report::hanging(
        "",
        fmt::format("{}: {} {} left out: {}", job.scenario->name(),
                    what.size() == 1 ? "strategy" : "strategies", fmt::join(what, ", "), reason),
        width, report::Emphasis::none, false);
  }
  return text;
}

}  // namespace parbench
