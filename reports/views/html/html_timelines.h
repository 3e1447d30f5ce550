// When the tasks of each case ran, as the page's script draws it: packed, and no more of it than a
// page has room for.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reports/io/json.h"
#include "reports/views/table_parts.h"

namespace parbench::report {

/// Bytes that all timelines of a page with so many cases take together: a page of a hundred cases
/// stays below a megabyte with them, and one of a few cases has room for some 20,000 tasks.
[[nodiscard]] std::size_t timeline_room(std::size_t cases);

/// "cpu:0 busy 12.0%, idle 88.0% (34.2% between tasks)" for each device, of the whole time; the bus
/// bandwidth of what they exchange; and whether the recorded run is far from the samples.
[[nodiscard]] std::string profile_text(const Profile& profile);

/// For each scenario of a page what the script gets as its timelines (reports/web/src/data.ts);
/// null where no case was profiled. The fastest case of each scenario comes first, then baselines,
/// then the others, as long as there is room for them. A case without timeline is counted with the
/// reason.
[[nodiscard]] std::vector<Json> timelines_data(const std::vector<ScenarioCases>& scenarios,
                                               std::size_t room);

}  // namespace parbench::report
