// What scenarios share in completing a request.
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

/// Refuses a combination: with the message when the user gave that flag, silently when the value
/// came from a preset.
inline std::optional<CaseSpec> refuse(const Scenario::Request& request, std::string_view flag,
                                      const std::string& message) {
  if (request.was_given(flag)) throw UsageError(message);
  return std::nullopt;
}

/// Drops a combination that makes no sense, without a reason unless the request wants it.
inline std::optional<CaseSpec> drop(const Scenario::Request& request, const std::string& message) {
  if (request.wants_reason) throw UsageError(message);
  return std::nullopt;
}

/// Why what flags ask for is not possible on so few devices. `more`: how to get more.
inline std::string too_few_devices(const std::string& flags, int count, const std::string& more) {
  return flags + " needs at least two devices, and this run has " + std::to_string(count) + "; " +
         more;
}
inline std::string too_few_devices(const Scenario::Request& request) {
  return too_few_devices("--strategy " + request.spec.strategy, request.device_count,
                         request.more_devices);
}

/// Why a combination of values makes no case.
struct Obstacle {
  std::vector<std::string_view> flags;  // with one of these the user has asked for it
  std::string message;
};

/// Whether to leave a combination out; throws UsageError when the user has asked for it.
inline bool is_left_out(const Scenario::Request& request, const std::optional<Obstacle>& obstacle) {
  if (!obstacle) return false;
  for (const std::string_view flag : obstacle->flags) {
    if (request.was_given(flag)) throw UsageError(obstacle->message);
  }
  return true;
}

/// Returns the same case under another strategy, with all of its parameters but those that are
/// named. All other axes stay, also those that the caller does not know, so that cases which differ
/// in them are not taken for the same.
inline CaseSpec with_strategy(const CaseSpec& spec, std::string_view strategy,
                              std::initializer_list<std::string_view> without = {}) {
  CaseSpec other = spec;
  other.strategy = strategy;
  other.parameters = spec.parameters.where(
      [&](std::string_view name) { return std::ranges::find(without, name) == without.end(); });
  return other;
}

}  // namespace parbench
