// Searches: a scenario has few roles, and a case few parameters.
#include "reports/findings/roles.h"

#include <algorithm>
#include <variant>

namespace parbench::report {

Roles::Roles(const Report& report, const std::string& scenario) {
  for (const ParameterRole& one : report.roles) {
    if (one.scenario == scenario) known_.push_back(&one);
  }
}

const ParameterRole* Roles::find(Role role) const {
  const auto found = std::ranges::find(known_, role, &ParameterRole::role);
  return found == known_.end() ? nullptr : *found;
}

const Value* Roles::value(const CaseResult& one, Role role) const {
  const ParameterRole* known = find(role);
  if (known == nullptr) return nullptr;
  const auto found =
      std::ranges::find(one.parameters, known->parameter, &NamedValues::value_type::first);
  return found == one.parameters.end() ? nullptr : &found->second;
}

std::string Roles::advice(const CaseResult& one, Role role) const {
  const Value* value = this->value(one, role);
  if (value == nullptr) return {};
  const ParameterRole& known = *find(role);
  if (known.advised.empty() || *value == Value(known.advised)) return {};
  return "--" + known.parameter + " " + known.advised;
}

std::string Roles::parameter(Role role) const {
  const ParameterRole* known = find(role);
  return known == nullptr ? "" : known->parameter;
}

std::optional<std::int64_t> Roles::micro_batch_size(const CaseResult& one) const {
  const Value* value = this->value(one, Role::micro_batch_size);
  const auto* size = value == nullptr ? nullptr : std::get_if<std::int64_t>(value);
  return size == nullptr ? std::nullopt : std::optional(*size);
}

}  // namespace parbench::report
