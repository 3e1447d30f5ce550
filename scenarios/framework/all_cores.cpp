// Plans the baseline's work on one device with all cores.
#include "scenarios/framework/all_cores.h"

#include <string>
#include <utility>

#include "kernels/base/error.h"
#include "scenarios/framework/requests.h"

namespace parbench {

std::optional<CaseSpec> resolve_case(const Scenario& scenario, const Scenario::Request& request) {
  if (!uses_all_cores(request.spec)) return scenario.resolve(request);
  if (request.device_count < 2) return refuse(request, "strategy", too_few_devices(request));
  if (!request.has_all_cores) {
    return refuse(request, "strategy",
                  "--strategy all-cores needs devices that have cores of their own in this "
                  "process, or are all parts of one GPU; give such --devices, as cpu:0,cpu:1");
  }
  Scenario::Request of_baseline = request;
  of_baseline.spec.strategy = scenario.baseline();
  std::optional<CaseSpec> spec = scenario.resolve(of_baseline);
  if (!spec) return std::nullopt;
  spec->strategy = all_cores;
  spec->parameters.set(std::string(devices_parameter), std::int64_t{request.device_count});
  return spec;
}

Context& context_of(const CaseSpec& spec, Context& context) {
  if (!uses_all_cores(spec)) return context;
  if (Context* const whole = context.whole()) return *whole;
  throw Unsupported("no device has the cores of all devices of this run");
}

std::unique_ptr<Case> prepare_case(const Scenario& scenario, const CaseSpec& spec,
                                   Context& context) {
  if (!uses_all_cores(spec)) return scenario.prepare(spec, context);
  return scenario.prepare(scenario.undivided(spec), context_of(spec, context));
}

}  // namespace parbench
