// Resolves requests for cases, and names cases (no other file builds names).
#include "scenarios/framework/scenario.h"

#include <fmt/format.h>

#include "scenarios/framework/all_cores.h"
#include "scenarios/framework/requests.h"

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

std::string CaseSpec::name() const {
  std::string text = scenario + "/" + strategy;
  for (const Parameter& parameter : parameters) {
    if (parameter.implied) continue;
    // A path is named by its file name, because slashes separate parts of names.
    const std::string value = to_string(parameter.value);
    text += fmt::format("/{}:{}", parameter.name, value.substr(value.rfind('/') + 1));
  }
  if (format() != NumberFormat{}) text += fmt::format("/dtype:{}", to_string(format()));
  if (graph) text += "/graph:true";
  return text;
}

CaseSpec Scenario::undivided(const CaseSpec& spec) const {
  return with_strategy(spec, baseline(), {devices_parameter});
}

std::optional<CaseSpec> reference_of(const Scenario& scenario, const CaseSpec& spec) {
  const CaseSpec computed = uses_all_cores(spec) ? scenario.undivided(spec) : spec;
  CaseSpec reference = scenario.reference(computed).value_or(computed);
  reference.graph = false;
  if (reference == spec) return std::nullopt;
  return reference;
}

bool Published::belongs_to(const CaseSpec& spec) const {
  return spec.strategy == strategy && std::ranges::all_of(parameters, [&](const Parameter& wanted) {
           const Value* value = spec.parameters.find(wanted.name);
           return value != nullptr && *value == wanted.value;
         });
}

bool Scenario::is_baseline_of(const CaseSpec& candidate, const CaseSpec& spec) const {
  if (candidate.strategy != baseline() || spec.strategy == baseline()) return false;
  if (candidate.format() != spec.format() || candidate.graph != spec.graph) return false;
  return std::ranges::all_of(candidate.parameters, [&](const Parameter& parameter) {
    const Value* value = spec.parameters.find(parameter.name);
    return value != nullptr && *value == parameter.value;
  });
}

}  // namespace parbench
