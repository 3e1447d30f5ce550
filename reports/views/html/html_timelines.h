// The timelines of cases for the page's script: packed, and limited by the size of the page.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reports/io/json.h"
#include "reports/views/table_parts.h"

namespace parbench::report {

/// Returns the max bytes of all timelines of a page with that many cases: a page of a hundred cases
/// stays below a megabyte, and one of a few cases has room for some 20,000 tasks.
[[nodiscard]] std::size_t timeline_room(std::size_t cases);

/// Returns "cpu:0 busy 12.0%, idle 88.0% (34.2% between tasks)" for each device, as shares of the
/// whole time; the bus bandwidth; and whether the recorded run deviates from the samples.
[[nodiscard]] std::string profile_text(const Profile& profile);

/// Returns the timelines of each scenario of a page, as described in reports/web/src/data.ts; null
/// for a scenario without profiled cases. Adds, while there is room, first the case with the gain
/// that each answer states, or else with the largest speedup; then its baseline, other baselines,
/// and other cases. Cases without a timeline are counted by reason.
[[nodiscard]] std::vector<Json> timelines_data(const std::vector<ScenarioCases>& scenarios,
                                               std::size_t room);

}  // namespace parbench::report
