// Rules that turn the cases of a scenario into findings. A rule takes one case, usually with its
// profile and related cases, and applies only if these give evidence.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "reports/findings/profiled.h"
#include "reports/findings/roles.h"

namespace parbench::report {

/// The remark of a rule on one case.
struct Remark {
  std::string text;
  std::string advice;
  NamedValues evidence;
  /// Share of the case's time that the remark explains, or of the baseline's time that the case
  /// gains; 0 if no time is lost or gained. Orders findings.
  double share = 0;
  double weight = 0;  // orders remarks of one rule whose shares are equal
};

/// A rule for profiled cases.
using ProfileRule = std::optional<Remark> (*)(const Profiled& one, const ProfiledCases& all);
/// A rule for any case with a number, also for cases without a profile.
using CaseRule = std::optional<Remark> (*)(const CaseResult& one, const Roles& roles);

struct Rule {
  std::string_view name;
  std::variant<ProfileRule, CaseRule> find;
  /// Whether devices that share cores can also cause what the rule finds. Then the rule does not
  /// apply to cases on such devices.
  bool has_cause_in_sharing = false;
  /// Whether other programs on the cores can also cause what the rule finds. Then the rule does not
  /// apply if they can explain the share of the time that it would report (`can_be_load`).
  bool has_cause_in_load = false;
  /// Whether a profile rule also applies to executions that do not represent the samples.
  bool holds_for_any_execution = false;
  /// Whether the rule is about calls, not the division of work: its finding lists the recommended
  /// case first, even if that case does not divide work.
  bool begins_with_recommended = false;
};

/// Returns the rules in the order in which findings of equal shares are listed.
[[nodiscard]] const std::vector<Rule>& all_rules();

}  // namespace parbench::report
