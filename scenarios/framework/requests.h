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
  return {{}, "not part of the preset; --" + std::string(flag) + " " + value + " measures it"};
}

/// Returns the error for `flags` that need two devices, in a run with `count` devices. `more`: the
/// remedy.
inline std::string too_few_devices(const std::string& flags, int count, const std::string& more) {
  return flags + " needs at least two devices, and this run has " + std::to_string(count) + "; " +
         more;
}
inline std::string too_few_devices(const Scenario::Request& request) {
  return too_few_devices("--strategy " + request.spec.strategy, request.device_count,
                         request.more_devices);
}

/// Returns the obstacle of `--graph` for a strategy that defines how work is launched.
inline Obstacle launch_is_fixed(const CaseSpec& spec) {
  return {{"strategy"},
          "--strategy " + spec.strategy +
              ": the strategy defines how work is launched; leave out --graph"};
}

/// Completes and checks a combination (Scenario::resolve), also of strategy all-cores. A UsageError
/// of the scenario becomes an obstacle that is an error.
[[nodiscard]] Resolution resolve_case(const Scenario& scenario, const Scenario::Request& request);

/// Returns whether an obstacle is an error: the user gave one of its flags, or `is_error`.
/// Otherwise the combination is omitted.
[[nodiscard]] bool was_asked_for(const Scenario::Request& request, const Obstacle& obstacle);

/// Returns the case of a combination; nothing for a combination to omit. Throws UsageError if the
/// obstacle is an error (`was_asked_for`).
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
