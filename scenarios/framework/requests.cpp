// Combinations of values become cases, or obstacles.
#include "scenarios/framework/requests.h"

#include <utility>

#include "scenarios/framework/all_cores.h"

namespace parbench {
namespace {

Resolution resolve_all_cores(const Scenario& scenario, const Scenario::Request& request) {
  if (request.device_count < 2) return Obstacle{{"strategy"}, too_few_devices(request)};
  if (!request.has_all_cores) {
    return Obstacle{
        {"strategy"},
        std::string("--strategy all-cores needs devices that have cores of their own in "
                    "this process, or are all parts of one GPU; ") +
            (request.devices_over_ranks ? "start it without mpirun or srun"
                                        : "give --devices such as cpu:0,cpu:1")};
  }
  Scenario::Request of_baseline = request;
  of_baseline.spec.strategy = scenario.baseline();
  Resolution resolution = scenario.resolve(of_baseline);
  if (auto* const spec = std::get_if<CaseSpec>(&resolution)) {
    spec->strategy = all_cores;
    spec->parameters.set(std::string(devices_parameter), std::int64_t{request.device_count});
  }
  return resolution;
}

}  // namespace

Resolution resolve_case(const Scenario& scenario, const Scenario::Request& request) {
  try {
    return uses_all_cores(request.spec) ? resolve_all_cores(scenario, request)
                                        : scenario.resolve(request);
  } catch (const UsageError& error) {
    return Obstacle{{}, error.what(), true};
  }
}

bool was_asked_for(const Scenario::Request& request, const Obstacle& obstacle) {
  return obstacle.is_error || std::ranges::any_of(obstacle.flags, [&](std::string_view flag) {
           return request.was_given(flag);
         });
}

std::optional<CaseSpec> requested_case(const Scenario& scenario, const Scenario::Request& request) {
  Resolution resolution = resolve_case(scenario, request);
  if (auto* const spec = std::get_if<CaseSpec>(&resolution)) return std::move(*spec);
  const Obstacle& obstacle = std::get<Obstacle>(resolution);
  if (was_asked_for(request, obstacle)) throw UsageError(obstacle.message);
  return std::nullopt;
}

}  // namespace parbench
