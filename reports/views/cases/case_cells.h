// Cells for rates, metrics and memory in tables of cases.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/model/report.h"
#include "reports/views/table_parts.h"

namespace parbench::report {

/// The mark of a metric whose remark is a footnote.
inline constexpr std::string_view metric_remark_mark = "#";

/// Returns whether any case has a metric in bytes per second; then the table also shows throughputs
/// as bandwidths.
[[nodiscard]] bool has_bandwidths(const Cases& cases);

/// Returns the amount of a case over its median time; empty without an amount. `as_bandwidth`: in
/// GB/s.
[[nodiscard]] TableCell throughput_cell(const CaseResult& c, bool as_bandwidth);

/// Returns the metric with that name; empty if the case does not have it.
[[nodiscard]] TableCell metric_cell(const CaseResult& c, const std::string& name);

/// Returns the memory of the device that holds most and, on pages, that of each device in one unit:
/// "1.21 + 0.98 GiB". For a case on none of `devices`: the memory of its own devices.
[[nodiscard]] TableCell memory_cell(const CaseResult& c, const std::vector<std::string>& devices);

}  // namespace parbench::report
