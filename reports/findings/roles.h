// Finds parameters of a scenario by role, because rules do not name parameters. Also provides the
// measured values of roles and the memory of devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reports/model/report.h"
#include "scenarios/plan/role.h"

namespace parbench::report {

/// The roles of the parameters of one scenario. The report must outlive it.
class Roles {
 public:
  Roles(const Report& report, const std::string& scenario);

  /// Returns the value of the case's parameter with that role; null if there is none.
  [[nodiscard]] const Value* value(const CaseResult& one, Role role) const;

  /// Returns the flag that sets the role to its advised value, "--partition balanced". Empty if the
  /// case has no such parameter, no value is advised, or the case already has it.
  [[nodiscard]] std::string advice(const CaseResult& one, Role role) const;

  /// Returns `advice`; empty if a measured case follows it and differs from `one` in nothing else.
  [[nodiscard]] std::string untried_advice(const CaseResult& one, Role role) const;

  /// Returns the memory of a device in bytes; 0 if unknown.
  [[nodiscard]] std::size_t device_memory(const std::string& device) const;

  /// Returns whether the host has cores that the processes of the run may not use; false if
  /// unknown.
  [[nodiscard]] bool leaves_cores() const { return leaves_cores_; }

  /// Returns whether measured cases have different values of the role.
  [[nodiscard]] bool is_varied(Role role) const;

  /// Returns whether a measured case of any strategy has the same parameters and number format and
  /// was submitted as a graph.
  [[nodiscard]] bool has_graph(const CaseResult& one) const;

  /// Returns the name of the parameter with that role; empty if there is none.
  [[nodiscard]] std::string parameter(Role role) const;

  /// Returns the size of a case's micro-batches; nothing if they have different sizes or the case
  /// has no such parameter.
  [[nodiscard]] std::optional<std::int64_t> micro_batch_size(const CaseResult& one) const;

  /// Returns the micro-batch sizes of the case and of all measured cases that differ from it only
  /// in that size, the partition and the schedule. Empty if its micro-batches have different sizes.
  [[nodiscard]] std::set<std::int64_t> measured_micro_batches(const CaseResult& one) const;

  /// Returns a key that is equal for cases that differ only in parameters with those roles.
  [[nodiscard]] std::string key_without(const CaseResult& one, const std::set<Role>& roles) const;

 private:
  [[nodiscard]] const ParameterRole* find(Role role) const;
  void add_measured(const CaseResult& one);

  std::vector<const ParameterRole*> known_;
  bool leaves_cores_ = false;
  std::map<std::string, std::size_t> memory_;     // bytes by device
  std::map<Role, std::set<std::string>> values_;  // values in measured cases, by role
  /// Roles that have the advised value in a measured case, and the case's `key_without` that role.
  std::set<std::pair<Role, std::string>> followed_;
  std::set<std::string> graphs_;  // parameters of cases submitted as graphs
  /// Measured sizes, by `key_without` the roles that divide a step.
  std::map<std::string, std::set<std::int64_t>> micro_batches_;
};

}  // namespace parbench::report
