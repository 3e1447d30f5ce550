// Names of cases (no other file builds them) and their baselines.
#include "scenarios/framework/scenario.h"

#include <fmt/format.h>

#include <algorithm>

#include "scenarios/framework/all_cores.h"
#include "scenarios/framework/requests.h"

namespace parbench {

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
