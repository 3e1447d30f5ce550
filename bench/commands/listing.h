// Texts of the commands `list` and `devices`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/cli/flag.h"
#include "kernels/machine/machine.h"

namespace parbench {

/// Name with which `list` shows the models instead of a scenario.
inline constexpr std::string_view models_topic = "models";

/// Returns the scenarios of these names, or all if `names` is empty, with their questions,
/// strategies, axes, and the values of both presets. For `models_topic` it returns the models that
/// --model accepts, with their sizes.
[[nodiscard]] std::string scenario_listing(const ScenarioList& scenarios,
                                           const std::vector<std::string>& names = {});

/// Returns the backends with their libraries and devices, and the reasons for missing backends.
[[nodiscard]] std::string device_listing(const Machine& machine);

}  // namespace parbench
