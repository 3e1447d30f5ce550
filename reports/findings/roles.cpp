// Uses linear searches: a scenario has few roles, and a case few parameters.
#include "reports/findings/roles.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "scenarios/plan/graph.h"

namespace parbench::report {
namespace {

/// Roles that set how a step is divided into micro-batches.
const std::set<Role> of_dividing{Role::micro_batch_size, Role::partition, Role::schedule};

/// Returns whether the machine has cores that neither this process nor devices of other ranks may
/// use.
bool has_other_cores(const Machine& machine, const std::vector<Device>& devices) {
  std::set<int> used(machine.cores_allowed.begin(), machine.cores_allowed.end());
  if (used.empty()) return false;
  for (const Device& one : devices) {
    if (host_of(one.name) == machine.host) used.insert(one.cores.begin(), one.cores.end());
  }
  return static_cast<std::size_t>(std::max(0, machine.cores_online)) > used.size();
}

/// Returns the number format and the parameters as text, without the parameters in `left_out`.
std::string parameters_text(const CaseResult& one, const std::set<std::string>& left_out) {
  std::string text = one.dtype;
  for (const auto& [name, value] : one.parameters) {
    if (!left_out.contains(name)) text += fmt::format("\n{}={}", name, value_text(value));
  }
  return text;
}

}  // namespace

Roles::Roles(const Report& report, const std::string& scenario) {
  for (const ParameterRole& one : report.roles) {
    if (one.scenario == scenario) known_.push_back(&one);
  }
  for (const Device& one : report.devices) {
    if (one.scenario == scenario) memory_.emplace(one.name, one.memory_bytes);
  }
  for (const CaseResult& one : report.cases) {
    if (one.scenario == scenario && has_number(one)) add_measured(one);
  }
  leaves_cores_ = has_other_cores(report.machine, report.devices);
}

void Roles::add_measured(const CaseResult& one) {
  for (const ParameterRole* known : known_) {
    const Value* value = this->value(one, known->role);
    if (value != nullptr) values_[known->role].insert(value_text(*value));
    if (value == nullptr || known->advised.empty() || *value != Value(known->advised)) continue;
    followed_.emplace(known->role, key_without(one, {known->role}));
  }
  if (one.submit == SubmitMode::graph) graphs_.insert(parameters_text(one, {}));
  if (const auto size = micro_batch_size(one)) {
    micro_batches_[key_without(one, of_dividing)].insert(*size);
  }
}

const ParameterRole* Roles::find(Role role) const {
  const auto found = std::ranges::find(known_, role, &ParameterRole::role);
  return found == known_.end() ? nullptr : *found;
}

const Value* Roles::value(const CaseResult& one, Role role) const {
  const ParameterRole* known = find(role);
  return known == nullptr ? nullptr : find_value(one.parameters, known->parameter);
}

std::string Roles::advice(const CaseResult& one, Role role) const {
  const Value* value = this->value(one, role);
  if (value == nullptr) return {};
  const ParameterRole& known = *find(role);
  if (known.advised.empty() || *value == Value(known.advised)) return {};
  return "--" + known.parameter + " " + known.advised;
}

std::string Roles::untried_advice(const CaseResult& one, Role role) const {
  std::string advice = this->advice(one, role);
  if (!advice.empty() && followed_.contains({role, key_without(one, {role})})) advice.clear();
  return advice;
}

std::size_t Roles::device_memory(const std::string& device) const {
  const auto found = memory_.find(device);
  return found == memory_.end() ? 0 : found->second;
}

bool Roles::is_varied(Role role) const {
  const auto found = values_.find(role);
  return found != values_.end() && found->second.size() > 1;
}

bool Roles::has_graph(const CaseResult& one) const {
  return graphs_.contains(parameters_text(one, {}));
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

std::set<std::int64_t> Roles::measured_micro_batches(const CaseResult& one) const {
  if (!micro_batch_size(one)) return {};
  const auto found = micro_batches_.find(key_without(one, of_dividing));
  return found == micro_batches_.end() ? std::set<std::int64_t>() : found->second;
}

std::string Roles::key_without(const CaseResult& one, const std::set<Role>& roles) const {
  std::set<std::string> left_out;
  for (const Role role : roles) left_out.insert(parameter(role));
  return fmt::format("{}{}\n{}", one.strategy, one.graph ? "\ngraph" : "",
                     parameters_text(one, left_out));
}

}  // namespace parbench::report
