// The strategy that scenarios with work for several devices have in common: the work of all on one
// device with the cores of all.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "kernels/base/error.h"
#include "scenarios/framework/prepared_case.h"
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

/// Returns the context whose devices a case uses. Throws Unsupported where there is no such device.
[[nodiscard]] inline Context& context_of(const CaseSpec& spec, Context& context) {
  if (!uses_all_cores(spec)) return context;
  if (Context* const whole = context.whole()) return *whole;
  throw Unsupported("no device has the cores of all devices of this run");
}

/// Plans a case of any strategy in its context (Scenario::prepare).
[[nodiscard]] inline std::unique_ptr<Case> prepare_case(const Scenario& scenario,
                                                        const CaseSpec& spec, Context& context) {
  if (!uses_all_cores(spec)) return scenario.prepare(spec, context);
  return scenario.prepare(scenario.undivided(spec), context_of(spec, context));
}

/// Returns whether a case is a step of training.
[[nodiscard]] inline bool trains(const CaseSpec& spec) {
  return spec.parameters.find("optimizer") != nullptr;
}

/// Returns whether Context::set_perturbation changes a case: its layers may make roundings larger,
/// as the batch norm of two values does that nearly agree.
[[nodiscard]] inline bool is_perturbed(const CaseSpec& spec) {
  return trains(spec) || spec.parameters.find("model") != nullptr;
}

/// Returns the tolerance of a case's comparison with its reference. More threads add up in another
/// order; where the sensitivity of training to that is not measured, tolerances have room for it.
[[nodiscard]] inline Tolerance tolerance_of_case(const CaseSpec& spec, const Case& subject) {
  Tolerance tolerance = subject.tolerance();
  const double of_a_chain = spec.dtype == DType::bf16 ? 4 : 10;  // of the error of single values
  if (uses_all_cores(spec) && !trains(spec)) tolerance.of_norm = of_a_chain * tolerance.relative;
  return tolerance;
}

}  // namespace parbench
