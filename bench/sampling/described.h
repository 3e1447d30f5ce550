// Converts cases and devices to entries of a report before a run.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/core/device.h"
#include "reports/model/report.h"
#include "scenarios/framework/context.h"
#include "scenarios/framework/scenario.h"

namespace parbench {

/// Returns parameters, or a list of Parameter, as entries of a report.
[[nodiscard]] report::NamedValues named_values(const auto& parameters) {
  report::NamedValues values;
  for (const Parameter& parameter : parameters)
    values.emplace_back(parameter.name, parameter.value);
  return values;
}

/// Returns a report's entry for a case that has not run.
[[nodiscard]] inline report::CaseResult described(const CaseSpec& spec) {
  report::CaseResult planned;
  planned.name = spec.name();
  planned.scenario = spec.scenario;
  planned.strategy = spec.strategy;
  planned.parameters = named_values(spec.parameters);
  planned.hidden_parameters = named_values(spec.hidden);
  planned.dtype = to_string(spec.format());
  planned.graph = spec.graph;
  return planned;
}

/// Returns a report's entry for a device, without its scenario.
[[nodiscard]] inline report::Device described(const DeviceInfo& info) {
  return {.scenario = {},
          .name = info.name,
          .backend = info.backend,
          .model = info.model,
          .cores = info.cores,
          .copy_cores = info.copy_cores,
          .memory_bytes = info.memory_bytes,
          .facts = info.facts};
}

/// Returns entries for the devices of a context, without their scenario.
[[nodiscard]] inline std::vector<report::Device> devices_of(const Context& context) {
  std::vector<report::Device> devices;
  for (int device = 0; device < context.device_count(); ++device) {
    devices.push_back(described(context.device(device).info()));
  }
  return devices;
}

/// Returns the roles of a scenario's parameters, which findings use.
[[nodiscard]] inline std::vector<report::ParameterRole> roles_of(const Scenario& scenario) {
  std::vector<report::ParameterRole> roles;
  for (const Axis& axis : scenario.axes()) {
    if (axis.role)
      roles.push_back({std::string(scenario.name()), axis.name, *axis.role, axis.advised});
  }
  return roles;
}

/// Returns the scenario's published figures that belong to one of `specs`.
[[nodiscard]] inline std::vector<report::Published> published_beside(
    const Scenario& scenario, const std::vector<CaseSpec>& specs) {
  std::vector<report::Published> figures;
  for (const Published& known : scenario.published()) {
    const bool measured =
        std::ranges::any_of(specs, [&](const CaseSpec& spec) { return known.belongs_to(spec); });
    if (!measured) continue;
    figures.push_back({std::string(scenario.name()), known.strategy, named_values(known.parameters),
                       known.source, known.seconds, known.executions});
  }
  return figures;
}

}  // namespace parbench
