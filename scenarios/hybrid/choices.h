// User choices for a hybrid step, and the division of a case's samples.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "scenarios/framework/scenario.h"
#include "scenarios/plan/schedules/device_grid.h"

namespace parbench {

// Strategies of scenario hybrid.
inline constexpr std::string_view hybrid_single = "single";
inline constexpr std::string_view hybrid_divided = "divided";

[[nodiscard]] std::vector<Axis> axes_of_hybrid();

/// Completes and checks a combination of values, as Scenario::resolve does.
[[nodiscard]] std::optional<CaseSpec> resolved_grid(const Scenario::Request& request);

/// Returns the grid of a case; one device if it has no layout.
[[nodiscard]] DeviceGrid grid_of(const Parameters& parameters);

/// Returns the micro-batches of each replica.
[[nodiscard]] std::vector<std::vector<std::int64_t>> micro_batches_of_replicas(
    const Parameters& parameters);

}  // namespace parbench
