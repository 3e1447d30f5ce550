// Tables of the calls of each case: their shares of the time and their rates.
#pragma once

#include <string>

#include "reports/model/report.h"
#include "reports/text/table.h"
#include "reports/views/table.h"

namespace parbench::report {

/// Returns the calls of a profiled case; calls with less than 0.5% of the time share a row.
[[nodiscard]] Table table_of_calls(const Report& report, const CaseResult& c);

/// Returns a table per profiled case, with a row per layer, operation and kernel. Columns: number
/// of calls, time, share of all calls' time, share of that time in which threads of their teams had
/// no work, FLOP/s and B/s while running, and shares of the device's peaks if known. As safe for a
/// terminal as `to_table`.
[[nodiscard]] std::string calls_table(const Report& report, const TextStyle& style = {});

}  // namespace parbench::report
