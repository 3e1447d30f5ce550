// The report as text: what stands at the end of a run, and what a later command shows again.
#pragma once

#include <string>

#include "reports/model/report.h"
#include "reports/text/text.h"

namespace parbench::report {

/// The machine, then for each scenario its question, a table of its cases, the reasons of cases
/// without a number, and its answer; then how many cases were measured in which time. UTF-8, every
/// line ended by a line break. It depends on nothing but the report, and holds no control
/// characters but line breaks and those of the style, whatever the report says.
[[nodiscard]] std::string to_table(const Report& report, const TextStyle& style = {});

}  // namespace parbench::report
