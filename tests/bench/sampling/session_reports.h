// Validates reports that tests make in their own process.
#pragma once

#include <vector>

#include "reports/model/report.h"

namespace parbench::fake {

/// Writes a report. When the tests of this process have ended, one call of an independent validator
/// compares all of these reports with the JSON Schema.
void keep_for_validation(const report::Report& report);
/// The same for a report with these cases.
void keep_for_validation(const std::vector<report::CaseResult>& cases);

}  // namespace parbench::fake
