// What scenarios share in completing a request.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

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
