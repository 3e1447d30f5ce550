// What can be run: the text of the commands `list` and `devices`.
#pragma once

#include <string>

#include "bench/cli/flag.h"
#include "kernels/machine/machine.h"

namespace parbench {

/// Returns the scenarios with their questions, strategies and axes, and the values of both presets.
[[nodiscard]] std::string scenario_listing(const ScenarioList& scenarios);

/// Returns the backends with their libraries and devices, and why the rest is missing.
[[nodiscard]] std::string device_listing(const Machine& machine);

}  // namespace parbench
