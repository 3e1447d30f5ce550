// Helpers of scenarios for completing requests.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/error.h"
#include "scenarios/framework/scenario.h"

namespace parbench {

/// Refuses a combination: throws the message if the user gave that flag, returns nothing if the
/// value came from a preset.
inline std::optional<CaseSpec> refuse(const Scenario::Request& request, std::string_view flag,
                                      const std::string& message) {
  if (request.was_given(flag)) throw UsageError(message);
  return std::nullopt;
}

/// Drops an invalid combination; reports the reason only if the request wants it.
inline std::optional<CaseSpec> drop(const Scenario::Request& request, const std::string& message) {
  if (request.wants_reason) throw UsageError(message);
  return std::nullopt;
}

/// Returns why flags need more devices. `more`: how to get more.
inline std::string too_few_devices(const std::string& flags, int count, const std::string& more) {
  return flags + " needs at least two devices, and this run has " + std::to_string(count) + "; " +
         more;
}
inline std::string too_few_devices(const Scenario::Request& request) {
  return too_few_devices("--strategy " + request.spec.strategy, request.device_count,
                         request.more_devices);
}

/// Reason why a combination of values is not a case.
struct Obstacle {
  std::vector<std::string_view> flags;  // flags by which the user has requested the combination
  std::string message;
};

/// Returns whether to omit a combination; throws UsageError if the user has requested it.
inline bool is_left_out(const Scenario::Request& request, const std::optional<Obstacle>& obstacle) {
  if (!obstacle) return false;
  for (const std::string_view flag : obstacle->flags) {
    if (request.was_given(flag)) throw UsageError(obstacle->message);
  }
  return true;
}

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
