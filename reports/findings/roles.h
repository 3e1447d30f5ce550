// The parameters of a scenario by what they set: explanations know none by its name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
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

  /// The name of the parameter with that role; empty where there is none.
  [[nodiscard]] std::string parameter(Role role) const;

  /// Returns the size of a case's micro-batches where all have the same.
  [[nodiscard]] std::optional<std::int64_t> micro_batch_size(const CaseResult& one) const;

 private:
  [[nodiscard]] const ParameterRole* find(Role role) const;

  std::vector<const ParameterRole*> known_;
};

}  // namespace parbench::report
