// The calls of each case of a report as tables: where its time went, and at which rates.
#pragma once

#include <string>

#include "reports/model/report.h"
#include "reports/text/table.h"
#include "reports/views/table.h"

namespace parbench::report {

/// The calls of a profiled case, those that take little together in one row.
[[nodiscard]] Table table_of_calls(const Report& report, const CaseResult& c);

/// A table for each profiled case: its calls by layer, operation and kernel with their number,
/// time, share of the time of all calls, the share in which threads of their teams had no work,
/// FLOP/s and B/s while they ran, and the shares of the peaks of the device, where the report has
/// these. As harmless for a terminal as `to_table`.
[[nodiscard]] std::string calls_table(const Report& report, const TextStyle& style = {});

}  // namespace parbench::report
