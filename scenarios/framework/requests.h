// Helpers with which scenarios complete and check requests.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/base/error.h"
#include "scenarios/framework/scenario.h"

namespace parbench {

/// Returns the obstacle of a combination that the preset omits unless the user sets the flag.
inline Obstacle not_in_preset(std::string_view flag, const std::string& value) {
  return {{}, "the preset has none; --" + std::string(flag) + " " + value + " adds it"};
}

/// Returns the error for `flags` that need two devices in a run with `count`. `more`: the remedy.
inline std::string too_few_devices(const std::string& flags, int count, const std::string& more) {
  return flags + " needs at least two devices, and this run has " + std::to_string(count) + "; " +
         more;
}
inline std::string too_few_devices(const Scenario::Request& request) {
  return too_few_devices("--strategy " + request.spec.strategy, request.device_count,
                         request.more_devices);
}

/// Completes and checks a combination (Scenario::resolve), also of strategy all-cores. A UsageError
/// of the scenario becomes an obstacle that is an error.
[[nodiscard]] Resolution resolve_case(const Scenario& scenario, const Scenario::Request& request);

/// Returns whether the user requested the combination that the obstacle prevents.
[[nodiscard]] bool was_asked_for(const Scenario::Request& request, const Obstacle& obstacle);

/// Returns the case of a combination; nothing for a combination to omit. Throws UsageError if the
/// user requested an impossible one.
[[nodiscard]] std::optional<CaseSpec> requested_case(const Scenario& scenario,
                                                     const Scenario::Request& request);

/// Returns the same case under another strategy, without the named parameters. All other parameters
/// are kept, including those unknown to the caller, so that cases that differ in them stay
/// distinct.
inline CaseSpec with_strategy(const CaseSpec& spec, std::string_view strategy,
                              std::initializer_list<std::string_view> without = {}) {
  CaseSpec other = spec;
  other.strategy = strategy;
  other.parameters = spec.parameters.where(
      [&](std::string_view name) { return std::ranges::find(without, name) == without.end(); });
  return other;
}

}  // namespace parbench
