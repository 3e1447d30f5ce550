// Cells for rates, metrics and memory in tables of cases.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/model/report.h"
#include "reports/views/table_parts.h"

namespace parbench::report {

/// The mark of a metric with a remark, which is a footnote.
inline constexpr std::string_view metric_remark_mark = "#";

/// Returns whether cases have bandwidths of links; then their throughput is also a bandwidth.
[[nodiscard]] bool has_bandwidths(const Cases& cases);

/// Returns the amount of a case over its median time; empty without one. `as_bandwidth`: in GB/s.
[[nodiscard]] TableCell throughput_cell(const CaseResult& c, bool as_bandwidth);

/// Returns the metric with that name; empty if the case does not have it.
[[nodiscard]] TableCell metric_cell(const CaseResult& c, const std::string& name);

/// Returns the memory of the fullest device and, on pages, that of each device in one unit: "1.21 +
/// 0.98 GiB". For a case on none of `devices`: the memory of its own devices.
[[nodiscard]] TableCell memory_cell(const CaseResult& c, const std::vector<std::string>& devices);

}  // namespace parbench::report
