// The parameters of a scenario by what they set, because explanations know none by its name, the
// values of them that were measured, and the memory of its devices.
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

/// The roles of the parameters of one scenario. Refers to the report.
class Roles {
 public:
  Roles(const Report& report, const std::string& scenario);

  /// The value of a case's parameter with that role; null where it has none.
  [[nodiscard]] const Value* value(const CaseResult& one, Role role) const;

  /// Returns the flag that sets the role to its advised value, "--partition balanced"; empty where
  /// the case has no such parameter, none is advised, or the case has that value.
  [[nodiscard]] std::string advice(const CaseResult& one, Role role) const;

  /// Returns `advice`, unless a measured case follows it and differs in nothing else.
  [[nodiscard]] std::string untried_advice(const CaseResult& one, Role role) const;

  /// Returns the bytes that a device has; 0 where that is not known.
  [[nodiscard]] std::size_t device_memory(const std::string& device) const;

  /// Returns whether the host has cores that the processes of the run may not use. False where that
  /// is not known.
  [[nodiscard]] bool leaves_cores() const { return leaves_cores_; }

  /// Returns whether measured cases have different values of the role.
  [[nodiscard]] bool is_varied(Role role) const;

  /// Returns whether a measured case, of this or another strategy, has the same parameters and was
  /// launched as a graph.
  [[nodiscard]] bool has_graph(const CaseResult& one) const;

  /// The name of the parameter with that role; empty where there is none.
  [[nodiscard]] std::string parameter(Role role) const;

  /// Returns the size of a case's micro-batches where all have the same.
  [[nodiscard]] std::optional<std::int64_t> micro_batch_size(const CaseResult& one) const;

  /// Returns the sizes of the micro-batches of all measured cases that differ from one in that
  /// size, the partition and the schedule alone, its own included; none where its micro-batches
  /// have no single size.
  [[nodiscard]] std::set<std::int64_t> measured_micro_batches(const CaseResult& one) const;

  /// Returns a key that is equal for cases that differ in the parameters with those roles alone.
  [[nodiscard]] std::string key_without(const CaseResult& one, const std::set<Role>& roles) const;

 private:
  [[nodiscard]] const ParameterRole* find(Role role) const;
  void add_measured(const CaseResult& one);

  std::vector<const ParameterRole*> known_;
  bool leaves_cores_ = false;
  std::map<std::string, std::size_t> memory_;                    // bytes by device
  std::map<Role, std::set<std::string>> values_;                 // of all measured cases
  std::set<std::pair<Role, std::string>> followed_;              // advice, by `key_without`
  std::set<std::string> graphs_;                                 // parameters of captured cases
  std::map<std::string, std::set<std::int64_t>> micro_batches_;  // sizes by `key_without`
};

}  // namespace parbench::report
