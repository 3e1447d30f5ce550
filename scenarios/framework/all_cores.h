// Strategy all-cores, shared by scenarios for several devices: all work runs on one device that has
// the cores of all devices.
#pragma once

#include <memory>
#include <string_view>

#include "kernels/base/error.h"
#include "scenarios/framework/prepared_case.h"
#include "scenarios/framework/scenario.h"

namespace parbench {

/// Name of the strategy. Its cases are planned like those of the scenario's baseline, but on a
/// device with the cores of all devices of the run, or on the GPU of which all devices are parts.
inline constexpr std::string_view all_cores = "all-cores";

/// Name of the parameter with the number of devices.
inline constexpr std::string_view devices_parameter = "devices";

/// Returns the number of devices of a case; 1 for a case on one device.
[[nodiscard]] inline int devices_in(const Parameters& parameters) {
  return static_cast<int>(parameters.integer_or(devices_parameter, 1));
}

[[nodiscard]] inline bool uses_all_cores(const CaseSpec& spec) {
  return spec.strategy == all_cores;
}

/// Returns the context with the devices of a case. Throws Unsupported for strategy all-cores if no
/// device has the cores of all devices.
[[nodiscard]] inline Context& context_of(const CaseSpec& spec, Context& context) {
  if (!uses_all_cores(spec)) return context;
  if (Context* const whole = context.whole()) return *whole;
  throw Unsupported("no device has the cores of all devices of this run");
}

/// Plans a case (Scenario::prepare). A case of strategy all-cores is planned as the baseline case
/// that does the same work, on the device with all cores.
[[nodiscard]] inline std::unique_ptr<Case> prepare_case(const Scenario& scenario,
                                                        const CaseSpec& spec, Context& context) {
  if (!uses_all_cores(spec)) return scenario.prepare(spec, context);
  return scenario.prepare(scenario.undivided(spec), context_of(spec, context));
}

[[nodiscard]] inline bool trains(const CaseSpec& spec) {
  return spec.parameters.find("optimizer") != nullptr;
}

/// Returns whether Context::set_perturbation affects a case: it trains, or it runs a model, whose
/// layers may amplify roundings, as the batch norm of two nearly equal values does.
[[nodiscard]] inline bool is_perturbed(const CaseSpec& spec) {
  return trains(spec) || spec.parameters.find("model") != nullptr;
}

/// Returns the tolerance for comparing a case with its reference. It is wider for all-cores, whose
/// threads add in another order than the reference. Training has no wider tolerance, because its
/// sensitivity to this order is measured (Sensitivity).
[[nodiscard]] inline Tolerance tolerance_of_case(const CaseSpec& spec, const Case& subject) {
  Tolerance tolerance = subject.tolerance();
  const double of_a_chain = spec.dtype == DType::bf16 ? 4 : 10;  // factor for chains of operations
  if (uses_all_cores(spec) && !trains(spec)) tolerance.of_norm = of_a_chain * tolerance.relative;
  return tolerance;
}

}  // namespace parbench
