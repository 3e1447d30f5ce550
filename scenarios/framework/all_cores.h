// The strategy that scenarios with work for several devices have in common: the work of all on one
// device with the cores of all.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "scenarios/framework/scenario.h"

namespace parbench {

/// The strategy's name. A scenario that lists it has its cases planned as those of its baseline, on
/// a device that has the cores of all devices of the run, or is the GPU that they are parts of.
inline constexpr std::string_view all_cores = "all-cores";

/// The parameter of cases that use several devices.
inline constexpr std::string_view devices_parameter = "devices";

[[nodiscard]] inline bool uses_all_cores(const CaseSpec& spec) {
  return spec.strategy == all_cores;
}

/// Completes and checks a combination of any strategy (Scenario::resolve).
[[nodiscard]] std::optional<CaseSpec> resolve_case(const Scenario& scenario,
                                                   const Scenario::Request& request);

/// Returns the context whose devices a case uses. Throws Unsupported where there is no such device.
[[nodiscard]] Context& context_of(const CaseSpec& spec, Context& context);

/// Plans a case of any strategy in its context (Scenario::prepare).
[[nodiscard]] std::unique_ptr<Case> prepare_case(const Scenario& scenario, const CaseSpec& spec,
                                                 Context& context);

}  // namespace parbench
