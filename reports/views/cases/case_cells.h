// Cells of rates, metrics and memory in tables of cases.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/model/report.h"
#include "reports/views/table_parts.h"

namespace parbench::report {

/// Of a metric with a remark, which is a footnote.
inline constexpr std::string_view metric_remark_mark = "#";

/// Whether cases have bandwidths of links, of which their throughput is one.
[[nodiscard]] bool has_bandwidths(const Cases& cases);

/// The amount of a case by its median time; empty without one. `as_bandwidth`: in GB/s.
[[nodiscard]] TableCell throughput_cell(const CaseResult& c, bool as_bandwidth);

/// The metric of that name; empty where the case does not have it.
[[nodiscard]] TableCell metric_cell(const CaseResult& c, const std::string& name);

/// The memory of the fullest device, and on pages that of each in one unit: "1.21 + 0.98 GiB"; of a
/// case on none of the devices, that of its own device.
[[nodiscard]] TableCell memory_cell(const CaseResult& c, const std::vector<std::string>& devices);

}  // namespace parbench::report
