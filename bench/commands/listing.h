// What can be run: the text of the commands `list` and `devices`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/cli/flag.h"
#include "kernels/machine/machine.h"

namespace parbench {

/// What `list` shows beside scenarios.
inline constexpr std::string_view models_topic = "models";

/// Returns the scenarios of these names with their questions, strategies and axes, and the values
/// of both presets; all scenarios where `names` is empty. For `models_topic` it returns the models
/// that --model takes, with their sizes.
[[nodiscard]] std::string scenario_listing(const ScenarioList& scenarios,
                                           const std::vector<std::string>& names = {});

/// Returns the backends with their libraries and devices, and why the rest is missing.
[[nodiscard]] std::string device_listing(const Machine& machine);

}  // namespace parbench
