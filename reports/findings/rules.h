// The rules by which a scenario's cases become findings. Each takes one case, most of them its
// profile beside that of its baseline or its relatives, and speaks only when its evidence is there.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "reports/findings/profiled.h"
#include "reports/findings/roles.h"

namespace parbench::report {

/// What a rule says of one case.
struct Remark {
  std::string text;
  std::string advice;
  NamedValues evidence;
  /// Of the case's time that it explains, or of the baseline's that is gained; 0 for what costs no
  /// time. Findings are ordered by it.
  double share = 0;
  double weight = 0;  // orders remarks of one rule whose shares are equal
};

/// A rule for profiled cases.
using ProfileRule = std::optional<Remark> (*)(const Profiled& one, const ProfiledCases& all);
/// A rule for any case with a number, that needs only its samples and its memory.
using CaseRule = std::optional<Remark> (*)(const CaseResult& one, const Roles& roles);

struct Rule {
  std::string_view name;
  std::variant<ProfileRule, CaseRule> find;
  /// Whether devices that share cores cause it, too, whatever the case does.
  bool has_cause_in_sharing = false;
  /// Whether other programs on the cores cause it, too.
  bool has_cause_in_load = false;
  /// Whether a profile rule holds for executions that do not represent the samples.
  bool holds_for_any_execution = false;
  /// Whether it is about calls and not about the division of work: it begins with the recommended
  /// case, also where that divides nothing.
  bool begins_with_recommended = false;
};

/// In the order in which findings of equal shares are listed.
[[nodiscard]] const std::vector<Rule>& all_rules();

}  // namespace parbench::report
