// The calls of each case of a report as tables: where its time went, and at which rates.
#pragma once

#include <string>

#include "reports/model/report.h"
#include "reports/views/table.h"

namespace parbench::report {

/// A table for each profiled case: its calls by name and kind with their number, time,
/// share of the time of all calls, FLOP/s and B/s while they ran, and the shares of the peaks of
/// the device, where the report has these. As harmless for a terminal as `to_table`.
[[nodiscard]] std::string calls_table(const Report& report, const TextStyle& style = {});

}  // namespace parbench::report
